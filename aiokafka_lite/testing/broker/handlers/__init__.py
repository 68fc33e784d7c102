"""One file per API, named as its message file in `protocol/messages`."""
