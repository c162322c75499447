"""Depths of the facts, taken in turn."""

from carrara.generators.round_robin import in_turn
from carrara.rng import Key

DRAWN = "drawn"


def normalize_depth(depth: str) -> str:
    """Return a parameter `depth` as ids write it: `0,.50` is `0,0.5`."""
    try:
        return DRAWN if depth == DRAWN else ",".join(f"{share:g}" for share in depths(depth))
    except ValueError:
        return depth  # `depths` says what is wrong


def depths(depth: str) -> tuple[float, ...]:
    """Return the shares of the context that a parameter `depth` names; none if places are drawn."""
    if depth == DRAWN:
        return ()
    try:
        shares = tuple(float(share) for share in depth.replace("+", ",").split(","))
    except ValueError:
        shares = (-1.0,)
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"depth is `{DRAWN}`, or shares of the context from 0 to 1, such as depth=0,0.5,1")
    return shares


def places(key: Key, depth: str, facts: int, every: int = 1) -> tuple[float, ...] | None:
    """Return the depths of all facts: the one whose turn it is, or None where each is drawn."""
    shares = depths(depth)
    return (in_turn(key, "depth", shares, every),) * facts if shares else None


def label(key: Key, depth: str, every: int = 1) -> dict[str, str]:
    """Return the label by which results are sliced where depths are given."""
    shares = depths(depth)
    return {"depth": f"{in_turn(key, 'depth', shares, every):g}"} if shares else {}
