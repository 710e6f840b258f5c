"""What readers and generators return, and how to choose among it; it lives with the instances."""

from rhostar.instances import Network, choose_goal, deduplicate, sample_sources, split_by_day, without

__all__ = ["Network", "choose_goal", "deduplicate", "sample_sources", "split_by_day", "without"]
