"""One batch: its records, its memory, its outcome."""
