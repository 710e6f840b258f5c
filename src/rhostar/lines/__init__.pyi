from ._means import Dual as Dual
from ._means import dual as dual
from ._pieces import pieces as pieces
