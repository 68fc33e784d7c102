"""The settings of topics, groups and client metrics: names, types, defaults, checks."""
