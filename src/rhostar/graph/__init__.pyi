from ._derived import Derived as Derived
from ._graph import Graph as Graph
