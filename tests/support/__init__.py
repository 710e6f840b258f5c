"""What several tests share: instances, random cases, oracles, failures, real data."""
