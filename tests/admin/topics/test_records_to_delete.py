"""The records to delete, with aiokafka's argument."""

from aiokafka_lite.admin.topics.records_to_delete import RecordsToDelete


def test_it_has_an_offset() -> None:
    assert RecordsToDelete(before_offset=7).before_offset == 7
    assert repr(RecordsToDelete(-1)) == "RecordsToDelete(-1)"
