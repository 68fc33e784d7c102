"""Share sessions: epochs, limits, whose they are, and the turns of partitions."""

from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    InvalidShareSessionEpochError,
    ShareSessionLimitReachedError,
    ShareSessionNotFoundError,
)
from aiokafka_lite.testing.broker.state.groups.share_sessions import (
    SharedPartition,
    ShareSessionCache,
)


def test_a_session_goes_on_with_the_next_epoch_only() -> None:
    cache = ShareSessionCache()
    session = cache.open("g", "m", None)
    assert cache.resume("g", "m", 1) is session
    for epoch in (0, 1, 3):
        with pytest.raises(InvalidShareSessionEpochError):
            cache.resume("g", "m", epoch)
    assert cache.resume("g", "m", -1) is session
    session.epoch = 2**31 - 1
    cache.resume("g", "m", 2**31 - 1)
    assert session.epoch == 1
    for key in (("g", "n"), ("h", "m")):
        with pytest.raises(ShareSessionNotFoundError):
            cache.resume(*key, 1)
    cache.end(session)
    with pytest.raises(ShareSessionNotFoundError):
        cache.resume("g", "m", 1)


def test_a_full_cache_takes_only_what_replaces_a_session() -> None:
    cache = ShareSessionCache(1)
    cache.open("g", "m", None)
    cache.open("g", "m", None)
    with pytest.raises(ShareSessionLimitReachedError, match="group_share_max_share_sessions"):
        cache.open("g", "n", None)
    cache.clear()
    assert len(cache) == 0


def test_sessions_are_found_by_their_connection_and_their_group() -> None:
    cache = ShareSessionCache()
    here, there = object(), object()
    first, second = cache.open("g", "m", here), cache.open("h", "m", here)
    third = cache.open("g", "n", there)
    assert cache.of(connection=here) == [first, second]
    assert cache.of(group_id="g") == [first, third]


def test_each_partition_is_the_first_in_its_turn() -> None:
    session = ShareSessionCache().open("g", "m", None)
    parts = [SharedPartition(UUID(int=1), index) for index in range(3)]
    session.update((part, True) for part in parts)
    session.update([(parts[0], False)], [parts[1]])
    assert session.partitions == {parts[0]: True, parts[2]: True}
    assert [session.rotated(epoch)[0] for epoch in range(3)] == [parts[0], parts[2], parts[0]]
