"""Where searches meet certificates: optimal paths, checked assumptions, exact sums, the split of δ, and `certify`."""
