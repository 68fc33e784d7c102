"""All rows of the corpus."""

from tests.conformance.broker_corpus import (
    rows_admin,
    rows_groups,
    rows_records,
    rows_transactions,
)

ROWS = (*rows_records.ROWS, *rows_admin.ROWS, *rows_groups.ROWS, *rows_transactions.ROWS)

__all__ = ["ROWS"]
