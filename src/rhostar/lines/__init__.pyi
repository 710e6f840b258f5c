from ._means import Dual as Dual
from ._means import scaling as scaling
