"""Carrara measures what language models can really do with a long context."""

__version__ = "0.1.0"
