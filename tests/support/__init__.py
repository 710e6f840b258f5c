"""What several tests share: random cases, oracles, real data."""
