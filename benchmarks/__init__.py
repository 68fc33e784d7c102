"""`python -m benchmarks` prints all tables except those of groups: `python -m
benchmarks.groups`.
"""
