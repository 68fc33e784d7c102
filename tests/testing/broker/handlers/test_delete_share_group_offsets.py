"""DeleteShareGroupOffsets: as a broker answers that has no share group."""

from aiokafka_lite.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
)
from aiokafka_lite.testing.broker.handlers import delete_share_group_offsets
from tests.testing.broker.bench import Bench


def test_no_group_is_found() -> None:
    bench = Bench()
    bench.groups.find_or_create("g")
    answers = [
        bench.ask(
            delete_share_group_offsets.HANDLER, DeleteShareGroupOffsetsRequest(group_id=group_id), 0
        )
        for group_id in ("g", "nowhere", "")
    ]
    assert [each.error_code for each in answers] == [69, 69, 24]
    assert [each.error_message for each in answers[:2]] == [
        "Group g is not a share group.",
        "Group nowhere not found.",
    ]
