"""How fast rmix is, as ratios of two things measured side by side: ``python -m benchmarks [PART ...]``."""
