"""Getting the bytes and handing out the records."""
