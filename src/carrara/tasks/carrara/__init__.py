"""Tasks of our own, after benchmarks: walks, learning in the context, ranking, citations, sessions."""
