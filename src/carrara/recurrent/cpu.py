"""What a processor is good at: products of half the bits, where it has them, and memory that is not asked for again."""

import ctypes
from functools import cache

import torch

from carrara.util.errors import UsageError

_TRIM, _MAP = -1, -3
"""Of glibc's mallopt: from how many free bytes on memory is given back, and how large a piece is asked for alone."""


def uses_half_precision(precision: str, device: torch.device) -> bool:
    """Whether products are made with half the bits: where the machine is much faster with them."""
    if precision == "auto":
        return device.type != "cpu" or bool(torch.cpu._is_amx_tile_supported())
    if precision not in ("float32", "bfloat16"):
        raise UsageError(f"precision={precision} is none of auto, float32, bfloat16")
    return precision == "bfloat16"


@cache
def hold() -> None:
    """Keep memory that was freed: every step wants as much again, and new pages take a quarter of its time."""
    try:
        change = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    change(_TRIM, 1 << 30)
    change(_MAP, 32 << 20)  # the most there is
