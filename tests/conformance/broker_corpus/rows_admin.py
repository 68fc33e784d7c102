"""Rows about topics, settings, users, rights and the cluster."""

from typing import Any
from uuid import UUID

from tests.conformance.broker_corpus.exchange import (
    Build,
    Pause,
    Scene,
    ask,
    do,
    each,
    fresh,
    q,
    sequence,
)
from tests.conformance.broker_corpus.steps import one, topic, write

SET, DELETE, APPEND, SUBTRACT = range(4)
TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32


# Metadata…


def metadata(s: Scene, *names: str, create: bool = False, **more: Any) -> Any:
    if create and s.version < 4:
        create = True  # older versions always ask for it
    elif s.version < 4:
        more.setdefault("allow_auto_topic_creation", True)
    else:
        more.setdefault("allow_auto_topic_creation", create)
    return q("Metadata", topics=[{"name": s.named(name)} for name in names], **more)


def by_id(s: Scene, *ids: UUID) -> Any:
    return q(
        "Metadata",
        topics=[{"topic_id": each_id, "name": None} for each_id in ids],
        allow_auto_topic_creation=False,
    )


METADATA = (
    each("metadata of a topic", topic("t", 3), ask=lambda s: metadata(s, "t")),
    each("metadata of two topics", topic("t"), topic("u", 2), ask=lambda s: metadata(s, "t", "u")),
    each("metadata of no topics", ask=metadata),
    each("metadata of a bad name", ask=lambda s: metadata(s, "a b")),
    each("metadata of a name of 300 letters", ask=lambda s: metadata(s, "n" * 300)),
    each(
        "metadata of a dot",
        ask=lambda s: q(
            "Metadata", topics=[{"name": "."}], allow_auto_topic_creation=s.version < 4
        ),
    ),
    each(
        "metadata of an empty name",
        ask=lambda s: q("Metadata", topics=[{"name": ""}], allow_auto_topic_creation=s.version < 4),
    ),
    sequence(
        "metadata of a topic that is not there", ask("answer", lambda s: metadata(s, "nothing"))
    ),
    sequence("metadata by id", topic(), ask("answer", lambda s: by_id(s, s.topic_ids["t"]))),
    sequence("metadata by an unknown id", ask("answer", lambda s: by_id(s, UUID(int=9)))),
    each(
        "metadata with the rights",
        topic(),
        ask=lambda s: metadata(s, "t", include_topic_authorized_operations=True),
    ),
    *(
        sequence(
            f"a topic is created by Metadata {version}",
            ask("first", lambda s: metadata(s, "new", create=True), version=version),
            ask(
                "later",
                lambda s: metadata(s, "new", create=True),
                version=version,
                until=lambda a: not a.topics[0].error_code and a.topics[0].partitions,
            ),
        )
        for version in (1, 4, 8, 9, 10, 12, 13)
    ),
    sequence(
        "two topics are created by Metadata, one bad",
        ask("first", lambda s: metadata(s, "new", "a b", create=True)),
        ask("at once", lambda s: metadata(s, "a b", create=True)),
    ),
    sequence(
        "Metadata does not create a colliding topic",
        topic("a.b"),
        ask("first", lambda s: metadata(s, "a_b", create=True)),
        Pause(0.5),
        ask("later", lambda s: metadata(s, "a_b", create=True)),
    ),
)


# Topics…


def create(s: Scene, *topics: dict[str, Any], **more: Any) -> Any:
    given = [
        {"num_partitions": 1, "replication_factor": 1, **each, "name": s.named(each["name"])}
        for each in topics
    ]
    return q("CreateTopics", topics=given, timeout_ms=9000, **more)


def _create(name: str, *topics: dict[str, Any], before: Any = (), **more: Any) -> Any:
    return fresh(f"create {name}", *before, ask=lambda s: create(s, *topics, **more))


def _configs(**given: str | None) -> list[dict[str, Any]]:
    return [{"name": k.replace("_", "."), "value": v} for k, v in given.items()]


CREATE = (
    _create("a topic", {"name": "t"}),
    _create("a topic of 3 partitions", {"name": "t", "num_partitions": 3}),
    _create("nothing"),
    _create(
        "a topic with the defaults", {"name": "t", "num_partitions": -1, "replication_factor": -1}
    ),
    _create("a topic twice in a request", {"name": "t"}, {"name": "t"}),
    _create("a topic that exists", {"name": "t"}, before=(topic(),)),
    _create("a topic only to check it", {"name": "t"}, validate_only=True),
    _create("a bad topic only to check it", {"name": "a b"}, validate_only=True),
    _create("a bad name", {"name": "a b"}),
    _create("a name of 300 letters", {"name": "n" * 300}),
    _create("0 partitions", {"name": "t", "num_partitions": 0}),
    _create("-2 partitions", {"name": "t", "num_partitions": -2}),
    _create("10001 partitions", {"name": "t", "num_partitions": 10_001}),
    _create(
        "10001 partitions in two topics",
        {"name": "t", "num_partitions": 5_001},
        {"name": "u", "num_partitions": 5_000},
    ),
    _create("0 replicas", {"name": "t", "replication_factor": 0}),
    _create("9 replicas", {"name": "t", "replication_factor": 9}),
    _create("a dot beside a bar", {"name": "a.b"}, before=(topic("a_b"),)),
    _create("a bar beside a dot", {"name": "a_b"}, before=(topic("a.b"),)),
    _create("a dot and a bar", {"name": "a.b"}, {"name": "a_b"}),
    _create("a setting", {"name": "t", "configs": _configs(retention_ms="1000")}),
    _create("an unknown setting", {"name": "t", "configs": _configs(what_is_this="1")}),
    _create("a setting without a value", {"name": "t", "configs": _configs(retention_ms=None)}),
    _create("a bad number", {"name": "t", "configs": _configs(retention_ms="soon")}),
    _create("a number out of range", {"name": "t", "configs": _configs(min_insync_replicas="0")}),
    _create("a bad word", {"name": "t", "configs": _configs(compression_type="rar")}),
    _create("a bad policy", {"name": "t", "configs": _configs(cleanup_policy="shred")}),
    _create("no policy", {"name": "t", "configs": _configs(cleanup_policy="")}),
    _create(
        "a setting twice",
        {"name": "t", "configs": [*_configs(retention_ms="1"), *_configs(retention_ms="2")]},
    ),
    _create(
        "replicas on node 1",
        {
            "name": "t",
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": [{"partition_index": 0, "broker_ids": [1]}],
        },
    ),
    _create(
        "replicas on node 9",
        {
            "name": "t",
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": [{"partition_index": 0, "broker_ids": [9]}],
        },
    ),
    _create(
        "replicas of partition 1 alone",
        {
            "name": "t",
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": [{"partition_index": 1, "broker_ids": [1]}],
        },
    ),
    _create(
        "a partition without replicas",
        {
            "name": "t",
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": [{"partition_index": 0, "broker_ids": []}],
        },
    ),
    _create(
        "a replica twice",
        {
            "name": "t",
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": [{"partition_index": 0, "broker_ids": [1, 1]}],
        },
    ),
    _create(
        "replicas and a number of partitions",
        {
            "name": "t",
            "num_partitions": 1,
            "replication_factor": -1,
            "assignments": [{"partition_index": 0, "broker_ids": [1]}],
        },
    ),
    _create(
        "a good and a bad topic", {"name": "t"}, {"name": "a b"}, {"name": "u", "num_partitions": 0}
    ),
)


def delete(s: Scene, *names: str, ids: tuple[UUID, ...] = ()) -> Any:
    if s.version < 6:
        return q("DeleteTopics", topic_names=[s.named(name) for name in names], timeout_ms=9000)
    told: list[dict[str, Any]] = [{"name": s.named(name)} for name in names]
    told += [{"name": None, "topic_id": each_id} for each_id in ids]
    return q("DeleteTopics", topics=told, timeout_ms=9000)


def partitions(s: Scene, count: int, name: str = "t", **more: Any) -> Any:
    asked = {"name": s.named(name), "count": count, "assignments": None, **more}
    return q("CreatePartitions", topics=[asked], timeout_ms=9000)


def described(s: Scene, *names: str, **more: Any) -> Any:
    told = [{"name": s.named(name)} for name in names]
    return q("DescribeTopicPartitions", topics=told, response_partition_limit=100, **more)


TOPICS = (
    fresh(
        "delete a topic",
        topic(),
        ask=lambda s: delete(s, "t"),
        then=(
            ask("is it there", lambda s: metadata(s, "t"), until=lambda a: a.topics[0].error_code),
        ),
    ),
    fresh("delete two topics", topic(), topic("u"), ask=lambda s: delete(s, "t", "u")),
    each("delete a topic that is not there", ask=lambda s: delete(s, "nothing")),
    each("delete nothing", ask=delete),
    fresh("delete a topic twice in a request", topic(), ask=lambda s: delete(s, "t", "t")),
    sequence(
        "delete a topic by id", topic(), ask("answer", lambda s: delete(s, ids=(s.topic_ids["t"],)))
    ),
    sequence("delete an unknown id", ask("answer", lambda s: delete(s, ids=(UUID(int=9),)))),
    sequence(
        "delete a topic by name and id",
        topic(),
        ask(
            "answer",
            lambda s: q(
                "DeleteTopics",
                topics=[{"name": s.named("t"), "topic_id": s.topic_ids["t"]}],
                timeout_ms=9000,
            ),
        ),
    ),
    fresh("more partitions", topic(), ask=lambda s: partitions(s, 3)),
    fresh("as many partitions", topic(), ask=lambda s: partitions(s, 1)),
    fresh("fewer partitions", topic("t", 3), ask=lambda s: partitions(s, 1)),
    each("-1 partitions", topic("t", 3), ask=lambda s: partitions(s, -1)),
    each("partitions of no topic", ask=lambda s: partitions(s, 3, "nothing")),
    fresh(
        "a partition on node 1",
        topic(),
        ask=lambda s: partitions(s, 2, assignments=[{"broker_ids": [1]}]),
    ),
    each(
        "a partition on node 9",
        topic(),
        ask=lambda s: partitions(s, 2, assignments=[{"broker_ids": [9]}]),
    ),
    each(
        "too few assignments",
        topic(),
        ask=lambda s: partitions(s, 3, assignments=[{"broker_ids": [1]}]),
    ),
    each(
        "an assignment of 2 nodes",
        topic(),
        ask=lambda s: partitions(s, 2, assignments=[{"broker_ids": [1, 1]}]),
    ),
    each(
        "partitions to check",
        topic(),
        ask=lambda s: q(
            "CreatePartitions",
            topics=[{"name": s.named("t"), "count": 5, "assignments": None}],
            timeout_ms=9000,
            validate_only=True,
        ),
    ),
    each(
        "partitions of a topic twice",
        topic(),
        ask=lambda s: q(
            "CreatePartitions",
            topics=[{"name": s.named("t"), "count": n, "assignments": None} for n in (2, 3)],
            timeout_ms=9000,
        ),
    ),
    each("20000 partitions", topic(), ask=lambda s: partitions(s, 20_000)),
    each("describe partitions", topic("t", 3), ask=lambda s: described(s, "t")),
    each("describe partitions of no topic", ask=lambda s: described(s, "nothing")),
    each("describe partitions of a bad name", ask=lambda s: described(s, "a b")),
    each(
        "describe 2 partitions of 3",
        topic("t", 3),
        ask=lambda s: q(
            "DescribeTopicPartitions", topics=[{"name": s.named("t")}], response_partition_limit=2
        ),
    ),
    each(
        "describe partitions from the second",
        topic("t", 3),
        ask=lambda s: described(s, "t", cursor={"topic_name": s.named("t"), "partition_index": 1}),
    ),
    each(
        "describe partitions from the ninth",
        topic("t", 3),
        ask=lambda s: described(s, "t", cursor={"topic_name": s.named("t"), "partition_index": 9}),
    ),
    each(
        "describe partitions from -1",
        topic("t", 3),
        ask=lambda s: described(s, "t", cursor={"topic_name": s.named("t"), "partition_index": -1}),
    ),
)


# Settings…


def settings(s: Scene, kind: int, name: str, *keys: str, **more: Any) -> Any:
    asked = {"resource_type": kind, "resource_name": name, "configuration_keys": [*keys] or None}
    return q("DescribeConfigs", resources=[asked], **more)


def alter(
    s: Scene, kind: int, name: str, *changes: tuple[str, int, str | None], **more: Any
) -> Any:
    configs = [{"name": n, "config_operation": done, "value": v} for n, done, v in changes]
    asked = {"resource_type": kind, "resource_name": name, "configs": configs}
    return q("IncrementalAlterConfigs", resources=[asked], **more)


def replace(s: Scene, kind: int, name: str, *given: tuple[str, str | None], **more: Any) -> Any:
    configs = [{"name": n, "value": v} for n, v in given]
    asked = {"resource_type": kind, "resource_name": name, "configs": configs}
    return q("AlterConfigs", resources=[asked], **more)


def _alter(
    name: str,
    kind: int,
    resource: str,
    *changes: tuple[str, int, str | None],
    shown: tuple[str, ...] = (),
) -> Any:
    """Alter settings in both versions, and look at what has become of them."""

    def where(s: Scene) -> str:
        return s.named(resource) if kind in (TOPIC, GROUP, METRICS) and resource else resource

    keys = shown or tuple(change[0] for change in changes)
    before = (topic(),) if kind == TOPIC and resource == "t" else ()
    return sequence(
        f"alter {name}",
        *before,
        ask("answer", lambda s: alter(s, kind, where(s), *changes)),
        Pause(0.1),
        ask("described", lambda s: settings(s, kind, where(s), *keys, include_synonyms=True)),
    )


TOPIC_VALUES = {
    "segment.bytes": ("1048576", "100", "x"),
    "segment.ms": ("1", "0"),
    "segment.jitter.ms": ("1", "-1"),
    "segment.index.bytes": ("4", "3"),
    "flush.messages": ("1", "0"),
    "flush.ms": ("0", "-1"),
    "retention.bytes": ("-1", "5", "-5"),
    "retention.ms": ("-1", "0", "-2"),
    "max.message.bytes": ("0", "-1"),
    "max.decompressed.message.bytes": ("1", "0"),
    "index.interval.bytes": ("0", "-1"),
    "delete.retention.ms": ("0", "-1"),
    "min.compaction.lag.ms": ("5", "-1"),
    "max.compaction.lag.ms": ("1", "0"),
    "file.delete.delay.ms": ("0", "-1"),
    "min.cleanable.dirty.ratio": ("1", "0", "1.5", "nan"),
    "cleanup.policy": ("compact", "compact,delete", "delete, compact", "none"),
    "unclean.leader.election.enable": ("TRUE", "yes"),
    "min.insync.replicas": ("5", "0"),
    "compression.type": ("zstd", "none", "ZSTD"),
    "compression.gzip.level": ("9", "0", "10"),
    "compression.lz4.level": ("17", "0"),
    "compression.zstd.level": ("22", "23"),
    "preallocate": ("true", "1"),
    "message.timestamp.type": ("LogAppendTime", "logappendtime"),
    "message.timestamp.before.max.ms": ("0", "-1"),
    "message.timestamp.after.max.ms": ("0", "-1"),
    "leader.replication.throttled.replicas": ("*", "0:1", "0"),
    "follower.replication.throttled.replicas": ("0:1,1:1", "x"),
    "remote.storage.enable": ("false", "true"),
    "local.retention.ms": ("-2", "-3"),
    "local.retention.bytes": ("-2", "-3"),
    "remote.log.copy.disable": ("true", "x"),
    "remote.copy.lag.ms": ("0", "-2"),
    "remote.copy.lag.bytes": ("0", "-2"),
    "remote.log.delete.on.disable": ("true", "x"),
    "errors.deadletterqueue.group.enable": ("true", "x"),
    "message.format.version": ("3.0",),
    "message.timestamp.difference.max.ms": ("5",),
    "message.downconversion.enable": ("true",),
}
GROUP_VALUES = {
    "consumer.session.timeout.ms": ("50000", "1", "x"),
    "consumer.heartbeat.interval.ms": ("6000", "1"),
    "consumer.assignment.interval.ms": ("5", "-1", "20000"),
    "share.session.timeout.ms": ("50000", "1"),
    "share.heartbeat.interval.ms": ("6000", "1"),
    "share.record.lock.duration.ms": ("20000", "70000"),
    "share.delivery.count.limit": ("3", "1", "11"),
    "share.partition.max.record.locks": ("200", "1", "10000"),
    "share.auto.offset.reset": ("earliest", "by_duration:PT1H", "by_duration:x", "none"),
    "share.isolation.level": ("read_committed", "x"),
    "share.renew.acknowledge.enable": ("false", "x"),
    "share.assignment.interval.ms": ("5", "20000"),
    "streams.session.timeout.ms": ("50000", "1"),
    "streams.heartbeat.interval.ms": ("6000", "1"),
    "streams.num.standby.replicas": ("1", "3"),
    "streams.initial.rebalance.delay.ms": ("1", "-1"),
    "streams.assignment.interval.ms": ("5", "20000"),
    "streams.assignor.name": ("sticky", "nobody"),
    "streams.rack.aware.assignment.tags": ("a,b", ""),
    "errors.deadletterqueue.topic.name": ("dlq.x", "x", "__dlq.x", "a b", ""),
    "errors.deadletterqueue.copy.record.enable": ("true", "x"),
    "what.is.this": ("1",),
}
BROKER_VALUES = {
    "message.max.bytes": ("2000000", "-1", "x"),
    "log.retention.ms": ("5", "-2", "0"),
    "compression.type": ("zstd", "rar"),
    "log.cleanup.policy": ("compact", "x"),
    "num.io.threads": ("9", "100"),
    "num.partitions": ("3",),
    "auto.create.topics.enable": ("false",),
    "min.insync.replicas": ("2", "0"),
    "max.connections": ("1000", "-1"),
    "group.consumer.session.timeout.ms": ("50000",),
    "errors.deadletterqueue.topic.name.prefix": ("x.",),
    "errors.deadletterqueue.auto.create.topics.enable": ("true", "x"),
    "what.is.this": ("1",),
}


def _values(
    of: str, kind: int, resource: str, values: dict[str, tuple[str, ...]]
) -> tuple[Any, ...]:
    return tuple(
        _alter(f"{of} {name}={value}", kind, resource, (name, SET, value))
        for name, each_value in values.items()
        for value in each_value
    )


def _altered(name: str, done: int, value: str | None) -> Build:
    return lambda s: alter(s, BROKER, "", (name, done, value))


def _restored(*rows: Any) -> tuple[Any, ...]:
    """Rows of settings of the broker, each of which is taken back at its end."""
    told = []
    for row in rows:
        name = row.name.removeprefix("alter broker ").partition("=")[0]
        ends = [ask("taken back", _altered(name, DELETE, None))]
        if name == "min.insync.replicas":  # it cannot be taken back
            ends.append(ask("set back", _altered(name, SET, "1")))
        told.append(sequence(row.name, *row.steps, *ends))
    return tuple(told)


SETTINGS = (
    each("describe a topic", topic(), ask=lambda s: settings(s, TOPIC, s.named("t"))),
    each(
        "describe a topic with synonyms",
        topic(configs={"retention.ms": "5"}),
        ask=lambda s: settings(
            s,
            TOPIC,
            s.named("t"),
            "retention.ms",
            "segment.ms",
            "cleanup.policy",
            include_synonyms=True,
        ),
    ),
    each(
        "describe two settings",
        topic(),
        ask=lambda s: settings(s, TOPIC, s.named("t"), "retention.ms", "nothing"),
    ),
    each("describe no topic", ask=lambda s: settings(s, TOPIC, s.named("nothing"))),
    each("describe a topic without a name", ask=lambda s: settings(s, TOPIC, "")),
    each("describe a bad name", ask=lambda s: settings(s, TOPIC, "a b")),
    each("describe a group", ask=lambda s: settings(s, GROUP, s.named("g"))),
    each("describe a group without a name", ask=lambda s: settings(s, GROUP, "")),
    each("describe a subscription of metrics", ask=lambda s: settings(s, METRICS, s.named("m"))),
    each("describe broker 9", ask=lambda s: settings(s, BROKER, "9")),
    each("describe broker x", ask=lambda s: settings(s, BROKER, "x")),
    each("describe all brokers", ask=lambda s: settings(s, BROKER, "")),
    each(
        "describe some settings of broker 1",
        ask=lambda s: settings(
            s,
            BROKER,
            "1",
            "num.partitions",
            "auto.create.topics.enable",
            "log.retention.ms",
            "compression.type",
            "group.share.max.size",
            "errors.deadletterqueue.topic.name.prefix",
            "errors.deadletterqueue.auto.create.topics.enable",
            "max.decompressed.message.bytes",
            include_synonyms=True,
        ),
    ),
    each("describe kind 99", ask=lambda s: settings(s, 99, "x")),
    each("describe loggers of broker 9", ask=lambda s: settings(s, LOGGER, "9")),
    *_values("topic", TOPIC, "t", TOPIC_VALUES),
    *_values("group", GROUP, "g", GROUP_VALUES),
    *_restored(*_values("broker", BROKER, "", BROKER_VALUES)),
    sequence(
        "topics when log.retention.ms=-5 for all brokers",
        do("altered", _altered("log.retention.ms", SET, "-5")),
        topic(),
        ask(
            "described",
            lambda s: settings(s, TOPIC, s.named("t"), "retention.ms", include_synonyms=True),
            until=lambda answer: answer.results[0].configs[0].value == "-1",
        ),
        ask("taken back", _altered("log.retention.ms", DELETE, None)),
    ),
    _alter("a setting of a topic that is not there", TOPIC, "nothing", ("retention.ms", SET, "5")),
    _alter("an unknown setting of a topic", TOPIC, "t", ("what.is.this", SET, "5")),
    _alter("a setting without a value", TOPIC, "t", ("retention.ms", SET, None)),
    _alter("a setting away", TOPIC, "t", ("retention.ms", DELETE, None)),
    _alter("a setting twice", TOPIC, "t", ("retention.ms", SET, "5"), ("retention.ms", SET, "6")),
    _alter("a list, more", TOPIC, "t", ("cleanup.policy", APPEND, "compact")),
    _alter("a list, less", TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete")),
    _alter("a number, more", TOPIC, "t", ("retention.ms", APPEND, "5")),
    _alter("a setting by 9", TOPIC, "t", ("retention.ms", 9, "5")),
    _alter("two settings", TOPIC, "t", ("retention.ms", SET, "5"), ("segment.ms", SET, "6")),
    _alter(
        "a good and a bad setting", TOPIC, "t", ("retention.ms", SET, "5"), ("segment.ms", SET, "0")
    ),
    _alter(
        "lags that contradict",
        TOPIC,
        "t",
        ("min.compaction.lag.ms", SET, "50"),
        ("max.compaction.lag.ms", SET, "5"),
    ),
    _alter("metrics", METRICS, "m", ("interval.ms", SET, "1000"), ("match", SET, "client_id=x")),
    _alter("metrics too often", METRICS, "m", ("interval.ms", SET, "1")),
    _alter("a bad match of metrics", METRICS, "m", ("match", SET, "x=y")),
    _alter("unknown metrics", METRICS, "m", ("what", SET, "1")),
    sequence(
        "alter a setting, to check",
        topic(),
        ask(
            "answer",
            lambda s: alter(s, TOPIC, s.named("t"), ("retention.ms", SET, "5"), validate_only=True),
        ),
        ask("described", lambda s: settings(s, TOPIC, s.named("t"), "retention.ms")),
    ),
    sequence(
        "alter the same topic twice",
        topic(),
        ask(
            "answer",
            lambda s: q(
                "IncrementalAlterConfigs",
                resources=[
                    {
                        "resource_type": TOPIC,
                        "resource_name": s.named("t"),
                        "configs": [{"name": "retention.ms", "config_operation": 0, "value": v}],
                    }
                    for v in "12"
                ],
            ),
        ),
    ),
    fresh(
        "replace settings",
        topic(configs={"segment.ms": "5"}),
        ask=lambda s: replace(s, TOPIC, s.named("t"), ("retention.ms", "7")),
        then=(
            ask(
                "described",
                lambda s: settings(s, TOPIC, s.named("t"), "retention.ms", "segment.ms"),
            ),
        ),
    ),
    fresh(
        "replace settings by nothing",
        topic(configs={"segment.ms": "5"}),
        ask=lambda s: replace(s, TOPIC, s.named("t")),
        then=(ask("described", lambda s: settings(s, TOPIC, s.named("t"), "segment.ms")),),
    ),
    each(
        "replace settings of no topic",
        ask=lambda s: replace(s, TOPIC, s.named("nothing"), ("retention.ms", "7")),
    ),
    each(
        "replace settings by a bad one",
        topic(),
        ask=lambda s: replace(s, TOPIC, s.named("t"), ("retention.ms", "x")),
    ),
    each(
        "replace settings by null",
        topic(),
        ask=lambda s: replace(s, TOPIC, s.named("t"), ("retention.ms", None)),
    ),
    each("alter kind 99", ask=lambda s: alter(s, 99, "x", ("a", SET, "b"))),
    each(
        "alter a group without a name",
        ask=lambda s: alter(s, GROUP, "", ("share.isolation.level", SET, "read_committed")),
    ),
    each("alter broker 9", ask=lambda s: alter(s, BROKER, "9", ("max.connections", SET, "5"))),
    each(
        "alter a logger",
        ask=lambda s: alter(s, LOGGER, "1", ("kafka.server.KafkaApis", SET, "LOUD")),
    ),
)


# The cluster, quotas, users, rights…


def _quota(
    s: Scene, user: str, *ops: tuple[str, float, bool], kind: str = "user", **more: Any
) -> Any:
    told = [{"key": key, "value": value, "remove": remove} for key, value, remove in ops]
    entity = [{"entity_type": kind, "entity_name": s.named(user)}]
    return q("AlterClientQuotas", entries=[{"entity": entity, "ops": told}], **more)


def _quotas(s: Scene, user: str, match: int = 0, kind: str = "user", strict: bool = False) -> Any:
    told = {
        "entity_type": kind,
        "match_type": match,
        "match": s.named(user) if match == 0 else None,
    }
    return q("DescribeClientQuotas", components=[told], strict=strict)


def _acl(s: Scene, **more: Any) -> Any:
    told = {
        "resource_type": 2,
        "resource_name": s.named("t"),
        "resource_pattern_type": 3,
        "principal": "User:a",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    return q("CreateAcls", creations=[{**told, **more}])


def _acls(s: Scene) -> Any:
    return q(
        "DescribeAcls",
        resource_type_filter=2,
        resource_name_filter=s.named("t"),
        pattern_type_filter=3,
        operation=1,
        permission_type=1,
    )


def _password(s: Scene, mechanism: int = 1, iterations: int = 4096) -> Any:
    told = {
        "name": s.named("u"),
        "mechanism": mechanism,
        "iterations": iterations,
        "salt": b"s" * 16,
        "salted_password": b"p" * 32,
    }
    return q("AlterUserScramCredentials", upsertions=[told])


CLUSTER = (
    each(
        "api versions",
        ask=lambda s: q("ApiVersions", client_software_name="x", client_software_version="1"),
        only=lambda s, a: _features(a),
    ),
    sequence(
        "api versions of an odd client",
        ask(
            "answer",
            lambda s: q("ApiVersions", client_software_name="x y", client_software_version="1"),
            only=lambda s, a: _features(a),
        ),
    ),
    sequence(
        "api versions of a client without a name",
        ask("answer", lambda s: q("ApiVersions"), only=lambda s, a: _features(a)),
    ),
    sequence(
        "api versions of another cluster",
        ask(
            "answer",
            lambda s: q(
                "ApiVersions",
                client_software_name="x",
                client_software_version="1",
                cluster_id="other",
                node_id=1,
            ),
            only=lambda s, a: _features(a),
        ),
    ),
    each("find the coordinator of a group", ask=lambda s: _coordinator(s, "g", 0)),
    each("find the coordinator of a transaction", ask=lambda s: _coordinator(s, "x", 1)),
    each("find the coordinator of kind 9", ask=lambda s: _coordinator(s, "x", 9)),
    each(
        "find the coordinator of nothing",
        ask=lambda s: (
            q("FindCoordinator", key_type=0, coordinator_keys=[""])
            if s.version >= 4
            else q("FindCoordinator", key="")
        ),
    ),
    each("describe the cluster", ask=lambda s: q("DescribeCluster")),
    each(
        "describe the cluster with rights",
        ask=lambda s: q("DescribeCluster", include_cluster_authorized_operations=True),
    ),
    each("describe the controllers", ask=lambda s: q("DescribeCluster", endpoint_type=2)),
    each("describe endpoints of kind 9", ask=lambda s: q("DescribeCluster", endpoint_type=9)),
    each(
        "describe log dirs of a topic",
        topic(),
        write(one()),
        ask=lambda s: q("DescribeLogDirs", topics=[{"topic": s.named("t"), "partitions": [0]}]),
        only=lambda s, a: _sizes(a),
    ),
    each(
        "describe log dirs of no topic",
        ask=lambda s: q(
            "DescribeLogDirs", topics=[{"topic": s.named("nothing"), "partitions": [0]}]
        ),
        only=lambda s, a: _sizes(a),
    ),
    each(
        "elect leaders",
        topic(),
        ask=lambda s: q(
            "ElectLeaders",
            topic_partitions=[{"topic": s.named("t"), "partitions": [0]}],
            timeout_ms=9000,
        ),
    ),
    each(
        "elect leaders of no topic",
        ask=lambda s: q(
            "ElectLeaders",
            topic_partitions=[{"topic": s.named("nothing"), "partitions": [0]}],
            timeout_ms=9000,
        ),
    ),
    each(
        "elect unclean leaders",
        topic(),
        ask=lambda s: q(
            "ElectLeaders",
            election_type=1,
            topic_partitions=[{"topic": s.named("t"), "partitions": [0, 9]}],
            timeout_ms=9000,
        ),
    ),
    each("reassign a partition to node 1", topic(), ask=lambda s: _reassign(s, [1])),
    each("reassign a partition to node 9", topic(), ask=lambda s: _reassign(s, [9])),
    each("reassign a partition to nobody", topic(), ask=lambda s: _reassign(s, [])),
    each("cancel a reassignment that is none", topic(), ask=lambda s: _reassign(s, None)),
    each("reassign a partition of no topic", ask=lambda s: _reassign(s, [1], "nothing")),
    each(
        "list reassignments",
        topic(),
        ask=lambda s: q(
            "ListPartitionReassignments",
            topics=[{"name": s.named("t"), "partition_indexes": [0]}],
            timeout_ms=9000,
        ),
    ),
    each(
        "move to another log dir",
        topic(),
        ask=lambda s: q(
            "AlterReplicaLogDirs",
            dirs=[{"path": "/nowhere", "topics": [{"name": s.named("t"), "partitions": [0]}]}],
        ),
    ),
    each(
        "describe quorum of another topic",
        ask=lambda s: q(
            "DescribeQuorum", topics=[{"topic_name": "x", "partitions": [{"partition_index": 0}]}]
        ),
    ),
    each(
        "update an unknown feature",
        ask=lambda s: q(
            "UpdateFeatures",
            timeout_ms=9000,
            feature_updates=[
                {"feature": "what", "max_version_level": 1, "upgrade_type": 1}
                if s.version
                else {"feature": "what", "max_version_level": 1}
            ],
        ),
    ),
    each(
        "update a feature beyond",
        ask=lambda s: q(
            "UpdateFeatures",
            timeout_ms=9000,
            feature_updates=[
                {"feature": "group.version", "max_version_level": 99, "upgrade_type": 1}
                if s.version
                else {"feature": "group.version", "max_version_level": 99}
            ],
        ),
    ),
    each(
        "update a feature to what it is",
        ask=lambda s: q(
            "UpdateFeatures",
            timeout_ms=9000,
            feature_updates=[
                {"feature": "group.version", "max_version_level": 1, "upgrade_type": 1}
                if s.version
                else {"feature": "group.version", "max_version_level": 1}
            ],
        ),
    ),
    each("unregister broker 9", ask=lambda s: q("UnregisterBroker", broker_id=9)),
    sequence(
        "a quota",
        ask("set", lambda s: _quota(s, "u", ("producer_byte_rate", 1000.0, False))),
        Pause(0.1),
        ask("described", lambda s: _quotas(s, "u")),
        ask("removed", lambda s: _quota(s, "u", ("producer_byte_rate", 0.0, True))),
        Pause(0.1),
        ask("described again", lambda s: _quotas(s, "u")),
    ),
    sequence(
        "a quota of a client",
        ask("set", lambda s: _quota(s, "c", ("consumer_byte_rate", 5e6, False), kind="client-id")),
        Pause(0.1),
        ask("described", lambda s: _quotas(s, "c", kind="client-id")),
    ),
    each("an unknown quota", ask=lambda s: _quota(s, "u", ("what", 1.0, False))),
    each("a negative quota", ask=lambda s: _quota(s, "u", ("producer_byte_rate", -1.0, False))),
    each(
        "a quota of 0",
        ask=lambda s: _quota(s, "u", ("producer_byte_rate", 0.0, False), validate_only=True),
    ),
    each(
        "a quota of half a byte",
        ask=lambda s: _quota(s, "u", ("producer_byte_rate", 0.5, False), validate_only=True),
    ),
    each(
        "a quota of a strange entity",
        ask=lambda s: _quota(s, "u", ("producer_byte_rate", 1.0, False), kind="what"),
    ),
    each("quotas of a strange entity", ask=lambda s: _quotas(s, "u", kind="what")),
    each("quotas by a strange match", ask=lambda s: _quotas(s, "u", match=9)),
    each(
        "a user's passwords",
        ask=lambda s: q("DescribeUserScramCredentials", users=[{"name": s.named("u")}]),
    ),
    sequence(
        "a password",
        ask("set", _password),
        Pause(0.1),
        ask(
            "described", lambda s: q("DescribeUserScramCredentials", users=[{"name": s.named("u")}])
        ),
        ask(
            "deleted",
            lambda s: q(
                "AlterUserScramCredentials", deletions=[{"name": s.named("u"), "mechanism": 1}]
            ),
        ),
        Pause(0.1),
        ask(
            "deleted again",
            lambda s: q(
                "AlterUserScramCredentials", deletions=[{"name": s.named("u"), "mechanism": 1}]
            ),
        ),
    ),
    each("a password with 5 iterations", ask=lambda s: _password(s, iterations=5)),
    each("a password with 5 million iterations", ask=lambda s: _password(s, iterations=5_000_000)),
    each("a password by mechanism 9", ask=lambda s: _password(s, mechanism=9)),
    each(
        "a password of nobody",
        ask=lambda s: q(
            "AlterUserScramCredentials",
            upsertions=[
                {
                    "name": "",
                    "mechanism": 1,
                    "iterations": 4096,
                    "salt": b"s" * 16,
                    "salted_password": b"p" * 32,
                }
            ],
        ),
    ),
    each(
        "users described twice",
        ask=lambda s: q("DescribeUserScramCredentials", users=[{"name": "u"}, {"name": "u"}]),
    ),
    each("rights without an authorizer", ask=_acls),
    each("a right without an authorizer", ask=_acl),
    each(
        "no rights without an authorizer",
        ask=lambda s: q(
            "DeleteAcls",
            filters=[
                {
                    "resource_type_filter": 1,
                    "pattern_type_filter": 1,
                    "operation": 1,
                    "permission_type": 1,
                }
            ],
        ),
    ),
    each("tokens without a secret", ask=lambda s: q("CreateDelegationToken", max_lifetime_ms=1000)),
    each("list tokens without a secret", ask=lambda s: q("DescribeDelegationToken", owners=None)),
    each("renew a token", ask=lambda s: q("RenewDelegationToken", hmac=b"x", renew_period_ms=1)),
    each(
        "expire a token",
        ask=lambda s: q("ExpireDelegationToken", hmac=b"x", expiry_time_period_ms=1),
    ),
    each("SASL without SASL", ask=lambda s: q("SaslHandshake", mechanism="PLAIN")),
    each(
        "describe producers of no topic",
        ask=lambda s: q(
            "DescribeProducers", topics=[{"name": s.named("nothing"), "partition_indexes": [0]}]
        ),
    ),
    each(
        "describe producers",
        topic(),
        write(one(producer=(91_000, 3, 5))),
        ask=lambda s: q(
            "DescribeProducers", topics=[{"name": s.named("t"), "partition_indexes": [0, 9]}]
        ),
    ),
    each(
        "describe config resources of kind 99",
        ask=lambda s: q("ListConfigResources", resource_types=[99]),
    ),
    sequence(
        "list subscriptions of metrics",
        do("set", lambda s: alter(s, METRICS, s.named("m"), ("interval.ms", SET, "1000"))),
        Pause(0.1),
        ask(
            "listed",
            lambda s: q("ListConfigResources", resource_types=[16]),
            only=lambda s, a: _of_scene(s, a, "config_resources", "resource_name"),
        ),
    ),
    sequence(
        "list groups with settings",
        do(
            "set",
            lambda s: alter(
                s, GROUP, s.named("g"), ("share.isolation.level", SET, "read_committed")
            ),
        ),
        Pause(0.1),
        ask(
            "listed",
            lambda s: q("ListConfigResources", resource_types=[32]),
            only=lambda s, a: _of_scene(s, a, "config_resources", "resource_name"),
        ),
    ),
)


def _features(answer: Any) -> Any:
    """Leave out which APIs there are: the embedded broker serves those of clients."""
    answer.api_keys = []
    answer.finalized_features_epoch = -1
    return answer


def _sizes(answer: Any) -> Any:
    for result in answer.results:
        result.total_bytes = result.usable_bytes = -1
        for each_topic in result.topics:
            for partition in each_topic.partitions:
                partition.partition_size = min(partition.partition_size, 1)
    answer.results = [
        each_result for each_result in answer.results if each_result.topics
    ] or answer.results[:1]
    return answer


def _of_scene(s: Scene, answer: Any, rows: str, name: str) -> Any:
    kept = [row for row in getattr(answer, rows) if getattr(row, name).startswith(s.prefix)]
    setattr(answer, rows, kept)
    return answer


def _coordinator(s: Scene, key: str, kind: int) -> Any:
    if s.version >= 4:
        return q("FindCoordinator", key_type=kind, coordinator_keys=[key])
    return (
        q("FindCoordinator", key=key, key_type=kind) if s.version else q("FindCoordinator", key=key)
    )


def _reassign(s: Scene, replicas: list[int] | None, name: str = "t") -> Any:
    told = {"name": s.named(name), "partitions": [{"partition_index": 0, "replicas": replicas}]}
    return q("AlterPartitionReassignments", topics=[told], timeout_ms=9000)


ROWS = (*METADATA, *CREATE, *TOPICS, *SETTINGS, *CLUSTER)

__all__ = ["ROWS"]
