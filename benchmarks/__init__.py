"""`python -m benchmarks` prints all tables but those of groups, `python -m benchmarks.groups`."""
