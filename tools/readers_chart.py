"""Draw scores against tokens spent, one chart a task, from the folder of a run with several readers.

    carrara run niah,qa1,key_value,vt --model MODEL --tokenizer gpt2 --lengths 0,4k -n 4 --out RUN \\
        --reader "whole,evidence,retrieval:sentences,by=bm25,notes:chunk=4k,size=256,search:calls=5,page=512"
    python -m tools.readers_chart RUN docs > results/readers.txt

The tables of scores, costs and lost facts are printed.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from carrara.cli.output import print_lines
from carrara.constants import READER, WHOLE
from carrara.report import chart
from carrara.report.style import styles_of
from carrara.report.tables import summary_lines
from carrara.results import summarize
from carrara.results.readers import series_costs
from carrara.results.result import Result
from carrara.results.summary import Summary
from carrara.runs.replies import read_results
from tools.svg_file import write_svg

FRAME = chart.Frame(880, 340, 190)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw scores against tokens spent.")
    parser.add_argument("run", type=Path, help="the folder of the run")
    parser.add_argument("out", type=Path, help="the folder of the charts")
    given = parser.parse_args()
    results = read_results(given.run)
    print_lines(summary_lines(Summary(results)))
    named = [replace(result, model=reader_of(result), settings={}) for result in results]
    styles = styles_of(summarize(named))
    for task in dict.fromkeys(result.task for result in named):
        own = [result for result in named if result.task == task]
        costs = {(cost.series, cost.length): cost.per_item.tokens for cost in series_costs(own)}
        points = [chart.Point(costs[row.series, row.length], row) for row in summarize(own)]
        drawn = chart.spending_chart(task, points, styles, FRAME, "wide")
        write_svg(drawn, given.out / f"readers-{task.rpartition('/')[2]}.svg")


def reader_of(result: Result) -> str:
    """Return the name of a result's reader, without its settings."""
    return result.settings.get(READER, WHOLE).partition(":")[0]


if __name__ == "__main__":
    main()
