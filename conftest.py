"""What is not collected where an extra is missing: modules that are looked through for doctests have to be imported."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("torch") else ["src/carrara/recurrent/*", "src/carrara/models/streaming.py"]
