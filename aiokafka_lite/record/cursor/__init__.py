"""The parts of the record cursor: old formats, headers, aborted transactions, columns, errors."""
