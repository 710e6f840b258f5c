from ._base import Potential as Potential
from ._clustered import Clustered as Clustered
from ._hierarchy import Hierarchy as Hierarchy
from ._hierarchy import elimination_order as elimination_order
from ._landmarks import Landmarks as Landmarks
from ._metric import Metric as Metric
