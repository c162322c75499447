"""The official tests: a folder a paper, a test a file (`registry.py` finds them by their being there)."""
