"""In what a figure is another than its paper's: a line each, as they were looked at side by side."""

from collections.abc import Mapping

_CURVES = "The paper prints curves and no numbers, so its models are not here; intervals are added."
_RANK = (
    "By default the tests that were run; the paper's matrix, with benchmarks that are not here, is `--published sync`."
)
_BARS = "Bars as in the paper, with intervals; it prints no numbers of this figure."
_CELLS = "The same cells, coloured by their value; intervals and n are in the CSV."
_DIFFERENCE = "The same cells and differences in brackets, coloured; at the length nearest to 4k that was run."

DIFFERS: Mapping[str, str] = {
    **{f"michelangelo-figure-{number}": _CURVES for number in (1, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 18, 19, 20)},
    "michelangelo-figure-2": "Plain means for cumulative ones; sentences say where curves cross, with an interval.",
    "michelangelo-figure-3": f"All models, for a folder does not say which are of a family. {_CURVES}",
    "michelangelo-figure-9": "At the longest length that all models have; four models are the fewest, the paper has "
    "ten.",
    "michelangelo-figure-14": "The paper quotes examples; these are shares of replies. The report has replies to read.",
    "michelangelo-figure-16": "Beside it what was scored; its shape is that of this house's writings.",
    "michelangelo-section-6.1": "The paper says it in words: perplexity and errors are two panels of each test.",
    "sync-table-3": _CELLS,
    "sync-table-7": _CELLS,
    "sync-table-4": "The same tests and models; values are coloured in the place of green and underlined ones.",
    "sync-table-5": "Shares of kinds of errors as stacked bars; the paper's are a table at 64k.",
    "sync-figure-1": "Pairs of bars for each model and test, a panel a length; the paper prints no numbers of it.",
    "sync-figure-2": "Points by tokens of reasoning; the paper draws bars of both. Tokens are the server's own "
    "count, where it has one.",
    "sync-figure-3": "A line a model and length; none is at 0 tokens, as in the paper.",
    "sync-figure-4": _RANK,
    "sync-figure-5": _RANK,
    "sync-figure-6": _RANK,
    "minerva-figure-1": "An outline a model over categories, as in the paper; by the paper's metric with `--score "
    "paper`.",
    "minerva-figure-2": "Lines for present and absent sequences; absent ones are of several kinds here, and their mean "
    "is drawn.",
    "minerva-figure-3": _BARS,
    "minerva-figure-4": _BARS,
    "minerva-figure-5": _BARS,
    "minerva-figure-6": "Both tests in panels, as in the paper; published values are not printed.",
    "minerva-table-2": _DIFFERENCE,
    "minerva-table-3": _DIFFERENCE,
    "minerva-table-4": _DIFFERENCE,
    "minerva-table-5": _DIFFERENCE,
    "minerva-table-6": _DIFFERENCE,
    "minerva-table-7": "Curves over lengths in the place of columns; the numbers are in the table that is printed.",
    "minerva-table-8": "Pairs of bars with Wilson's intervals; the paper prints half-widths.",
    "minerva-table-11": "Curves over lengths in the place of columns; the numbers are in the table that is printed.",
    "minerva-table-12": "Pairs of bars with Wilson's intervals; the paper prints half-widths.",
    "babilong-figure-1b": "All that the paper's tables hold of QA1, where the figure shows a choice.",
    "babilong-figure-2": "With the two levels of section 3.1, and effective sizes in words; the paper colours by model "
    "family.",
    "babilong-figure-3a": "What was found and what came of it are two panels; the paper draws both in one.",
    "babilong-figure-3b": "A panel a test; the paper shows QA1 alone.",
    "babilong-figure-5": "Bars of one standard deviation over trainings, as in the paper; its values are not printed.",
    "babilong-figure-6": "Medians are bars; the paper has stars. Its own models are known for QA1 to QA5 only.",
    "babilong-figure-8": "Parts b and c; part a is babilong-figure-3b. The paper's values are not printed.",
    "babilong-figure-9": "All windows from one run, by fifths of the context; the paper shows QA1 of one model.",
    "babilong-table-2": "The same cells, coloured by value; the paper's colours are its own.",
    "babilong-table-3": "Seconds an item as curves; the paper prints minutes for a thousand on an A100, drawn beside.",
    "babilong-table-4": "The same cells, a panel a test; coloured by value.",
    "babilong-table-5": "Two rows a model: all replies, and those that were answered.",
}
