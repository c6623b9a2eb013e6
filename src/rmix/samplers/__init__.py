"""Samplers: which rows make a batch. One file and one line here to add one."""

from rmix.samplers.balanced import Balanced

__all__ = ["Balanced"]
