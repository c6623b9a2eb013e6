"""Defaults that stand in published code or papers; a change here changes everyone's comparison."""

from __future__ import annotations

from typing import Any

import pytest

from rmix.methods import METHODS

PUBLISHED: dict[str, dict[str, Any]] = {
    "balanced_softmax": {"tau": 1.0},  # paper
    "cgd": {"step_size": 0.05, "capacity": 0.0},  # code of CGD
    "chi2_doro": {"eps": 0.005},  # evaluation of DORO
    "coral": {"penalty": 1.0, "form": "mean_and_covariance"},  # DomainBed
    "cvar_doro": {"alpha": 0.2, "eps": 0.005},  # evaluation of DORO
    "cvar_dro": {"alpha": 0.1},  # SubpopBench
    "domain_mix": {"alpha": 0.2, "adversary": 0.0},  # DomainBed
    "fish": {"meta_lr": 0.5, "meta_steps": 5},  # DomainBed, code of Fish
    "focal": {"gamma": 1.0},  # SubpopBench
    "group_dro": {"eta": 0.01, "adjustment": 0.0, "normalise": False},  # code of group DRO
    "ib_irm": {"anneal": 500, "bottleneck_anneal": 500},  # DomainBed
    "irm": {"penalty": 1.0, "anneal": 500},  # WILDS, DomainBed
    "iw": {"power": 1.0, "beta": None},  # SubpopBench
    "jtt": {"record": "training"},  # code of JTT
    "lisa": {"p_sel": 0.5, "alpha": 2.0, "per_sample": True},  # code of LISA
    "mixup": {"alpha": 0.2, "mix_prob": 1.0},  # SubpopBench
    "rmix": {"c": 1.0, "mix_prob": 0.5, "alpha": 0.5, "record": "training", "per_sample": False},  # code of UMIX
    "vrex": {"penalty": 10.0, "anneal": 500},  # DomainBed
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_default_is_the_published_one(name: str) -> None:
    method = METHODS[name]()
    assert {setting: getattr(method, setting) for setting in PUBLISHED[name]} == PUBLISHED[name]
