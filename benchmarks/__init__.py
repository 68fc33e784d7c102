"""`python -m benchmarks` prints the tables; those of groups are `python -m benchmarks.groups`, and
those of Spark `python -m benchmarks.spark`.
"""
