"""Scoring of replies that another system made: files of any size, read as a stream, in nearly constant memory.

lines → in batches, to all cores → instance, answer, score → one line of output, a sample of a log, a row of the table
"""
