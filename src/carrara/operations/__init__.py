"""Operations: one file each has the option class, the function that does the work, and what it returns.

The command line (`carrara.cli`) is generated from them, and `import carrara` offers some.
"""
