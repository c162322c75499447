"""Tasks of our own, after benchmarks that people ask for: GraphWalks, HELMET, Oolong, NoLiMa and others."""
