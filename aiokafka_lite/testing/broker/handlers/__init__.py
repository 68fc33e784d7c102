"""One file per API, named like its message file in `protocol/messages`."""
