"""Jobs as programs: the command line, the session, progress and exit code."""
