"""Jobs people need between topics and tables, each a config, a plan and a run."""
