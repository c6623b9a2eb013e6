"""Configurations, runs, results and the store."""
