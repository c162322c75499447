"""Published data sets, stories and predictions of others, which are read unchanged."""
