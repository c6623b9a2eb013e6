"""Samplers: which rows make a batch. One file and one line here to add one."""

from rmix.samplers.balanced import Balanced
from rmix.samplers.held_out import HeldOut, Rest
from rmix.samplers.per_group import PerGroup
from rmix.samplers.upsampled import Upsampled

__all__ = ["Balanced", "HeldOut", "PerGroup", "Rest", "Upsampled"]
