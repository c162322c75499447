"""Minerva's own prompts: the programs in src/task of its repository, as a prompt pack.

Each task there is a class that gives `task_instruction` its words. Ours has them as `ask`, or as one of several parts
where the operation is drawn; a line that says how to answer is part of them, so that our own is empty.
"""

from ast import ClassDef
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from carrara.tasks.programs import Parts, classes, file_in, find_assignments, rename_fields, texts, tree
from carrara.util.errors import UsageError

FILES = (
    "search.py",
    "recall_and_edit.py",
    "match_and_compare.py",
    "spot_the_differences.py",
    "compute_on_sets_and_lists.py",
    "stateful_processing.py",
    "composite.py",
)
ENDINGS = ("\n\nAnswer:", "\n\nFINAL ANSWER:")
TWO = {"query_word": "first", "reference_word": "second"}


class Ours(NamedTuple):
    task: str
    fields: Mapping[str, str] = {}
    part: str = "ask"


CLASSES: Mapping[str, Ours] = {
    "StringSearchWord": Ours("word_search", {"query_word": "word"}),
    "StringSearchSequence": Ours("sequence_search", {"query_sequence": "sequence"}),
    "KeyValueSearch": Ours("key_value", {"query_item": "key"}),
    "BatchKeyValueSearch": Ours("batch", {"query_item": "keys"}),
    "Snapshot": Ours("snapshot"),
    "ReplaceAll": Ours("replace", {"query_item": "x", "substitute": "y"}, "word"),
    "ReplaceAllXToNull": Ours("replace", {"query_item": "x"}, "nothing"),
    "OverwritePositions": Ours("overwrite", {"substitute": "y"}, "word"),
    "OverwritePositionsNthToNull": Ours("overwrite", part="nothing"),
    "ComparePositions": Ours("positions", {"word_1": "first", "word_2": "second"}),
    "FindDuplicates": Ours("duplicates"),
    "Count": Ours("count", {"repeated_word": "word"}),
    "CheckAssociation": Ours("association", TWO),
    # The published instruction names the other list in a field. Here the word "other" stands in its place.
    "CompareTwoLists": Ours("two_lists", {"chosen_list": "chosen", "other_list": " other"}),
    "IdentifyOddGroup": Ours("odd_group"),
    "PatchDifference": Ours("patch"),
    "GroupMembership": Ours("membership", {"query_word": "word"}),
    "GroupAssociation": Ours("group_association", TWO),
    "AlternatingGroupAssociation": Ours("alternating", TWO),
    "Iterate": Ours("iterate", {"word_index": "which"}),
    "QuantityState": Ours("quantity"),
    "SetState": Ours("set_state"),
    "ProcessingDataBlocks": Ours("blocks", {"query_role": "role", "query_word": "word"}),
    "TheoryOfMind": Ours("theory_of_mind"),
}
UPDATES = "FunctionalUpdates"
"""Its words hold their number; ours has a field for it."""
NUMBERS = {"add": "3", "subtract": "1", "multiply": "2"}


def words(folder: Path) -> dict[str, Parts]:
    """Return the prompt parts of each task that the programs in a folder have."""
    parts_by_task: dict[str, Parts] = {}
    for file in FILES:
        for class_def in classes(tree(file_in(folder, file))):
            instructions = list(find_assignments(class_def, "task_instruction"))
            if class_def.name == UPDATES:
                parts = {
                    name: instructions[n].replace(NUMBERS[name], "{by}")
                    for n, name in enumerate(NUMBERS)
                    if n < len(instructions)
                }
                parts_by_task["minerva/functional"] = parts | _frame(_ending(class_def))
            elif (ours := CLASSES.get(class_def.name)) and instructions:
                parts = {ours.part: rename_fields(instructions[-1], ours.fields)} | _frame(_ending(class_def))
                parts_by_task.setdefault(f"minerva/{ours.task}", {}).update(parts)
    if not parts_by_task:
        raise UsageError(f"{folder} has none of Minerva's tasks: give the folder of its repository")
    return parts_by_task


def _ending(class_def: ClassDef) -> str:
    """Return the line that the model is to continue, where a class has one; else nothing."""
    endings = [text[text.rindex("\n\n") :] for text in texts(class_def) if text.endswith(ENDINGS)]
    return endings[-1] if endings else ""


def _frame(ending: str) -> Parts:
    """Return the parts around the words. The ending is in the prompt of chat models too, as published."""
    return {"open": "Context:\n", "instruct": "\n\nInstruction:\n", "rule": ending, "answer": ""}
