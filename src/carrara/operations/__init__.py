"""The Python API: the functions that `import carrara` offers.

In the package only `carrara.export` and `carrara train` use it.
"""
