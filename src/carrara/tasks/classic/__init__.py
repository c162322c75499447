"""The classic tasks of long contexts: RULER's eleven synthetic ones, HELMET's JSON KV, and the passkey."""
