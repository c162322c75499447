"""Draw the charts of README.md.

    git clone https://github.com/booydar/babilong      # 145 files of published replies, Apache-2.0
    python -m tools.readme_chart published babilong/babilong_evals/google/gemini-3-flash-preview
    python -m tools.readme_chart demo runs/demo

The first has the scores of a model with a window of a million tokens on five tasks of BABILong, and the length up to
which each score holds: published replies, scored by our reading. The second has the three models of `carrara demo` on
one of its tasks. Both follow dark mode. The tables of the same numbers are printed; results/ keeps them.
"""

import argparse
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from carrara.cli.output import print_lines
from carrara.report import chart
from carrara.report.style import styles_of
from carrara.report.tables import score_lines
from carrara.results import summarize
from carrara.results.effective import effective_lengths
from carrara.results.result import Result
from carrara.runs.replies import read_results
from carrara.tasks.babilong._predictions import grade_predictions
from carrara.util.quantities import read_length
from tools.svg_file import write_svg

PUBLISHED, DEMO = Path("docs/published.svg"), Path("docs/demo.svg")
FRAME = chart.Frame(880, 340, 190)
DEMO_TASK = "classic/niah"
_FILE = re.compile(r"(qa\d+)_(\d+[kM]?)_.*\.csv")


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the charts of README.md.")
    parser.add_argument("which", choices=["published", "demo"])
    parser.add_argument(
        "folder", type=Path, help="a model's folder of BABILong's published replies, or that of the demo"
    )
    args = parser.parse_args()
    if args.which == "published":
        draw_published(args.folder)
    else:
        rows = summarize([result for result in read_results(args.folder) if result.task == DEMO_TASK])
        print_lines(score_lines(rows))
        named = [replace(row, model=row.model.removesuffix(" (recorded)")) for row in rows]
        write_svg(chart.score_chart(DEMO_TASK, named, styles_of(named), FRAME, "wide"), DEMO)


def draw_published(folder: Path) -> None:
    """Draw a line for each task, named by the length up to which the task's score holds."""
    rows = summarize(list(published_results(folder)))
    lengths = {estimate.task: estimate for estimate in effective_lengths(rows)}
    print_lines(score_lines(rows))
    print_lines(
        f"{task} holds to {length} ({length.estimate.interval})" for task, length in lengths.items() if length.estimate
    )
    named = [replace(row, model=f"{row.task}: holds to {lengths[row.task]}", task="") for row in rows]
    write_svg(chart.score_chart("BABILong", named, styles_of(named), FRAME, "wide"), PUBLISHED)


def published_results(folder: Path) -> Iterator[Result]:
    """Yield a result for each published reply."""
    for path in sorted(folder.glob("*.csv")):
        if match := _FILE.fullmatch(path.name):
            task, length = match[1], read_length("0" if match[2] == "0k" else match[2])
            for number, graded in enumerate(grade_predictions(path, int(task[2:]))):
                yield Result(
                    id=f"{task}-{match[2]}-{number}",
                    task=task,
                    version=1,
                    model=folder.name,
                    length=length,
                    tokens=length,
                    tokenizer="published",
                    context_id=f"{task}-{match[2]}-{number}",
                    instance_id=f"{task}-{number}",
                    status="unparsed" if graded.answer is None else "ok",
                    score=float(graded.own),
                    chance_level=graded.chance_level,
                )


if __name__ == "__main__":
    main()
