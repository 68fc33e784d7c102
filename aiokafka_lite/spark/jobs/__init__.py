"""Common jobs between topics and tables; each has a config, a plan and a run."""
