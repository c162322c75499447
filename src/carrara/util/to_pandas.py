"""Convert records to a pandas data frame."""

from collections.abc import Mapping, Sequence
from typing import Any

from carrara.util.errors import RunError


def frame(records: Sequence[Mapping[str, object]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise RunError("a data frame needs pandas: pip install pandas") from None
    return pandas.DataFrame(list(records))
