"""One file per client, each with the same three paths: `send`, `getmany`, `one_by_one`."""
