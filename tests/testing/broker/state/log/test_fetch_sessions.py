"""The broker's side of fetch sessions: D1 to D5, 2a-2 to 2a-12, KIP-227."""

import random
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    FetchSessionIdNotFound,
    FetchSessionTopicIdError,
    InvalidFetchSessionEpoch,
)
from aiokafka_lite.protocol.messages.fetch import (
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from aiokafka_lite.testing.broker.state.log.fetch_sessions import (
    EVICT_AFTER_S,
    MAX_EPOCH,
    FetchContext,
    FetchSessionCache,
)

ID = UUID(int=7)


def new_cache(slots: int = 3) -> FetchSessionCache:
    return FetchSessionCache(slots, random.Random(1))


def request(
    session: tuple[int, int],
    partitions: Sequence[int] = (),
    forget: Sequence[int] = (),
    offset: int = 0,
) -> FetchRequest:
    wanted = [FetchPartition(partition=p, fetch_offset=offset) for p in partitions]
    return FetchRequest(
        session_id=session[0],
        session_epoch=session[1],
        topics=[FetchTopic(topic="t", topic_id=ID, partitions=wanted)] if wanted else [],
        forgotten_topics_data=[ForgottenTopic(topic="t", topic_id=ID, partitions=list(forget))]
        if forget
        else [],
    )


def answer(
    cache: FetchSessionCache,
    context: FetchContext,
    data: dict[int, dict[str, Any]] | None = None,
    *,
    version: int = 13,
    now_s: float = 0.0,
) -> tuple[int, list[int]]:
    """Answer with that data per partition; return the session id and the partitions told."""
    fields = data or {}
    answers = [
        (
            asked,
            PartitionData(
                partition_index=asked.partition,
                **{"high_watermark": 0, "log_start_offset": 0, **fields.get(asked.partition, {})},
            ),
        )
        for asked in context.partitions
    ]
    session_id, told = cache.finish(context, version, answers, now_s)
    return session_id, [asked.partition for asked, _ in told]


def opened(cache: FetchSessionCache, *partitions: int, now_s: float = 0.0) -> int:
    """The id of a new session over these partitions."""
    session_id, told = answer(
        cache, cache.resolve(request((0, 0), partitions), 13, now_s), now_s=now_s
    )
    assert told == list(partitions)
    return session_id


def asked(context: FetchContext) -> list[tuple[int, int]]:
    return [(entry.partition, entry.wanted.fetch_offset) for entry in context.partitions]


def test_a_full_request_opens_a_session_that_goes_on_at_epoch_1() -> None:
    """A full request opens a session, whose next request has epoch 1 (D2)."""
    cache = new_cache()
    session_id = opened(cache, 0, 1)
    assert session_id > 0
    context = cache.resolve(request((session_id, 1)), 13, 0)
    assert asked(context) == [(0, 0), (1, 0)]
    assert answer(cache, context) == (session_id, [])


def test_changed_new_and_forgotten_partitions_are_taken_over() -> None:
    """An incremental request has only changes, and a changed partition keeps its place (D2)."""
    cache = new_cache()
    session_id = opened(cache, 0, 1, 2)
    context = cache.resolve(request((session_id, 1), [1, 5], forget=[0], offset=9), 13, 0)
    assert asked(context) == [(1, 9), (2, 0), (5, 9)]


def test_only_partitions_with_news_are_answered() -> None:
    cache = new_cache()
    session_id = opened(cache, 0, 1, 2, 3, 4, 5)
    context = cache.resolve(request((session_id, 1)), 13, 0)
    news: dict[int, dict[str, Any]] = {
        1: {"high_watermark": 1},
        2: {"log_start_offset": 1},
        3: {"records": b"x"},
        4: {"error_code": 3},
        5: {"diverging_epoch": EpochEndOffset(epoch=0, end_offset=1)},
    }
    assert answer(cache, context, news) == (session_id, [1, 2, 3, 4, 5])


def test_after_an_error_the_next_good_answer_is_told() -> None:
    cache = new_cache()
    session_id = opened(cache, 0)
    context = cache.resolve(request((session_id, 1)), 13, 0)
    assert answer(cache, context, {0: {"error_code": 6}}) == (session_id, [0])
    context = cache.resolve(request((session_id, 2)), 13, 0)
    assert answer(cache, context) == (session_id, [0])
    context = cache.resolve(request((session_id, 3)), 13, 0)
    assert answer(cache, context) == (session_id, [])


def test_a_partition_that_gave_records_goes_to_the_end() -> None:
    cache = new_cache()
    session_id = opened(cache, 0, 1, 2)
    context = cache.resolve(request((session_id, 1)), 13, 0)
    answer(cache, context, {0: {"records": b"x"}})
    assert asked(cache.resolve(request((session_id, 2)), 13, 0)) == [(1, 0), (2, 0), (0, 0)]


def test_epoch_wraps_to_1() -> None:
    """The epoch of a session wraps to 1 (2a-3)."""
    cache = new_cache()
    session_id = opened(cache, 0)
    cache._sessions[session_id].epoch = MAX_EPOCH
    cache.resolve(request((session_id, MAX_EPOCH)), 13, 0)
    cache.resolve(request((session_id, 1)), 13, 0)


def test_an_unknown_session_is_an_error() -> None:
    """A session id that the broker does not have is an error (2a-7)."""
    with pytest.raises(FetchSessionIdNotFound):
        new_cache().resolve(request((77, 1)), 13, 0)


def test_a_wrong_epoch_is_an_error_and_changes_nothing() -> None:
    cache = new_cache()
    session_id = opened(cache, 0)
    with pytest.raises(InvalidFetchSessionEpoch, match="is at epoch 1, the request says 2"):
        cache.resolve(request((session_id, 2), [5]), 13, 0)
    assert asked(cache.resolve(request((session_id, 1)), 13, 0)) == [(0, 0)]


def test_a_session_with_topic_ids_cannot_go_on_without() -> None:
    """A session with topic ids refuses requests without them (2a-6, 2a-7)."""
    cache = new_cache()
    session_id = opened(cache, 0)
    with pytest.raises(FetchSessionTopicIdError, match="opened with topic ids"):
        cache.resolve(request((session_id, 1)), 12, 0)


def test_a_full_request_with_an_id_replaces_that_session() -> None:
    cache = new_cache()
    old = opened(cache, 0)
    new, _ = answer(cache, cache.resolve(request((old, 0), [1]), 13, 0))
    assert new != old
    assert len(cache) == 1


def test_final_epoch_closes_the_session_and_opens_none() -> None:
    """The final epoch closes the session and opens no other (D5, 2a-11)."""
    cache = new_cache()
    session_id = opened(cache, 0)
    context = cache.resolve(request((session_id, -1)), 13, 0)
    assert answer(cache, context) == (0, [])
    assert len(cache) == 0


def test_without_a_session_all_partitions_are_answered() -> None:
    """A request (0, -1) without a session is answered with all partitions (2a-2)."""
    cache = new_cache()
    assert answer(cache, cache.resolve(request((0, -1), [0, 1]), 13, 0)) == (0, [0, 1])


def test_a_session_whose_last_partition_is_forgotten_is_closed() -> None:
    cache = new_cache()
    session_id = opened(cache, 0)
    context = cache.resolve(request((session_id, 1), forget=[0]), 13, 0)
    assert answer(cache, context) == (0, [])
    assert len(cache) == 0


def test_a_full_cache_opens_no_session_until_the_oldest_is_idle() -> None:
    """A full session cache opens no session until the oldest one is idle (2a-12)."""
    cache = new_cache(slots=2)
    first, second = opened(cache, 0), opened(cache, 1)
    cache.resolve(request((first, 1)), 13, 10.0)
    assert opened(cache, 2, now_s=EVICT_AFTER_S - 1) == 0
    third = opened(cache, 2, now_s=EVICT_AFTER_S)
    assert third > 0
    with pytest.raises(FetchSessionIdNotFound):
        cache.resolve(request((second, 1)), 13, 0)
    cache.resolve(request((first, 2)), 13, 0)


def test_a_cache_without_slots_never_opens_one() -> None:
    assert opened(new_cache(0), 0) == 0


def test_topics_are_told_apart_by_name_before_version_13() -> None:
    cache = new_cache()
    context = cache.resolve(request((0, 0), [0]), 12, 0)
    assert context.partitions[0].topic == "t"
    session_id, _ = answer(cache, context, version=12)
    assert asked(cache.resolve(request((session_id, 1), forget=[9]), 12, 0)) == [(0, 0)]
