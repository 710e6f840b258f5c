from ._customized import CustomizedHierarchy as CustomizedHierarchy
from ._customized import IndexPath as IndexPath
from ._hierarchy import Hierarchy as Hierarchy
