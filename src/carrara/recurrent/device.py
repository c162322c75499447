"""The device of a model, and settings of PyTorch and of the C library that make it faster."""

import ctypes
from functools import cache

import torch

from carrara.util.errors import UsageError

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Options of glibc's mallopt: the free bytes from which memory is given back, and the size of a separate mapping."""


def find_device(name: str) -> torch.device:
    """Return the device of a name, such as `cpu`, `cuda` or `cuda:1`.

    Raises:
        UsageError: PyTorch has no such device here.
    """
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        reason = str(error).splitlines()[0].partition(" (")[0][:100]
        raise UsageError(
            f"there is no device {name!r} here ({reason}): take cpu, or cuda on a machine with a GPU"
        ) from None
    return device


def uses_half_precision(precision: str, device: torch.device) -> bool:
    """Return whether to multiply in bfloat16. With `auto`, where the device is much faster at it."""
    if precision == "auto":
        return device.type != "cpu" or bool(torch.cpu._is_amx_tile_supported())
    if precision not in ("float32", "bfloat16"):
        raise UsageError(f"precision={precision} is none of auto, float32, bfloat16")
    return precision == "bfloat16"


@cache
def keep_freed_memory() -> None:
    """Keep freed memory in the process: each step needs as much again, and new pages take a quarter of its time."""
    try:
        change = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    change(_TRIM_THRESHOLD, 1 << 30)
    change(_MMAP_THRESHOLD, 32 << 20)  # the greatest value that glibc takes
