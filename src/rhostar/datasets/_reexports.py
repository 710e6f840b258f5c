"""Names of ``rhostar.instances`` that are public here too, for users of readers and generators."""

from rhostar.instances import Network, Reading
from rhostar.instances._sampling import choose_goal, deduplicate, split_by_day, without

__all__ = ["Network", "Reading", "choose_goal", "deduplicate", "split_by_day", "without"]
