"""All rows of the corpus."""

from tests.conformance.broker_corpus import rows_admin, rows_records

ROWS = (*rows_records.ROWS, *rows_admin.ROWS)

__all__ = ["ROWS"]
