"""The reader `repl`: the model runs code over the context, in a sandbox."""
