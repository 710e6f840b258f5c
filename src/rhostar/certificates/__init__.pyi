from ._certificate import Certificate as Certificate
from ._certificate import Dropped as Dropped
from ._certify import certify as certify
from ._monitor import Monitor as Monitor
from ._per_answer import largest_excess as largest_excess
from ._per_answer import limited_excess as limited_excess
from ._table import CertificateTable as CertificateTable
