"""Statistics of a list of results, in pure Python. It reads no file and calls no model.

>>> from carrara.results.result import Result
>>> def reply(i: int, length: int, score: float) -> Result:
...     return Result(f"s/t@1/test-0-{i}.0/{length}/chat/gpt2", "s/t", 1, "m", length, length, "gpt2",
...                   f"s/t@1/test-0-{i}/{length}", f"s/t@1/test-0-{i}", "ok", score, 0.1)
>>> results = [reply(i, length, float(length < 8192)) for i in range(20) for length in (0, 4096, 8192)]
>>> for row in summarize(results):
...     print(row.length, row.stat.n, row.stat.mean, f"{row.stat.low:.2f}-{row.stat.high:.2f}")
0 20 1.0 0.84-1.00
4096 20 1.0 0.84-1.00
8192 20 0.0 0.00-0.16
>>> print(effective_lengths(summarize(results))[0])
5.5k
"""

from carrara.results.baselines import TrivialBaseline, trivial_baselines
from carrara.results.differences import Difference, LengthEffect, ModelEffect, length_effects, model_effects
from carrara.results.effective import EffectiveLength, Requirements, effective_lengths
from carrara.results.rows import CategoryScore, Row, drop_unscored, record, score_categories, summarize
from carrara.results.scores import Stat, stat
from carrara.results.series import Series, series_of

__all__ = [
    "CategoryScore",
    "Difference",
    "EffectiveLength",
    "LengthEffect",
    "ModelEffect",
    "Requirements",
    "Row",
    "Series",
    "Stat",
    "TrivialBaseline",
    "drop_unscored",
    "effective_lengths",
    "length_effects",
    "model_effects",
    "record",
    "score_categories",
    "series_of",
    "stat",
    "summarize",
    "trivial_baselines",
]
