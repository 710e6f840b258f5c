from ._auto import Auto as Auto
from ._base import Learner as Learner
from ._base import Scorer as Scorer
from ._bumps import BumpSearch as BumpSearch
from ._choice import ChosenTables as ChosenTables
from ._distances import MeanDistance as MeanDistance
from ._front import Front as Front
from ._inconsistency import InconsistencyLP as InconsistencyLP
from ._landmarks import Landmarks as Landmarks
from ._potentials import Potentials as Potentials
from ._ranking import SelfImitatedRanking as SelfImitatedRanking
from ._weights import LowerEnvelope as LowerEnvelope
from ._weights import MeanWeights as MeanWeights
from ._with_confidence import WithConfidence as WithConfidence
from ._wrappers import PerGoal as PerGoal
from ._wrappers import Portfolio as Portfolio
from ._wrappers import Scaled as Scaled

__all__: list[str]
