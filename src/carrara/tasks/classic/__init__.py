"""The classic tasks of long contexts: RULER's thirteen and a fresh one of their kind, HELMET's JSON KV, the passkey."""
