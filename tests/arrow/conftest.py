"""Batches built by hand, as the tests of records have them."""

from tests.record.conftest import raw_batch, raw_record

__all__ = ["raw_batch", "raw_record"]
