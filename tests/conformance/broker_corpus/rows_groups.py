"""Rows about groups: classic, consumer (KIP-848) and share groups, and their offsets."""

import base64
from collections.abc import Callable
from typing import Any

from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from tests.conformance.broker_corpus.exchange import (
    Build,
    Case,
    Hear,
    Pause,
    Scene,
    Step,
    ask,
    do,
    each,
    fresh,
    q,
    sequence,
)
from tests.conformance.broker_corpus.steps import BIG, one, raw, record, topic, write

MEMBER_ID_REQUIRED = 79
RANGE = ConsumerProtocolMemberMetadata(0, ["t"], b"").encode()


# Classic groups…


def join(s: Scene, *, member: str = "", instance: str | None = None, **more: Any) -> Any:
    fields: dict[str, Any] = {
        "group_id": s.named("g"),
        "session_timeout_ms": 30_000,
        "member_id": member,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": RANGE}],
    }
    if s.version >= 1:
        fields["rebalance_timeout_ms"] = 30_000
    if instance is not None:
        fields["group_instance_id"] = instance
    return q("JoinGroup", **{**fields, **more})


def member_of(s: Scene, step: str = "id") -> str:
    told: str = s.answers[step].member_id
    return told


def generation_of(s: Scene, step: str = "join") -> int:
    told: int = s.answers[step].generation_id
    return told


def named_group(name: str) -> Callable[[Scene], dict[str, Any]]:
    return lambda s: {"group_id": s.named(name)}


def sync(s: Scene, *, member: str, generation: int, **more: Any) -> Any:
    fields: dict[str, Any] = {
        "group_id": s.named("g"),
        "generation_id": generation,
        "member_id": member,
        "assignments": [{"member_id": member, "assignment": b"mine"}],
    }
    if s.version >= 5:
        fields |= {"protocol_type": "consumer", "protocol_name": "range"}
    return q("SyncGroup", **{**fields, **more})


def beat(s: Scene, *, member: str, generation: int, **more: Any) -> Any:
    return q("Heartbeat", group_id=s.named("g"), generation_id=generation, member_id=member, **more)


def leave(s: Scene, *members: dict[str, Any]) -> Any:
    if s.version < 3:
        return q("LeaveGroup", group_id=s.named("g"), member_id=members[0]["member_id"])
    return q("LeaveGroup", group_id=s.named("g"), members=list(members))


def commit(
    s: Scene, *, generation: int = -1, member: str = "", offset: int = 5, **more: Any
) -> Any:
    partition = {"partition_index": more.pop("index", 0), "committed_offset": offset}
    partition["committed_metadata"] = more.pop("metadata", "")
    named = s.topic(more.pop("name", "t"), ids_since=10)
    return q(
        "OffsetCommit",
        group_id=s.named("g"),
        generation_id_or_member_epoch=generation,
        member_id=member,
        topics=[{**named, "partitions": [partition]}],
        **more,
    )


def committed(s: Scene, name: str = "t", group: str = "g", index: int = 0, **more: Any) -> Any:
    if s.version >= 8:
        named = s.topic(name, ids_since=10)
        asked = {"group_id": s.named(group), "topics": [{**named, "partition_indexes": [index]}]}
        return q("OffsetFetch", groups=[{**asked, **more}])
    topics = [{"name": s.named(name), "partition_indexes": [index]}]
    return q("OffsetFetch", group_id=s.named(group), topics=topics)


IN_GROUP = (
    do("id", join, version=3),
    do(
        "join",
        lambda s: join(s, member=member_of(s)),
        version=9,
    ),
    do("sync", lambda s: sync(s, member=member_of(s), generation=generation_of(s)), version=5),
)


def _in_group(s: Scene) -> dict[str, Any]:
    return {"member": member_of(s), "generation": generation_of(s)}


def _listed(s: Scene, answer: Any) -> Any:
    answer.groups = [group for group in answer.groups if group.group_id.startswith(s.prefix)]
    return answer


CLASSIC = (
    fresh("join as a new member", ask=join),
    fresh("join with an unknown member id", ask=lambda s: join(s, member="nobody")),
    fresh("join without protocols", ask=lambda s: join(s, protocols=[])),
    fresh("join without a protocol type", ask=lambda s: join(s, protocol_type="")),
    fresh("join with a session of 1 ms", ask=lambda s: join(s, session_timeout_ms=1)),
    fresh("join with a session of 2 hours", ask=lambda s: join(s, session_timeout_ms=7_200_000)),
    fresh("join without a group", ask=lambda s: join(s, group_id="")),
    fresh("join as a static member", ask=lambda s: join(s, instance="i")),
    fresh("join with a bad instance id", ask=lambda s: join(s, instance="a b")),
    fresh(
        "join other protocols",
        IN_GROUP,
        ask=lambda s: join(s, protocols=[{"name": "x", "metadata": b""}]),
    ),
    fresh("join another kind of group", IN_GROUP, ask=lambda s: join(s, protocol_type="connect")),
    fresh("join again alone", IN_GROUP, ask=lambda s: join(s, member=member_of(s))),
    each("sync", IN_GROUP, ask=lambda s: sync(s, **_in_group(s))),
    each(
        "sync of another generation",
        IN_GROUP,
        ask=lambda s: sync(s, member=member_of(s), generation=99),
    ),
    each("sync of nobody", IN_GROUP, ask=lambda s: sync(s, member="nobody", generation=1)),
    each("sync in no group", ask=lambda s: sync(s, member="nobody", generation=1)),
    each("sync without a group", ask=lambda s: sync(s, member="nobody", generation=1, group_id="")),
    sequence(
        "sync by another protocol",
        IN_GROUP,
        ask("answer", lambda s: sync(s, **_in_group(s), protocol_name="other")),
    ),
    sequence(
        "sync of another kind",
        IN_GROUP,
        ask("answer", lambda s: sync(s, **_in_group(s), protocol_type="other")),
    ),
    each("heartbeat", IN_GROUP, ask=lambda s: beat(s, **_in_group(s))),
    each(
        "heartbeat of another generation",
        IN_GROUP,
        ask=lambda s: beat(s, member=member_of(s), generation=99),
    ),
    each("heartbeat of nobody", IN_GROUP, ask=lambda s: beat(s, member="nobody", generation=1)),
    each("heartbeat in no group", ask=lambda s: beat(s, member="nobody", generation=1)),
    sequence(
        "heartbeat of an unknown instance",
        IN_GROUP,
        ask("answer", lambda s: beat(s, **_in_group(s), group_instance_id="i")),
    ),
    fresh("leave", IN_GROUP, ask=lambda s: leave(s, {"member_id": member_of(s)})),
    each("leave as nobody", IN_GROUP, ask=lambda s: leave(s, {"member_id": "nobody"})),
    each("leave no group", ask=lambda s: leave(s, {"member_id": "nobody"})),
    sequence(
        "leave by an unknown instance",
        IN_GROUP,
        ask("answer", lambda s: leave(s, {"member_id": "", "group_instance_id": "i"})),
    ),
    each(
        "describe a group with a member",
        IN_GROUP,
        ask=lambda s: q("DescribeGroups", groups=[s.named("g")]),
    ),
    each("describe no group", ask=lambda s: q("DescribeGroups", groups=[s.named("g")])),
    each(
        "describe a group with rights",
        IN_GROUP,
        ask=lambda s: q(
            "DescribeGroups", groups=[s.named("g")], include_authorized_operations=True
        ),
    ),
    each("list groups", IN_GROUP, ask=lambda s: q("ListGroups"), only=_listed),
    sequence(
        "list stable groups",
        IN_GROUP,
        ask(
            "answer",
            lambda s: q("ListGroups", states_filter=["Stable"]),
            only=_listed,
        ),
    ),
    sequence(
        "list groups of no state",
        IN_GROUP,
        ask(
            "answer",
            lambda s: q("ListGroups", states_filter=["What"]),
            only=_listed,
        ),
    ),
    sequence(
        "list groups of a type",
        IN_GROUP,
        ask(
            "answer",
            lambda s: q("ListGroups", types_filter=["CLASSIC"]),
            only=_listed,
        ),
    ),
    sequence(
        "list groups of no type",
        IN_GROUP,
        ask(
            "answer",
            lambda s: q("ListGroups", types_filter=["what"]),
            only=_listed,
        ),
    ),
    fresh(
        "delete a group with a member",
        IN_GROUP,
        ask=lambda s: q("DeleteGroups", groups_names=[s.named("g")]),
    ),
    each("delete no group", ask=lambda s: q("DeleteGroups", groups_names=[s.named("g")])),
    sequence(
        "a group rebalances",
        IN_GROUP,
        ask("second id", join, via="second", version=4),
        ask(
            "second joins",
            lambda s: join(s, member=member_of(s, "second id")),
            via="second",
            is_answered=False,
        ),
        ask("beat", lambda s: beat(s, **_in_group(s)), until=lambda a: a.error_code),
        ask("commit meanwhile", lambda s: commit(s, **_in_group(s)), version=9),
        do("rejoin", lambda s: join(s, member=member_of(s)), version=9),
        Hear("second joins", "second"),
        ask(
            "sync of the leader",
            lambda s: sync(s, member=member_of(s), generation=generation_of(s, "rejoin")),
        ),
        ask("old generation", lambda s: beat(s, **_in_group(s))),
    ),
    sequence(
        "a member's session ends",
        do("id", lambda s: join(s, session_timeout_ms=6_000), version=3),
        do("join", lambda s: join(s, member=member_of(s), session_timeout_ms=6_000), version=9),
        do("sync", lambda s: sync(s, **_in_group(s)), version=5),
        ask("in time", lambda s: beat(s, **_in_group(s))),
        Pause(7.5),
        ask("too late", lambda s: beat(s, **_in_group(s))),
        ask("described", lambda s: q("DescribeGroups", groups=[s.named("g")])),
    ),
    sequence(
        "a static member comes back",
        do("join", lambda s: join(s, instance="i"), version=9),
        do(
            "sync",
            lambda s: sync(
                s, member=member_of(s, "join"), generation=generation_of(s), group_instance_id="i"
            ),
            version=5,
        ),
        ask("again", lambda s: join(s, instance="i"), via="second"),
        ask(
            "the first beats",
            lambda s: beat(
                s, member=member_of(s, "join"), generation=generation_of(s), group_instance_id="i"
            ),
        ),
    ),
)


def _delete(s: Scene, name: str = "t") -> Any:
    topics = [{"name": s.named(name), "partitions": [{"partition_index": 0}]}]
    return q("OffsetDelete", group_id=s.named("g"), topics=topics)


OFFSETS = (
    fresh("commit outside", topic(), ask=commit, then=(ask("committed", committed),)),
    fresh("commit of a member", topic(), IN_GROUP, ask=lambda s: commit(s, **_in_group(s))),
    each(
        "commit of another generation",
        topic(),
        IN_GROUP,
        ask=lambda s: commit(s, member=member_of(s), generation=99),
    ),
    each(
        "commit of nobody",
        topic(),
        IN_GROUP,
        ask=lambda s: commit(s, member="nobody", generation=1),
    ),
    each("commit outside of a group with members", topic(), IN_GROUP, ask=commit),
    each(
        "commit of a member in no group",
        topic(),
        ask=lambda s: commit(s, member="nobody", generation=1),
    ),
    each("commit for no topic", ask=lambda s: commit(s, name="nothing")),
    each("commit for partition 9", topic(), ask=lambda s: commit(s, index=9)),
    each("commit with metadata of 5000", topic(), ask=lambda s: commit(s, metadata="m" * 5000)),
    each("commit a negative offset", topic(), ask=lambda s: commit(s, offset=-5)),
    each("committed of no group", topic(), ask=committed),
    each(
        "committed of no topic",
        topic(),
        do("commit", commit, version=8),
        ask=lambda s: committed(s, "nothing"),
    ),
    each(
        "committed of partition 9",
        topic(),
        do("commit", commit, version=8),
        ask=lambda s: committed(s, index=9),
    ),
    each(
        "committed of all topics",
        topic(),
        do("commit", commit, version=8),
        ask=lambda s: (
            q("OffsetFetch", groups=[{"group_id": s.named("g"), "topics": None}])
            if s.version >= 8
            else q("OffsetFetch", group_id=s.named("g"), topics=None)
        ),
    ),
    sequence(
        "committed as a member that is none",
        topic(),
        do("commit", commit, version=8),
        ask("answer", lambda s: committed(s, member_id="nobody", member_epoch=1)),
    ),
    each(
        "committed, stable",
        topic(),
        do("commit", commit, version=8),
        ask=lambda s: (
            q(
                "OffsetFetch",
                groups=[{"group_id": s.named("g"), "topics": None}],
                require_stable=True,
            )
            if s.version >= 8
            else q(
                "OffsetFetch",
                group_id=s.named("g"),
                topics=None,
                **({"require_stable": True} if s.version == 7 else {}),
            )
        ),
    ),
    each("delete offsets", topic(), do("commit", commit, version=8), ask=_delete),
    each("delete offsets of no group", topic(), ask=_delete),
    each("delete offsets of a topic that is read", topic(), IN_GROUP, ask=_delete),
    each(
        "delete offsets of no topic",
        topic(),
        do("commit", commit, version=8),
        ask=lambda s: _delete(s, "nothing"),
    ),
    fresh(
        "delete an empty group",
        topic(),
        do("commit", commit, version=8),
        ask=lambda s: q("DeleteGroups", groups_names=[s.named("g")]),
        then=(ask("committed", committed),),
    ),
    sequence(
        "a group without members is described",
        topic(),
        do("commit", commit, version=8),
        ask("described", lambda s: q("DescribeGroups", groups=[s.named("g")])),
        ask("listed", lambda s: q("ListGroups"), only=_listed),
    ),
)


# Consumer groups (KIP-848)…


def id_of(s: Scene, name: str) -> str:
    """Return a member id that is the same in each run, in the form of Java's Uuid."""
    made = f"{s.prefix}{name}".encode().ljust(16, b"x")[:16]
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


def heartbeat(s: Scene, epoch: int = 0, name: str = "m", **more: Any) -> Any:
    fields: dict[str, Any] = {
        "group_id": s.named("g"),
        "member_id": id_of(s, name),
        "member_epoch": epoch,
    }
    if epoch == 0:
        fields |= {
            "rebalance_timeout_ms": 30_000,
            "subscribed_topic_names": [s.named("t")],
            "topic_partitions": [],
        }
    return q("ConsumerGroupHeartbeat", **{**fields, **more})


def _assigned(answer: Any) -> bool:
    return answer.assignment is not None and bool(answer.assignment.topic_partitions)


CONSUMER = (
    fresh("consumer group: join", topic(), ask=heartbeat),
    each("consumer group: no id of a member", topic(), ask=lambda s: heartbeat(s, member_id="")),
    each("consumer group: no group", topic(), ask=lambda s: heartbeat(s, group_id="")),
    each("consumer group: an epoch of a stranger", topic(), ask=lambda s: heartbeat(s, 5)),
    each("consumer group: a leave of a stranger", topic(), ask=lambda s: heartbeat(s, -1)),
    each("consumer group: epoch -5", topic(), ask=lambda s: heartbeat(s, -5)),
    each(
        "consumer group: no rebalance timeout",
        topic(),
        ask=lambda s: heartbeat(s, rebalance_timeout_ms=-1),
    ),
    each(
        "consumer group: no topics",
        topic(),
        ask=lambda s: heartbeat(s, subscribed_topic_names=None),
    ),
    fresh(
        "consumer group: empty topics",
        topic(),
        ask=lambda s: heartbeat(s, subscribed_topic_names=[]),
    ),
    each(
        "consumer group: an unknown assignor",
        topic(),
        ask=lambda s: heartbeat(s, server_assignor="what"),
    ),
    each(
        "consumer group: partitions at the start",
        topic(),
        ask=lambda s: heartbeat(
            s, topic_partitions=[{"topic_id": s.topic_ids["t"], "partitions": [0]}]
        ),
    ),
    each(
        "consumer group: an empty instance id", topic(), ask=lambda s: heartbeat(s, instance_id="")
    ),
    each(
        "consumer group: a static leave without an instance",
        topic(),
        ask=lambda s: heartbeat(s, -2),
    ),
    sequence(
        "consumer group: a bad regex",
        topic(),
        ask(
            "answer",
            lambda s: heartbeat(s, subscribed_topic_regex="[", subscribed_topic_names=None),
        ),
    ),
    sequence(
        "a consumer group's life",
        topic("t", 2),
        ask("join", heartbeat, until=_assigned),
        ask("beat", lambda s: heartbeat(s, s.answers["join"].member_epoch)),
        ask("a wrong epoch", lambda s: heartbeat(s, 99)),
        ask("described", lambda s: q("ConsumerGroupDescribe", group_ids=[s.named("g")])),
        ask("described as classic", lambda s: q("DescribeGroups", groups=[s.named("g")])),
        ask(
            "described as a share group",
            lambda s: q("ShareGroupDescribe", group_ids=[s.named("g")]),
        ),
        ask("listed", lambda s: q("ListGroups"), only=_listed),
        ask(
            "commit",
            lambda s: commit(s, generation=s.answers["join"].member_epoch, member=id_of(s, "m")),
            version=9,
        ),
        ask(
            "commit of an old epoch",
            lambda s: commit(s, generation=0, member=id_of(s, "m")),
            version=9,
        ),
        ask(
            "commit of a coming epoch",
            lambda s: commit(s, generation=99, member=id_of(s, "m")),
            version=9,
        ),
        ask("commit of a stranger", lambda s: commit(s, generation=1, member="nobody"), version=9),
        ask("commit outside", commit, version=9),
        ask(
            "committed",
            lambda s: committed(
                s, member_id=id_of(s, "m"), member_epoch=s.answers["join"].member_epoch
            ),
        ),
        ask(
            "committed by an old epoch",
            lambda s: committed(s, member_id=id_of(s, "m"), member_epoch=0),
        ),
        ask("delete", lambda s: q("DeleteGroups", groups_names=[s.named("g")])),
        ask("leave", lambda s: heartbeat(s, -1)),
        ask("beat of one that left", lambda s: heartbeat(s, 1)),
        ask("described empty", lambda s: q("ConsumerGroupDescribe", group_ids=[s.named("g")])),
    ),
    sequence(
        "two members of a consumer group",
        topic("t", 2),
        do("join", heartbeat, until=_assigned),
        ask("second", lambda s: heartbeat(s, name="n")),
        ask(
            "first gives up",
            lambda s: heartbeat(s, s.answers["join"].member_epoch),
            until=_assigned,
        ),
    ),
    sequence(
        "a static member of a consumer group",
        topic(),
        do("join", lambda s: heartbeat(s, instance_id="i"), until=_assigned),
        ask("another of that instance", lambda s: heartbeat(s, name="n", instance_id="i")),
        ask("leave for a moment", lambda s: heartbeat(s, -2, instance_id="i")),
        ask("the other again", lambda s: heartbeat(s, name="n", instance_id="i")),
        ask("the first again", lambda s: heartbeat(s, 1, instance_id="i")),
    ),
    each(
        "describe no consumer group",
        ask=lambda s: q("ConsumerGroupDescribe", group_ids=[s.named("g")]),
    ),
    each(
        "describe a classic group as a consumer group",
        IN_GROUP,
        ask=lambda s: q("ConsumerGroupDescribe", group_ids=[s.named("g")]),
    ),
    each(
        "describe no group by its empty name",
        ask=lambda s: q("ConsumerGroupDescribe", group_ids=[""]),
    ),
    each(
        "describe no streams group",
        ask=lambda s: q("StreamsGroupDescribe", group_ids=[s.named("g")]),
    ),
    each(
        "describe a classic group as a streams group",
        IN_GROUP,
        ask=lambda s: q("StreamsGroupDescribe", group_ids=[s.named("g")]),
    ),
)


# Share groups…


def share_beat(s: Scene, epoch: int = 0, name: str = "m", **more: Any) -> Any:
    fields: dict[str, Any] = {
        "group_id": s.named("g"),
        "member_id": id_of(s, name),
        "member_epoch": epoch,
    }
    if epoch == 0:
        fields |= {"subscribed_topic_names": [s.named("t")]}
    return q("ShareGroupHeartbeat", **{**fields, **more})


def share_fetch(
    s: Scene, epoch: int, *acks: tuple[int, int, list[int]], name: str = "m", **more: Any
) -> Any:
    batches = [{"first_offset": a, "last_offset": b, "acknowledge_types": c} for a, b, c in acks]
    partition = {"partition_index": 0, "acknowledgement_batches": batches}
    topics = [{"topic_id": s.topic_ids["t"], "partitions": [partition]}]
    fields = {
        "group_id": s.named("g"),
        "member_id": id_of(s, name),
        "share_session_epoch": epoch,
        "max_wait_ms": 500,
        "min_bytes": 1,
        "max_bytes": BIG,
        "max_records": 500,
        "batch_size": 500,
        "topics": topics,
    }
    return q("ShareFetch", **{**fields, **more})


def share_ack(
    s: Scene, epoch: int, *acks: tuple[int, int, list[int]], name: str = "m", **more: Any
) -> Any:
    batches = [{"first_offset": a, "last_offset": b, "acknowledge_types": c} for a, b, c in acks]
    partition = {"partition_index": 0, "acknowledgement_batches": batches}
    topics = [{"topic_id": s.topic_ids["t"], "partitions": [partition]}]
    return q(
        "ShareAcknowledge",
        **{
            "group_id": s.named("g"),
            "member_id": id_of(s, name),
            "share_session_epoch": epoch,
            "topics": topics,
            **more,
        },
    )


def _got(answer: Any) -> bool:
    return any(
        p.acquired_records or p.error_code for t in answer.responses for p in t.partitions
    ) or bool(answer.error_code)


def _group_setting(*settings: tuple[str, str]) -> Build:
    def build(s: Scene) -> Any:
        configs = [{"name": n, "config_operation": 0, "value": v} for n, v in settings]
        return q(
            "IncrementalAlterConfigs",
            resources=[{"resource_type": 32, "resource_name": s.named("g"), "configs": configs}],
        )

    return build


THREE = raw(record(0, b"a"), record(1, b"b"), record(2, b"c"))


def _share(
    *settings: tuple[str, str], before: tuple[Any, ...] = (), data: Any = THREE
) -> tuple[Any, ...]:
    """The steps of a member that is assigned the records of a topic."""
    return (
        *topic(),
        *before,
        do("earliest", _group_setting(("share.auto.offset.reset", "earliest"), *settings)),
        Pause(0.1),
        do("joins", share_beat, until=_assigned),
        Pause(0.5),  # a real coordinator initializes its state
        write(data),
    )


def _first(s: Scene) -> Any:
    return share_fetch(s, 0)


def _groups_offsets(s: Scene) -> Any:
    topics = [{"topic_name": s.named("t"), "partitions": [0]}]
    return q("DescribeShareGroupOffsets", groups=[{"group_id": s.named("g"), "topics": topics}])


def _opened() -> tuple[Step, ...]:
    """A session, whose first answers of a real broker may be empty: it reads its state."""
    return (ask("first", lambda s: share_fetch(s, s.share_epoch), until=_got),)


def _acks(
    name: str,
    *acks: tuple[int, int, list[int]],
    then: tuple[Any, ...] = (),
    settings: tuple[tuple[str, str], ...] = (),
    **more: Any,
) -> Case:
    return sequence(
        f"share group: {name}",
        *_share(*settings),
        *_opened(),
        ask("acknowledged", lambda s: share_ack(s, s.share_epoch, *acks, **more)),
        *then,
    )


AGAIN = (
    ask("fetched again", lambda s: share_fetch(s, s.share_epoch)),
    ask("offsets", _groups_offsets),
)
SHARE = (
    fresh("share group: join", topic(), ask=share_beat),
    each("share group: no id of a member", topic(), ask=lambda s: share_beat(s, member_id="")),
    each("share group: no group", topic(), ask=lambda s: share_beat(s, group_id="")),
    each("share group: an epoch of a stranger", topic(), ask=lambda s: share_beat(s, 5)),
    each("share group: a leave of a stranger", topic(), ask=lambda s: share_beat(s, -1)),
    each("share group: epoch -5", topic(), ask=lambda s: share_beat(s, -5)),
    each(
        "share group: no topics", topic(), ask=lambda s: share_beat(s, subscribed_topic_names=None)
    ),
    each(
        "describe no share group", ask=lambda s: q("ShareGroupDescribe", group_ids=[s.named("g")])
    ),
    each(
        "describe a classic group as a share group",
        IN_GROUP,
        ask=lambda s: q("ShareGroupDescribe", group_ids=[s.named("g")]),
    ),
    each("share offsets of no group", topic(), ask=_groups_offsets),
    each("share fetch without a session", topic(), ask=lambda s: share_fetch(s, 5)),
    each("share fetch of no group", topic(), ask=lambda s: share_fetch(s, 0, group_id="")),
    each("share fetch of a bad member", topic(), ask=lambda s: share_fetch(s, 0, member_id="x")),
    each("share fetch that ends no session", topic(), ask=lambda s: share_fetch(s, -1)),
    each(
        "share fetch with acknowledgements at once",
        topic(),
        ask=lambda s: share_fetch(s, 0, (0, 0, [1])),
    ),
    each(
        "share acknowledge without a session", topic(), ask=lambda s: share_ack(s, 5, (0, 0, [1]))
    ),
    each("share acknowledge at once", topic(), ask=lambda s: share_ack(s, 0, (0, 0, [1]))),
    sequence(
        "a share group's life",
        *_share(),
        ask("described", lambda s: q("ShareGroupDescribe", group_ids=[s.named("g")])),
        ask("described as classic", lambda s: q("DescribeGroups", groups=[s.named("g")])),
        ask("listed", lambda s: q("ListGroups"), only=_listed),
        *_opened(),
        ask("acknowledged", lambda s: share_ack(s, s.share_epoch, (0, 2, [1]))),
        ask("a wrong epoch", lambda s: share_ack(s, 99, (0, 2, [1]))),
        ask("offsets", _groups_offsets),
        ask("deleted", lambda s: q("DeleteGroups", groups_names=[s.named("g")])),
        ask("session ends", lambda s: share_fetch(s, -1, topics=[])),
        ask("leaves", lambda s: share_beat(s, -1)),
        ask("described empty", lambda s: q("ShareGroupDescribe", group_ids=[s.named("g")])),
        ask(
            "offsets are moved",
            lambda s: q(
                "AlterShareGroupOffsets",
                group_id=s.named("g"),
                topics=[
                    {
                        "topic_name": s.named("t"),
                        "partitions": [{"partition_index": 0, "start_offset": 1}],
                    }
                ],
            ),
        ),
        ask("offsets after that", _groups_offsets),
        ask(
            "offsets are deleted",
            lambda s: q(
                "DeleteShareGroupOffsets",
                group_id=s.named("g"),
                topics=[{"topic_name": s.named("t")}],
            ),
        ),
        ask("offsets at last", _groups_offsets),
    ),
    _acks("accept", (0, 2, [1]), then=AGAIN),
    _acks("release", (0, 2, [2]), then=AGAIN),
    _acks("reject", (0, 2, [3]), then=AGAIN),
    _acks("each in its way", (0, 2, [1, 2, 3]), then=AGAIN),
    _acks("a part", (1, 1, [1]), then=AGAIN),
    _acks(
        "twice",
        (0, 2, [1]),
        then=(ask("again", lambda s: share_ack(s, s.share_epoch, (0, 2, [1]))),),
    ),
    _acks("beyond the end", (0, 9, [1])),
    _acks("backwards", (2, 0, [1])),
    _acks("a negative offset", (-1, 0, [1])),
    _acks("overlapping", (0, 1, [1]), (1, 2, [1])),
    _acks("type 9", (0, 2, [9])),
    _acks("too many types", (0, 2, [1, 1, 1, 1])),
    _acks("too few types", (0, 2, [1, 1])),
    _acks("no types", (0, 2, [])),
    _acks("gaps", (0, 2, [0])),
    _acks("renew", (0, 2, [4]), is_renew_ack=True),
    _acks("renew without saying so", (0, 2, [4])),
    _acks(
        "renew where it is off",
        (0, 2, [4]),
        settings=(("share.renew.acknowledge.enable", "false"),),
        is_renew_ack=True,
    ),
    sequence(
        "share group: a lock ends",
        *_share(("share.record.lock.duration.ms", "15000")),
        *_opened(),
        ask("renewed", lambda s: share_beat(s, s.answers["joins"].member_epoch)),
        Pause(16),
        ask("late", lambda s: share_ack(s, s.share_epoch, (0, 2, [1]))),
        ask("again", lambda s: share_fetch(s, s.share_epoch)),
    ),
    sequence(
        "share group: few records by their number",
        *_share(),
        ask("first", lambda s: share_fetch(s, 0, max_records=1, share_acquire_mode=1)),
    ),
    sequence(
        "share group: a delivery limit of 2",
        *_share(("share.delivery.count.limit", "2")),
        *_opened(),
        ask("released", lambda s: share_ack(s, s.share_epoch, (0, 2, [2]))),
        ask("second", lambda s: share_fetch(s, s.share_epoch)),
        ask("released again", lambda s: share_ack(s, s.share_epoch, (0, 0, [2]))),
        ask("third", lambda s: share_fetch(s, s.share_epoch)),
    ),
)


# Dead letters of share groups (KIP-1191)…

PREFIX = "dlq."


def _dead_topic(configs: dict[str, str] | None = None, partitions: int = 1) -> tuple[Step, ...]:
    """The topic of dead letters, whose name begins with Kafka's prefix in each run."""

    def create(s: Scene) -> Any:
        given = {"errors.deadletterqueue.group.enable": "true"} if configs is None else configs
        rows = [{"name": n, "value": v} for n, v in given.items()]
        made = {
            "name": PREFIX + s.named("d"),
            "num_partitions": partitions,
            "replication_factor": 1,
            "configs": rows,
        }
        return q("CreateTopics", topics=[made], timeout_ms=9000)

    def know(s: Scene) -> Any:
        s.topic_ids["dead"] = s.answers["dead"].topics[0].topic_id
        rows = [{"partition_index": i, "timestamp": -1} for i in range(partitions)]
        return q(
            "ListOffsets",
            replica_id=-1,
            topics=[{"name": PREFIX + s.named("d"), "partitions": rows}],
        )

    return (
        do("dead", create),
        do(
            "dead leads",
            know,
            version=7,
            until=lambda a: not any(p.error_code for t in a.topics for p in t.partitions),
        ),
    )


def _dead_letters(s: Scene) -> Any:
    asked = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": BIG}
    return q(
        "Fetch",
        replica_id=-1,
        max_wait_ms=100,
        min_bytes=1,
        max_bytes=BIG,
        topics=[{"topic": PREFIX + s.named("d"), "partitions": [asked]}],
    )


def _dead_name(*settings: tuple[str, str]) -> tuple[Any, ...]:
    def build(s: Scene) -> Any:
        told = (("errors.deadletterqueue.topic.name", PREFIX + s.named("d")), *settings)
        return _group_setting(*told)(s)

    return (do("dead letters", build), Pause(0.2))


def _dead(
    name: str,
    *acks: tuple[int, int, list[int]],
    settings: tuple[tuple[str, str], ...] = (),
    configs: dict[str, str] | None = None,
    makes: bool = True,
    data: Any = THREE,
    more: tuple[Any, ...] = (),
) -> Case:
    before = (*(_dead_topic(configs) if makes else ()), *_dead_name(*settings))
    return sequence(
        f"dead letters: {name}",
        *_share(before=before, data=data),
        *_opened(),
        ask("acknowledged", lambda s: share_ack(s, s.share_epoch, *acks)),
        *more,
        Pause(1.5),
        *((ask("dead letters are", _dead_letters, version=12),) if makes else ()),
    )


HEADERS = raw(record(0, b"a", b"k", headers=[(b"h", b"x")]))
DEAD = (
    _dead("of what is rejected", (0, 2, [3, 1, 3])),
    _dead("of what is accepted", (0, 2, [1])),
    _dead(
        "with the record",
        (0, 0, [3]),
        settings=(("errors.deadletterqueue.copy.record.enable", "true"),),
        data=HEADERS,
    ),
    _dead("without the record", (0, 0, [3]), data=HEADERS),
    _dead("of a topic that takes none", (0, 0, [3]), configs={}),
    _dead(
        "of a compacted topic",
        (0, 0, [3]),
        configs={"errors.deadletterqueue.group.enable": "true", "cleanup.policy": "compact"},
    ),
    _dead(
        "of a topic with log append time",
        (0, 0, [3]),
        configs={
            "errors.deadletterqueue.group.enable": "true",
            "message.timestamp.type": "LogAppendTime",
        },
    ),
    _dead(
        "of a topic with zstd",
        (0, 0, [3]),
        configs={"errors.deadletterqueue.group.enable": "true", "compression.type": "zstd"},
    ),
    _dead("of a topic that is not there", (0, 0, [3]), makes=False),
    _dead(
        "at the delivery limit",
        (0, 0, [2]),
        settings=(("share.delivery.count.limit", "2"),),
        data=one(),
        more=(
            ask("second", lambda s: share_fetch(s, s.share_epoch), until=None),
            ask("released again", lambda s: share_ack(s, s.share_epoch, (0, 0, [2]))),
        ),
    ),
)


ROWS = (*CLASSIC, *OFFSETS, *CONSUMER, *SHARE, *DEAD)

__all__ = ["ROWS"]
