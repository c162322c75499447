"""The taskset, where verifiers finds it: `vf-eval carrara-taskset`.

verifiers looks for the one taskset among the names that a top-level module lists.
"""

from carrara.export.taskset import CarraraTaskset

__all__ = ["CarraraTaskset"]
