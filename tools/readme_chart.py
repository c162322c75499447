"""Draw the chart of README.md: the scores of two models at several lengths, from the folder of their run.

    carrara run niah --model carrara/gguf:qwen2.5-coder-0.5b-instruct-q4_k_m.gguf --lengths 0,512,1k,2k -n 20 --out RUN
    carrara run niah --model carrara/smollm2 --lengths 0,512,1k,2k -n 20 --out RUN
    python -m tools.readme_chart RUN

The chart follows dark mode. The table of the same scores is printed; results/two_models.txt keeps it.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from carrara.cli.output import print_lines
from carrara.report import chart
from carrara.report.style import styles_of
from carrara.report.tables import score_lines
from carrara.results import summarize
from carrara.runs.replies import read_results
from tools.svg_file import write_svg

TASK = "classic/niah"
CHART = Path("docs/two-models.svg")
NAMES = {"smollm2": "SmolLM2 135M", "Qwen2.5 Coder 0.5B": "Qwen2.5-Coder 0.5B"}
"""Names of models in the chart, by a part of their names in the run."""
FRAME = chart.Frame(880, 340, 190)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the chart of README.md.")
    parser.add_argument("run", type=Path, help="the folder of the run")
    folder = parser.parse_args().run
    results = [result for result in read_results(folder) if result.task == TASK]
    print_lines(score_lines(summarize(results)))
    rows = summarize([replace(result, model=name_of(result.model)) for result in results])
    drawn = chart.score_chart(TASK, rows, styles_of(rows), FRAME, "wide")
    write_svg(drawn, CHART)


def name_of(model: str) -> str:
    """Return the name of a model in the chart."""
    return next((name for part, name in NAMES.items() if part in model), model)


if __name__ == "__main__":
    main()
