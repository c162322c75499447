"""The Python API: the functions that `import carrara` offers.

In the package only `carrara.rl` and `carrara train` use it.
"""
