"""What is not collected: modules that are looked through for doctests have to be imported."""

from importlib.util import find_spec

collect_ignore_glob = ["src/carrara/inspect_tasks.py"]  # looking through it imports every task, and it has no doctest
if not find_spec("torch"):
    collect_ignore_glob += ["src/carrara/recurrent/*", "src/carrara/models/streaming.py"]
