from ._graph import Graph as Graph
from ._turns import TurnGraph as TurnGraph
from ._turns import Turns as Turns
