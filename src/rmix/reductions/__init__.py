"""Reductions: how the losses of a batch become one number. One file and one line here to add one."""

from rmix.reductions.group_means import group_means

__all__ = ["group_means"]
