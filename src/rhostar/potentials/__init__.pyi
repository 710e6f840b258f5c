from ._base import Potential as Potential
from ._landmarks import Landmarks as Landmarks
from ._metric import Metric as Metric
