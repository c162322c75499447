"""Tasks of our own, after benchmarks that people ask for: walks, learning in the context, ranking, citations."""
