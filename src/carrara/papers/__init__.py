"""What others have published: data sets, stories and predictions, read as they are."""
