"""What readers and generators return and how to choose from it: names of ``rhostar.instances``."""

from rhostar.instances import Network, choose_goal, deduplicate, sample_sources, split_by_day, without

__all__ = ["Network", "choose_goal", "deduplicate", "sample_sources", "split_by_day", "without"]
