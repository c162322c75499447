"""The Python API: the functions that `import carrara` offers."""
