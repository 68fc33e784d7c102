"""Where members start: committed offsets are validated by their epochs (2c-4, KIP-320), and belong
to the topic they were committed for.
"""

from typing import Any

import pytest

from aiokafka_lite.errors import LogTruncationError
from aiokafka_lite.model import OffsetAndMetadata
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, read
from tests.scenarios.grouping import GROUP, committed, member_of

P0, P1 = tps(0, 1)
BY_HAND: dict[str, Any] = {"enable_auto_commit": False}


async def test_b7_a_new_owner_starts_at_the_committed_offset_without_asking_for_the_logs_end() -> (
    None
):
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2, 2)
        async with member_of(broker, "t", max_poll_records=3, **BY_HAND) as first:
            assert await read(first, 3) == {P0: [0, 1, 2]}
            await first.commit()
        assert broker.group(GROUP).offsets[P0].leader_epoch == 0
        broker.forget_requests()
        async with member_of(broker, "t", **BY_HAND) as second:
            assert await read(second, 1) == {P0: [3]}
            assert await second.getmany(timeout_ms=50) == {}
        assert len(broker.requests_of(OffsetFetchRequest)) == 1, "B4: once per assignment"
        assert broker.requests_of(ListOffsetsRequest) == []
        assert len(broker.requests_of(OffsetForLeaderEpochRequest)) == 1, "2c-4"


@pytest.mark.parametrize("policy", ["earliest", "latest"])
async def test_2c_4_a_committed_offset_behind_a_truncation_goes_back_to_where_the_logs_part(
    policy: str,
) -> None:
    async with embedded({"t": 1}, nodes=2) as broker:
        fill(broker, P0, 1, 1, 1, 1)
        async with member_of(broker, "t", auto_offset_reset="earliest", **BY_HAND) as first:
            assert await read(first, 4) == {P0: [0, 1, 2, 3]}
            await first.commit()
        broker.cluster.partition(P0).truncate(2)
        broker.move_leader(P0, 2)
        fill(broker, P0, 1, 1, 1)
        async with member_of(broker, "t", auto_offset_reset=policy, **BY_HAND) as second:
            assert await read(second, 3) == {P0: [2, 3, 4]}


async def test_2c_3_without_a_policy_a_truncated_committed_offset_is_an_error() -> None:
    async with embedded({"t": 1}, nodes=2) as broker:
        fill(broker, P0, 1, 1, 1, 1)
        async with consumer_of(broker, group_id=GROUP, **BY_HAND) as first:
            first.assign([P0])
            await first.commit({P0: OffsetAndMetadata(4, "", 0)})
        broker.cluster.partition(P0).truncate(2)
        broker.move_leader(P0, 2)
        async with member_of(broker, "t", auto_offset_reset="none", **BY_HAND) as second:
            with pytest.raises(LogTruncationError, match="part at offset 2"):
                await read(second, 1)
            second.seek(P0, OffsetAndMetadata(2, "", 0))
            fill(broker, P0, 1)
            assert await read(second, 1) == {P0: [2]}


async def test_2c_4_an_offset_without_an_epoch_is_taken_as_it_is() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 2, 2)
        async with consumer_of(broker, group_id=GROUP, **BY_HAND) as first:
            first.assign([P0])
            await first.commit({P0: 3})
        broker.forget_requests()
        async with member_of(broker, "t", **BY_HAND) as second:
            assert await read(second, 1) == {P0: [3]}
        assert broker.requests_of(OffsetForLeaderEpochRequest) == []


async def test_b7_no_offset_of_a_deleted_topic_is_committed_for_its_successor() -> None:
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", auto_commit_interval_ms=10, metadata_max_age_ms=100) as consumer,
    ):
        fill(broker, P0, 50)
        assert len((await read(consumer, 50))[P0]) == 50
        broker.delete_topic("t")
        broker.create_topic("t", 1)
        fill(broker, P0, 3)
        assert await read(consumer, 3) == {P0: [0, 1, 2]}
        await consumer.getmany(timeout_ms=100)
        await consumer.stop()
        assert committed(broker) == {P0: 3}
