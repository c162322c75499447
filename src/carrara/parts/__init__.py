"""What tests of lists, labels, states and agents are made of: see docs/composing.md."""
