"""The paper's Algorithms 1 and 2: greedy best-first search and A*, exact in every tie and pointer."""
