"""Measurements: each module prints what it measured, as ratios in one run where time is concerned.

`make bench` runs them all and keeps what they print under `results/`.
"""
