"""From arrays, frames and sparse matrices to what the trainer reads."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import StandardScaler
from torch import Tensor


@dataclass(frozen=True)
class Scaling:
    """Each feature minus its mean, over its standard deviation."""

    mean: np.ndarray  # (n_features,)
    scale: np.ndarray  # (n_features,)

    @classmethod
    def of(cls, x: Any, standardize: bool) -> Scaling:
        """The scaling of ``x`` (n, n_features), dense or sparse; constant features are only shifted."""
        if not standardize:
            return cls(np.zeros(x.shape[1]), np.ones(x.shape[1]))
        scaler = StandardScaler(with_mean=not issparse(x)).fit(x)
        return cls(scaler.mean_, scaler.scale_)

    def dense(self, x: np.ndarray) -> Tensor:
        """``x`` scaled, (n, n_features) float32; what float32 cannot hold is cut off."""
        scaled = x - self.mean
        scaled /= self.scale
        largest = np.finfo(np.float32).max
        return torch.from_numpy(np.clip(scaled, -largest, largest, out=scaled).astype(np.float32))

    def __call__(self, x: Any) -> Tensor | SparseRows:
        """What the trainer reads."""
        return SparseRows(csr_array(x), self) if issparse(x) else self.dense(x)


class SparseRows:
    """A sparse matrix of which only the rows of a batch become dense."""

    def __init__(self, matrix: csr_array, scaling: Scaling) -> None:
        self.matrix, self.scaling = matrix, scaling

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: Tensor) -> Tensor:
        return self.scaling.dense(self.matrix[rows.numpy()].toarray())

    @property
    def checksum(self) -> str:
        """A hash of every value."""
        digest = hashlib.sha256(repr(self.matrix.shape).encode())
        for part in (self.matrix.data, self.matrix.indices, self.matrix.indptr, self.scaling.mean, self.scaling.scale):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()
