"""Tasks of our own, after benchmarks that people ask for: walks in a graph, learning in the context, ranking, citations."""
