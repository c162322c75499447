"""Tasks of our own, after benchmarks that people ask for: walks, in-context learning, ranking, citations, associations."""
