from ._evaluate import Evaluation as Evaluation
from ._evaluate import evaluate as evaluate
from ._measures import Cost as Cost
from ._measures import Custom as Custom
from ._measures import Expansions as Expansions
from ._measures import Generated as Generated
from ._measures import PeakOpen as PeakOpen
from ._measures import Ratio as Ratio
from ._measures import Score as Score
from ._measures import SolvedWithin as SolvedWithin
from ._measures import Suboptimality as Suboptimality
from ._measures import Utility as Utility
from ._measures import by_name as by_name
from ._measures import registry as registry

__all__: list[str]
