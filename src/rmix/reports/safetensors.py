"""Weights as safetensors: a header of JSON and the numbers, nothing that could be executed on reading.

The format is small and frozen, so that writing it takes a function and no package:
8 bytes of length, the header (names, types, shapes, places), then the numbers, little-endian.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rmix.errors import InvalidValueError

if TYPE_CHECKING:
    from torch import Tensor

TYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint8": "U8",
    "bool": "BOOL",
}
ALIGNED = 8


def safetensors(tensors: Mapping[str, Tensor]) -> bytes:
    """The file that holds ``tensors`` under their names; the same tensors give the same bytes.

    Example:
        >>> import torch
        >>> safetensors({"a": torch.tensor([1, 2], dtype=torch.uint8)})[8:60]
        b'{"__metadata__":{"format":"pt"},"a":{"dtype":"U8","s'
    """
    import torch

    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    numbers: list[bytes] = []
    end = 0
    for name, tensor in sorted(tensors.items()):
        kind = str(tensor.dtype).removeprefix("torch.")
        if kind not in TYPES:
            raise InvalidValueError(f"{name} is of type {kind}, which safetensors does not have.")
        data = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        places = [end, end := end + len(data)]
        header[name] = {"dtype": TYPES[kind], "shape": list(tensor.shape), "data_offsets": places}
        numbers.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % ALIGNED)
    return len(text).to_bytes(8, "little") + text + b"".join(numbers)
