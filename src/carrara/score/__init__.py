"""Scoring replies that were made elsewhere: files of any size, as they come, in memory that hardly grows with them.

lines → in batches, to all cores → instance, answer, score → one line of output, a sample of a log, a row of the table
"""
