"""Owns the answer to why each partition of a share consumer is being fetched or not.

It reads the parts of the consumer and changes nothing. Does not wait.
"""

from collections.abc import Iterator
from typing import Final

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.refresh_failures import why_leaderless
from aiokafka_lite.concurrency.life import LifeState
from aiokafka_lite.consumer.fetch_explanation import (
    explain_life,
    explain_no_partition,
    explain_topics,
)
from aiokafka_lite.metrics.explanation import (
    Explanation,
    WaitReason,
    explain_partition,
    explain_waits,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.share.share_engine import ShareEngine

_BEGINNING: Final = (
    "; no record has ever come: a new share group begins at the end of its topics, unless its "
    "group config share.auto.offset.reset says 'earliest'"
)


def explain_share_consumer(
    life: LifeState, topics: frozenset[str], engine: ShareEngine | None
) -> tuple[Explanation, ...]:
    """Return what concerns the whole consumer, then one value for each assigned partition.

    `topics`: the subscription. `engine` None: the consumer was not started.
    """
    ended = explain_life(life, None if engine is None else engine.client)
    if ended is not None or engine is None:
        return () if ended is None else (ended,)
    assigned = sorted(engine.membership.assigned.partitions)
    return (
        *_of_whole(topics, engine),
        *explain_waits(engine.client.lasting()),
        *(_of_partition(tp, engine) for tp in assigned),
    )


def _of_whole(topics: frozenset[str], engine: ShareEngine) -> Iterator[Explanation]:
    if not topics:
        text = "nothing is subscribed: call subscribe()"
        yield Explanation(WaitReason.NOTHING_SUBSCRIBED, text)
        return
    snapshot = engine.client.metadata.snapshot
    yield from explain_topics(topics, snapshot)
    joining = engine.membership.explain()
    if joining is not None:
        yield joining
    elif not engine.membership.assigned.partitions:
        yield explain_no_partition(topics, snapshot)
    if engine.must_be_acknowledged:
        text = (
            f"{engine.must_be_acknowledged} returned records are not acknowledged, so the next "
            f"poll refuses: call acknowledge() for each"
        )
        yield Explanation(WaitReason.UNACKNOWLEDGED, text)


def _of_partition(tp: TopicPartition, engine: ShareEngine) -> Explanation:
    """Return what keeps the partition from being fetched, or that it is being fetched."""
    buffered = _buffered(tp, engine)
    if buffered is not None:
        return buffered
    snapshot = engine.client.metadata.snapshot
    node_id = snapshot.leader(tp).node_id
    if node_id is None:
        return explain_partition(
            tp, WaitReason.NO_LEADER, f"no leader is known: {why_leaderless(tp, snapshot)}"
        )
    return _of_node(tp, node_id, engine)


def _buffered(tp: TopicPartition, engine: ShareEngine) -> Explanation | None:
    for fetch in engine.fetcher.buffer:
        if fetch.topic_partition != tp:
            continue
        where, size = fetch.node_id, fetch.size_in_bytes
        if engine.poller.prepares == tp:
            text = f"a deserializer waits for the record at offset {fetch.next_offset} or behind it"
            return explain_partition(
                tp, WaitReason.DESERIALIZING, text, node_id=where, size_in_bytes=size
            )
        left_s = max(fetch.expires_at_s - engine.client.clock.monotonic(), 0.0)
        text = (
            f"{size} bytes of it are buffered from offset {fetch.next_offset}, and their locks end "
            f"in {left_s:.3f} s: poll for them"
        )
        return explain_partition(tp, WaitReason.BUFFERED, text, node_id=where, size_in_bytes=size)
    return None


def _of_node(tp: TopicPartition, node_id: int, engine: ShareEngine) -> Explanation:
    wait = engine.client.network.node_wait(node_id, Lane.FETCH)
    if wait is not None:
        return explain_partition(
            tp, wait.reason, wait.text, node_id=node_id, delay_s=wait.delay_s, error=wait.error
        )
    delay_s = engine.fetcher.fetch_delay(node_id)
    if delay_s > 0:
        text = (
            f"the newest request to node {node_id} has failed; the next one is in {delay_s:.3f} s"
        )
        return explain_partition(
            tp, WaitReason.FETCH_FAILED, text, node_id=node_id, delay_s=delay_s
        )
    if engine.fetcher.is_asked_for(tp, node_id):
        text = f"a fetch is on its way to node {node_id}"
        if not engine.fetcher.has_acquired:
            text += _BEGINNING
        return explain_partition(tp, WaitReason.FETCHING, text, node_id=node_id)
    if engine.fetcher.is_busy(node_id):
        text = f"node {node_id} has to answer another request first"
        return explain_partition(tp, WaitReason.NODE_BUSY, text, node_id=node_id)
    text = f"nothing stands in the way: the next poll fetches it from node {node_id}"
    return explain_partition(tp, WaitReason.NOT_POLLED, text, node_id=node_id)


__all__ = ["explain_share_consumer"]
