"""Rows in the schema of Oolong's two parts, with texts and answers that are made up."""

from datetime import date, timedelta
from typing import Any

from carrara.rng import Rng

LABELS = ("ham", "spam", "neither of the two")
FORMS = {
    "ANSWER_TYPE.LABEL": (
        "In the above data, which of the labels is the most common? Give your final answer in the form 'Label: answer' "
        f"where answer is one of the labels: {', '.join(LABELS)}."
    ),
    "ANSWER_TYPE.COMPARISON": (
        "In the above data, is label 'ham' more common, less common, or the same frequency as label 'spam'? Give your "
        "final answer in the form 'Answer: ham is [X] spam', where [X] is 'more common than', 'less common than', or "
        "'same frequency as'."
    ),
    "ANSWER_TYPE.NUMERIC": (
        "In the above data, how many data points should be classified as label 'ham'? Give your final answer in the "
        "form 'Answer: number'."
    ),
    "ANSWER_TYPE.USER": (
        "In the above data, which user is represented most often? Give your final answer in the form 'User: [X]', "
        "where [X] is the user ID."
    ),
    "ANSWER_TYPE.DATE": (
        "In the above data, which date is represented most often? Give your final answer in the form 'Date: [X]', "
        "where [X] is the date in the format MM/DD/YYYY."
    ),
    "ANSWER_TYPE.MONTH_YEAR": (
        "In which month did the label 'ham' first occur more often than the label 'spam'? Give your final answer in "
        "the form 'Answer: [month] [year]', where [month] is the name of the month and [year] is the four-digit year."
    ),
}
GOLD = {
    "ANSWER_TYPE.LABEL": "['spam']",
    "ANSWER_TYPE.COMPARISON": "['less common than']",
    "ANSWER_TYPE.NUMERIC": "[7]",
    "ANSWER_TYPE.USER": "[41523]",
    "ANSWER_TYPE.DATE": "[datetime.date(2024, 3, 5)]",
    "ANSWER_TYPE.MONTH_YEAR": "['March 2023']",
}


def synth(n: int, answer_type: str, **cells: Any) -> dict[str, Any]:
    rng = Rng("oolong", n)
    lines = [f"Date: Mar 0{rng.between(1, 9)}, 2024 || User: {rng.between(10000, 99999)} || Instance: text {n}.{k}"
             for k in range(8)]  # fmt: skip
    text = "The following lines contain 8 text messages, one per line.\n\n" + "\n".join(lines) + "\n\nRecall: answer."
    return {
        "id": n,
        "context_len": 1024,
        "dataset": "spam",
        "context_window_text": text,
        "context_window_text_with_labels": text.replace(".", " || Label: ham."),
        "question": FORMS[answer_type],
        "task_group": "counting",
        "task": "TASK_TYPE.MOST_FREQ",
        "answer": GOLD[answer_type],
        "answer_type": answer_type,
        "input_subset": "False",
        "num_labels": 2,
        "context_window_id": n,
        **cells,
    }


def real(n: int, question: str, answer: str, **cells: Any) -> dict[str, Any]:
    text = "Return the final answer in \\boxed{}. [START OF EPISODE]\nMatt: Roll. \nLaura: 17.\n[END OF EPISODE]"
    return {
        "id": f"{n}",
        "context_window_id": "w",
        "context_window_text": f"Episode {n}. {text}",
        "question": question,
        "answer": answer,
        "question_type": "multidoc_spells",
        "episodes": [1, 7],
        "campaign": "campaign1",
        **cells,
    }


def drawn_synth(n: int, **cells: Any) -> dict[str, Any]:
    """Return a row with a drawn answer. The types of answers take turns."""
    rng, answer_type = Rng("oolong answers", n), list(FORMS)[n % len(FORMS)]
    day = date(2022, 1, 1) + timedelta(rng.between(0, 1200))
    answers = {
        "ANSWER_TYPE.LABEL": f"['{rng.choice(LABELS)}']",
        "ANSWER_TYPE.COMPARISON": f"['{rng.choice(('more common than', 'less common than', 'same frequency as'))}']",
        "ANSWER_TYPE.NUMERIC": f"[{rng.between(0, 40)}]",
        "ANSWER_TYPE.USER": f"[{rng.between(10_000, 99_999)}]",
        "ANSWER_TYPE.DATE": f"[datetime.date({day.year}, {day.month}, {day.day})]",
        "ANSWER_TYPE.MONTH_YEAR": f"['{day:%B %Y}']",
    }
    return synth(n, answer_type, answer=answers[answer_type], **cells)


SPELLS = tuple(
    f"{kind} of {thing}"
    for kind in ("Hex", "Wall", "Ray", "Cloud", "Mark")
    for thing in ("Ash", "Fire", "Frost", "Light", "Thorns", "Wind")
)


def drawn_real(n: int) -> dict[str, Any]:
    """Return a row with a drawn answer: a number, a spell or a list of spells in turn."""
    rng = Rng("oolong spells", n)
    match n % 3:
        case 0:
            return real(n, "Total number of rolls across all the episodes?", str(rng.between(0, 120)))
        case 1:
            return real(n, "What is the first spell cast in the episode 7?", rng.choice(SPELLS))
        case _:
            spells = ", ".join(rng.sample(SPELLS, rng.between(2, 4)))
            return real(n, "List the last spell cast in each episode? Return a comma separated list.", spells)
