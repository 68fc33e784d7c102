"""All rows of the corpus."""

from tests.conformance.broker_corpus import rows_records

ROWS = (*rows_records.ROWS,)

__all__ = ["ROWS"]
