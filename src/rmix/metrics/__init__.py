"""Metrics: group tables."""

from rmix.metrics.group_table import GroupTable

__all__ = ["GroupTable"]
