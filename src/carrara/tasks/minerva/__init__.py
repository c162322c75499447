"""Minerva: what a model can do with what its context holds: search, recall, edit, match, compare, keep track."""
