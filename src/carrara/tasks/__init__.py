"""The official tasks: a folder a paper, a task a file (`registry.py` finds them by their being there)."""
