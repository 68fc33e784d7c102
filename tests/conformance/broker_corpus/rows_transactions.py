"""Rows about idempotent and transactional producers."""

from typing import Any

from tests.conformance.broker_corpus.exchange import (
    Pause,
    Scene,
    ask,
    do,
    each,
    find_error,
    fresh,
    q,
    sequence,
)
from tests.conformance.broker_corpus.steps import fetch, offsets, one, produce, topic, write

TRANSACTIONAL = 0x10


def init(s: Scene, name: str | None = "x", timeout: int = 60_000, **more: Any) -> Any:
    return q(
        "InitProducerId",
        transactional_id=None if name is None else s.named(name),
        transaction_timeout_ms=timeout,
        **more,
    )


def producer(s: Scene, step: str = "init", epoch: int = 0) -> dict[str, Any]:
    told = s.answers[step]
    return {"producer_id": told.producer_id, "producer_epoch": told.producer_epoch + epoch}


def add(s: Scene, name: str = "t", index: int = 0, epoch: int = 0) -> Any:
    topics = [{"name": s.named(name), "partitions": [index]}]
    who = producer(s, epoch=epoch)
    if s.version >= 4:
        told = {"transactional_id": s.named("x"), **who, "topics": topics, "verify_only": False}
        return q("AddPartitionsToTxn", transactions=[told])
    return q(
        "AddPartitionsToTxn",
        v3_and_below_transactional_id=s.named("x"),
        v3_and_below_producer_id=who["producer_id"],
        v3_and_below_producer_epoch=who["producer_epoch"],
        v3_and_below_topics=topics,
    )


def end(
    s: Scene, committed: bool = True, step: str = "init", epoch: int = 0, name: str = "x"
) -> Any:
    return q(
        "EndTxn", transactional_id=s.named(name), **producer(s, step, epoch), committed=committed
    )


def _abort(s: Scene) -> Any:
    return end(s, committed=False)


def _stable_offsets(s: Scene) -> Any:
    topics = [{"name": s.named("t"), "partition_indexes": [0]}]
    group = {"group_id": s.named("g"), "topics": topics}
    return q("OffsetFetch", groups=[group], require_stable=True)


def batch(s: Scene, sequence_: int = 0, step: str = "init", epoch: int = 0) -> bytes:
    who = producer(s, step, epoch)
    return one(
        attributes=TRANSACTIONAL,
        producer=(who["producer_id"], who["producer_epoch"], sequence_),
        base_time=s.now_ms,  # a marker's time far from it would begin a segment
    )


def send(s: Scene, sequence_: int = 0, **more: Any) -> Any:
    return produce(s, batch(s, sequence_, **more), transactional_id=s.named("x"))


def add_group(s: Scene, group: str = "g") -> Any:
    return q(
        "AddOffsetsToTxn", transactional_id=s.named("x"), group_id=s.named(group), **producer(s)
    )


def commit_in_txn(s: Scene, name: str = "t", **more: Any) -> Any:
    partition = {
        "partition_index": more.pop("index", 0),
        "committed_offset": 5,
        "committed_metadata": "",
    }
    return q(
        "TxnOffsetCommit",
        transactional_id=s.named("x"),
        group_id=s.named("g"),
        **producer(s),
        topics=[{**s.topic(name, ids_since=6), "partitions": [partition]}],
        **more,
    )


def described(s: Scene) -> Any:
    return q("DescribeTransactions", transactional_ids=[s.named("x")])


def listed(s: Scene, **more: Any) -> Any:
    return q("ListTransactions", **more)


def _of_scene(s: Scene, answer: Any) -> Any:
    answer.transaction_states = [
        each_state
        for each_state in answer.transaction_states
        if each_state.transactional_id.startswith(s.prefix)
    ]
    return answer


def _is_over(answer: Any) -> bool:
    return bool(answer.error_code != 51)


def _is_added(answer: Any) -> bool:
    (topic_,) = answer.results_by_topic_v3_and_below
    return bool(topic_.results_by_partition[0].partition_error_code != 51)


def _has_ended(answer: Any) -> bool:
    return not answer.transaction_states[0].transaction_state.startswith("Prepare")


INIT = (*topic(), do("init", init, version=5))
OPEN = (*INIT, do("sent", send, version=12))
ADDED = (do("added", add, version=3), do("sent", send, version=11))
"""What begins a transaction in the versions before KIP-890."""

ROWS = (
    fresh("an idempotent producer", ask=lambda s: init(s, None)),
    fresh("a transactional producer", ask=init),
    fresh("a transactional producer with timeout 0", ask=lambda s: init(s, timeout=0)),
    fresh("a transactional producer with timeout -1", ask=lambda s: init(s, timeout=-1)),
    fresh("a transactional producer with a long timeout", ask=lambda s: init(s, timeout=2**31 - 1)),
    fresh(
        "a transactional producer without a name",
        ask=lambda s: q("InitProducerId", transactional_id="", transaction_timeout_ms=1000),
    ),
    sequence(
        "an idempotent producer with an id",
        ask("answer", lambda s: init(s, None, producer_id=5, producer_epoch=1)),
    ),
    sequence(
        "a producer with an epoch and no id",
        ask("answer", lambda s: init(s, producer_id=-1, producer_epoch=1)),
    ),
    sequence("a producer with an id and no epoch", ask("answer", lambda s: init(s, producer_id=5))),
    sequence(
        "a producer with another's id",
        do("init", init),
        ask("answer", lambda s: init(s, producer_id=987654, producer_epoch=0)),
    ),
    sequence(
        "a producer begins anew", do("init", init), ask("again", init), ask("once more", init)
    ),
    sequence(
        "a producer keeps its id", do("init", init), ask("again", lambda s: init(s, **producer(s)))
    ),
    sequence(
        "an old epoch begins anew",
        do("init", init),
        do("again", init),
        ask("old", lambda s: init(s, **producer(s))),
    ),
    each("add a partition", INIT, ask=add),
    each("add partition 9", INIT, ask=lambda s: add(s, index=9)),
    each("add a partition of no topic", INIT, ask=lambda s: add(s, "nothing")),
    each("add a partition by a coming epoch", INIT, ask=lambda s: add(s, epoch=3)),
    sequence(
        "verify a partition",
        INIT,
        ask(
            "answer",
            lambda s: q(
                "AddPartitionsToTxn",
                transactions=[
                    {
                        "transactional_id": s.named("x"),
                        **producer(s),
                        "verify_only": True,
                        "topics": [{"name": s.named("t"), "partitions": [0]}],
                    }
                ],
            ),
        ),
    ),
    sequence(
        "add a partition of no producer",
        topic(),
        ask(
            "answer",
            lambda s: q(
                "AddPartitionsToTxn",
                v3_and_below_transactional_id=s.named("x"),
                v3_and_below_producer_id=5,
                v3_and_below_producer_epoch=0,
                v3_and_below_topics=[{"name": s.named("t"), "partitions": [0]}],
            ),
            version=3,
        ),
    ),
    each("end without a beginning", INIT, ask=end),
    each("abort without a beginning", INIT, ask=lambda s: end(s, committed=False)),
    each("end by a coming epoch", INIT, ask=lambda s: end(s, epoch=3)),
    sequence(
        "end of no producer",
        ask(
            "answer",
            lambda s: q(
                "EndTxn",
                transactional_id=s.named("x"),
                producer_id=5,
                producer_epoch=0,
                committed=True,
            ),
        ),
    ),
    fresh(
        "commit a transaction",
        OPEN,
        ask=end,
        then=(
            ask(
                "described",
                described,
                until=_has_ended,
            ),
            ask("records", lambda s: fetch(s, isolation_level=1), version=12),
            ask("end", lambda s: offsets(s, -1, isolation=1)),
        ),
    ),
    fresh(
        "abort a transaction",
        OPEN,
        ask=lambda s: end(s, committed=False),
        then=(
            ask(
                "described",
                described,
                until=_has_ended,
            ),
            ask("records", lambda s: fetch(s, isolation_level=1), version=12),
            ask("all records", fetch, version=12),
        ),
    ),
    sequence(
        "an open transaction",
        OPEN,
        ask("described", described),
        ask("listed", listed, only=_of_scene),
        ask("listed, ongoing", lambda s: listed(s, state_filters=["Ongoing"]), only=_of_scene),
        ask("listed, of no state", lambda s: listed(s, state_filters=["What"]), only=_of_scene),
        ask(
            "listed, by producer",
            lambda s: listed(s, producer_id_filters=[s.answers["init"].producer_id]),
            only=_of_scene,
        ),
        ask("listed, by age", lambda s: listed(s, duration_filter=600_000), only=_of_scene),
        ask(
            "listed, by a pattern",
            lambda s: listed(s, transactional_id_pattern="nobody.*"),
            only=_of_scene,
        ),
        ask(
            "listed, by a bad pattern",
            lambda s: listed(s, transactional_id_pattern="("),
            only=_of_scene,
        ),
        ask(
            "producers",
            lambda s: q(
                "DescribeProducers", topics=[{"name": s.named("t"), "partition_indexes": [0]}]
            ),
        ),
        ask("committed end", lambda s: offsets(s, -1, isolation=1)),
        ask("end", lambda s: offsets(s, -1)),
        ask("committed records", lambda s: fetch(s, isolation_level=1), version=12),
        ask("records", fetch, version=12),
    ),
    sequence(
        "a transaction writes in other ways",
        INIT,
        ask("no id", lambda s: produce(s, batch(s))),
        ask("another id", lambda s: produce(s, batch(s), transactional_id=s.named("other"))),
        ask("an old version and no partition added", send, version=11),
        ask("a newer epoch", lambda s: send(s, epoch=5)),
        ask("well", send),
        ask("a gap", lambda s: send(s, 5)),
        ask(
            "not in the transaction", lambda s: produce(s, one(producer=(*producer(s).values(), 1)))
        ),
    ),
    sequence(
        "a fenced transaction",
        OPEN,
        ask("again", init, until=_is_over),
        ask("the old sends", lambda s: send(s, 1)),
        ask("the old sends, old version", lambda s: send(s, 1), version=11),
        ask("the old ends", end),
        ask("the old ends, old version", end, version=4),
        ask("the old adds", add, version=3),
        ask("the old adds a group", add_group),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    sequence(
        "a transaction's time is over",
        topic(),
        do("init", lambda s: init(s, timeout=1000), version=5),
        do("sent", send, version=12),
        Pause(4),
        ask("described", described),
        ask("sends", lambda s: send(s, 1)),
        ask("ends", end),
        ask("begins anew", init, until=_is_over),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    sequence(
        "two transactions in a row",
        OPEN,
        ask("first ends", end),
        ask(
            "its epoch grows",
            described,
            until=lambda a: a.transaction_states[0].transaction_state == "CompleteCommit",
        ),
        ask("the old epoch sends", lambda s: send(s, 1)),
        ask("the new epoch sends", lambda s: send(s, 0, step="first ends")),
        ask("second ends", lambda s: end(s, step="first ends")),
        ask("first ends again", end, until=_is_over),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    *(
        sequence(
            f"before KIP-890: {name} a transaction",
            INIT,
            ADDED,
            ask("open", described),
            ask("committed end", lambda s: offsets(s, -1, isolation=1)),
            ask("ends", done, version=4),
            ask("described", described, until=_has_ended),
            ask("ends again", done, version=4),
            ask("ends otherwise", otherwise, version=4),
            ask("records", lambda s: fetch(s, isolation_level=1), version=12),
        )
        for name, done, otherwise in (("commit", end, _abort), ("abort", _abort, end))
    ),
    sequence(
        "before KIP-890: a fenced transaction",
        INIT,
        ADDED,
        ask("again", init, version=5, until=_is_over),
        ask("the old sends", lambda s: send(s, 1), version=11),
        ask("the old ends", end, version=4),
        ask("the old adds", add, version=3),
        ask("the old adds a group", add_group, version=3),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    sequence(
        "before KIP-890: a transaction's time is over",
        topic(),
        do("init", lambda s: init(s, timeout=1000), version=5),
        ADDED,
        Pause(4),
        ask("described", described),
        ask("sends", lambda s: send(s, 1), version=11),
        ask("ends", end, version=4),
        ask("begins anew", init, version=5, until=_is_over),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    sequence(
        "before KIP-890: two transactions in a row",
        INIT,
        ADDED,
        ask("first ends", end, version=4),
        ask("added again", add, version=3, until=_is_added),
        ask("sends", lambda s: send(s, 1), version=11),
        ask("second ends", _abort, version=4),
        ask("described", described, until=_has_ended),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    sequence(
        "before KIP-890: offsets of a transaction",
        INIT,
        do("group", add_group, version=3),
        ask("committed", commit_in_txn, version=3),
        ask("before the end", _stable_offsets, version=8),
        ask("ends", end, version=4),
        ask(
            "after it",
            _stable_offsets,
            version=8,
            until=lambda a: not find_error(a),
        ),
    ),
    each("add a group", INIT, ask=add_group),
    each("commit in a transaction", INIT, do("group", add_group, version=3), ask=commit_in_txn),
    each(
        "commit in a transaction for no topic",
        INIT,
        do("group", add_group, version=3),
        ask=lambda s: commit_in_txn(s, "nothing"),
    ),
    each(
        "commit in a transaction for partition 9",
        INIT,
        do("group", add_group, version=3),
        ask=lambda s: commit_in_txn(s, index=9),
    ),
    sequence(
        "commit in a transaction as a member that is none",
        INIT,
        do("group", add_group, version=3),
        ask(
            "answer",
            lambda s: commit_in_txn(s, member_id="nobody", generation_id_or_member_epoch=1),
        ),
    ),
    sequence(
        "commit in a transaction without the group, old version",
        INIT,
        ask("answer", commit_in_txn, version=4),
    ),
    sequence(
        "offsets of a transaction",
        INIT,
        do("group", add_group, version=4),
        do("commit", commit_in_txn, version=5),
        ask(
            "before the end",
            lambda s: q("OffsetFetch", groups=[{"group_id": s.named("g"), "topics": None}]),
            version=9,
        ),
        ask(
            "before the end, stable",
            lambda s: q(
                "OffsetFetch",
                groups=[
                    {
                        "group_id": s.named("g"),
                        "topics": [{"name": s.named("t"), "partition_indexes": [0]}],
                    }
                ],
                require_stable=True,
            ),
            version=9,
        ),
        ask("ends", end),
        ask(
            "after it",
            lambda s: q(
                "OffsetFetch",
                groups=[
                    {
                        "group_id": s.named("g"),
                        "topics": [{"name": s.named("t"), "partition_indexes": [0]}],
                    }
                ],
                require_stable=True,
            ),
            version=9,
            until=lambda a: not any(p.error_code for t in a.groups[0].topics for p in t.partitions),
        ),
    ),
    each("describe no transaction", ask=described),
    each(
        "describe a transaction without a name",
        ask=lambda s: q("DescribeTransactions", transactional_ids=[""]),
    ),
    sequence(
        "markers of an administrator",
        OPEN,
        ask(
            "answer",
            lambda s: q(
                "WriteTxnMarkers",
                markers=[
                    {
                        **producer(s),
                        "transaction_result": False,
                        "topics": [{"name": s.named("t"), "partition_indexes": [0, 9]}],
                        "coordinator_epoch": 0,
                    }
                ],
            ),
            version=1,
        ),
        ask("records", lambda s: fetch(s, isolation_level=1), version=12),
    ),
    sequence(
        "a compacted topic in a transaction",
        topic(configs={"cleanup.policy": "compact"}),
        do("init", init, version=5),
        ask(
            "no key",
            lambda s: produce(
                s,
                one(key=None, attributes=TRANSACTIONAL, producer=(*producer(s).values(), 0)),
                transactional_id=s.named("x"),
            ),
        ),
        ask("described", described),
        ask("a later batch", lambda s: send(s, 1)),
        ask("aborted", lambda s: end(s, committed=False)),
    ),
    sequence(
        "idempotence without a transaction",
        topic(),
        do("init", lambda s: init(s, None)),
        write(lambda s: one(producer=(*producer(s).values(), 0))),
        ask("again", lambda s: produce(s, one(producer=(*producer(s).values(), 0)))),
        ask("a gap", lambda s: produce(s, one(producer=(*producer(s).values(), 7)))),
        Pause(0),
    ),
)

__all__ = ["ROWS"]
