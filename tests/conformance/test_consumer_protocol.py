"""Our subscriptions and assignments against Apache's, aiokafka's and kafka-python's, both ways.

`java_consumer_protocol.json` was written by `JavaConsumerProtocol.java` beside it, with the
ConsumerProtocol of Kafka 4.3.1; the layout is checked against the JSON in its jar.
"""

import json
import re
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiokafka.coordinator.protocol import (
    ConsumerProtocolMemberAssignment as AiokafkaAssignment,
)
from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata as AiokafkaMetadata
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.codec.writer import Writer
from aiokafka_lite.protocol.consumer_protocol import (
    HIGHEST_VERSION,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.schema.version_range import VersionRange

with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # kafka-python's way of reading its resources
    from kafka.protocol.consumer.metadata import (
        ConsumerProtocolAssignment as KafkaPythonAssignment,
    )
    from kafka.protocol.consumer.metadata import (
        ConsumerProtocolSubscription as KafkaPythonSubscription,
    )

JAVA = {
    name: bytes.fromhex(raw)
    for name, raw in json.loads(
        (Path(__file__).parent / "java_consumer_protocol.json").read_text(encoding="utf-8")
    ).items()
}
VERSIONS = range(HIGHEST_VERSION + 1)
TOPICS = ["audit", "grüße", "orders"]
OWNED = [("grüße", [0]), ("orders", [2, 7])]
ASSIGNED = [("orders", [7, 2]), ("grüße", [0])]
USER_DATA = b"\x00\xff\x01"


def full_metadata(version: int) -> ConsumerProtocolMemberMetadata:
    return ConsumerProtocolMemberMetadata(
        version,
        TOPICS,
        USER_DATA,
        OWNED if version >= 1 else [],
        42 if version >= 2 else -1,
        "rack-a" if version >= 3 else None,
    )


def full_assignment(version: int) -> ConsumerProtocolMemberAssignment:
    return ConsumerProtocolMemberAssignment(version, ASSIGNED, USER_DATA)


# Java…

Either = ConsumerProtocolMemberMetadata | ConsumerProtocolMemberAssignment
OF_JAVA: dict[str, Either] = {
    **{f"subscription_full_v{version}": full_metadata(version) for version in VERSIONS},
    **{f"assignment_full_v{version}": full_assignment(version) for version in VERSIONS},
    **{
        f"subscription_empty_v{version}": ConsumerProtocolMemberMetadata(version, [], None)
        for version in VERSIONS
    },
    **{
        f"assignment_empty_v{version}": ConsumerProtocolMemberAssignment(version, [], None)
        for version in VERSIONS
    },
    "subscription_no_rack": ConsumerProtocolMemberMetadata(3, TOPICS, b"", generation_id=42),
    "subscription_full_v9": full_metadata(3),
    "assignment_full_v9": full_assignment(3),
}


def test_every_value_java_wrote_is_compared() -> None:
    assert OF_JAVA.keys() == JAVA.keys()


@pytest.mark.parametrize("name", JAVA)
def test_java_writes_the_same_bytes(name: str) -> None:
    assert OF_JAVA[name].encode() == JAVA[name]
    assert type(OF_JAVA[name]).decode(JAVA[name]) == OF_JAVA[name]


def test_java_sorts_what_a_subscription_lists_and_so_do_we() -> None:
    shuffled = ConsumerProtocolMemberMetadata(
        3,
        ["orders", "grüße", "audit"],
        USER_DATA,
        [("orders", [7]), ("grüße", [0]), ("orders", [2])],
        42,
        "rack-a",
    )
    assert shuffled.encode() == JAVA["subscription_full_v3"]


# aiokafka, which knows version 0…


def test_aiokafka_writes_and_reads_the_same_subscription() -> None:
    ours = full_metadata(0)
    assert AiokafkaMetadata(0, TOPICS, USER_DATA).encode() == ours.encode()
    theirs = AiokafkaMetadata.decode(ours.encode())
    assert (theirs.version, theirs.subscription, theirs.user_data) == (0, TOPICS, USER_DATA)


@pytest.mark.parametrize("version", VERSIONS)
def test_aiokafka_reads_what_it_knows_of_newer_subscriptions(version: int) -> None:
    theirs = AiokafkaMetadata.decode(full_metadata(version).encode())
    assert (theirs.version, theirs.subscription, theirs.user_data) == (version, TOPICS, USER_DATA)


@pytest.mark.parametrize("version", VERSIONS)
def test_aiokafka_writes_and_reads_the_same_assignment(version: int) -> None:
    ours = full_assignment(version)
    assert AiokafkaAssignment(version, ASSIGNED, USER_DATA).encode() == ours.encode()
    theirs = AiokafkaAssignment.decode(ours.encode())
    assert theirs.partitions() == ours.partitions()
    assert theirs.user_data == USER_DATA


# kafka-python, whose classes follow Apache's JSON…

INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
NAMES = st.text(max_size=8)
PARTITIONS = st.dictionaries(NAMES, st.lists(INT32, max_size=3), max_size=3)
USER_DATAS = st.none() | st.binary(max_size=8)


@given(
    version=st.sampled_from(VERSIONS),
    topics=st.lists(NAMES, max_size=3),
    user_data=USER_DATAS,
    owned=PARTITIONS,
    generation_id=INT32,
    rack_id=st.none() | st.text(min_size=1, max_size=4),
)
def test_kafka_python_writes_the_same_subscription_and_reads_ours(
    version: int, topics: list[str], owned: dict[str, list[int]], **values: Any
) -> None:
    ours = ConsumerProtocolMemberMetadata(
        version, sorted(topics), owned_partitions=[*owned.items()], **values
    )
    theirs = KafkaPythonSubscription(
        version=version,
        topics=sorted(topics),
        owned_partitions=[
            KafkaPythonSubscription.TopicPartition(topic=topic, partitions=sorted(partitions))
            for topic, partitions in sorted(owned.items())
        ],
        **values,
    )
    raw = ours.encode()
    assert theirs.encode() == raw
    assert KafkaPythonSubscription.decode(raw).encode() == raw


@given(version=st.sampled_from(VERSIONS), partitions=PARTITIONS, user_data=USER_DATAS)
def test_kafka_python_writes_the_same_assignment_and_reads_ours(
    version: int, partitions: dict[str, list[int]], user_data: bytes | None
) -> None:
    ours = ConsumerProtocolMemberAssignment(version, [*partitions.items()], user_data)
    theirs = KafkaPythonAssignment(
        version=version,
        assigned_partitions=[
            KafkaPythonAssignment.TopicPartition(topic=topic, partitions=indexes)
            for topic, indexes in partitions.items()
        ],
        user_data=user_data,
    )
    raw = ours.encode()
    assert theirs.encode() == raw
    assert KafkaPythonAssignment.decode(raw).partitions() == ours.partitions()


# Apache's JSON, walked field by field…


def apache_json(jar: Path, name: str) -> Any:
    with zipfile.ZipFile(jar) as archive:
        text = archive.read(f"common/message/{name}.json").decode()
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def write_fields(writer: Writer, fields: list[Any], values: Any, version: int) -> None:
    """Write `values`, by the JSON's names, as the JSON says."""
    for field in fields:
        if version in VersionRange.parse(field["versions"]):
            may_be_null = version in VersionRange.parse(field.get("nullableVersions", "none"))
            write_value(writer, field, field["type"], values[field["name"]], (version, may_be_null))


def write_value(
    writer: Writer, field: Any, kind: str, value: Any, context: tuple[int, bool]
) -> None:
    version, may_be_null = context
    if kind.startswith("[]"):
        writer.array_count(len(value))
        for element in value:
            write_value(writer, field, kind[2:], element, context)
    elif kind[0].isupper():
        write_fields(writer, field["fields"], value, version)
    else:
        writers: dict[tuple[str, bool], Callable[[Any], None]] = {
            ("int32", False): writer.int32,
            ("string", False): writer.string,
            ("string", True): writer.nullable_string,
            ("bytes", True): writer.nullable_bytes,
        }
        writers[kind, may_be_null](value)


def by_topic(partitions: list[tuple[str, list[int]]]) -> list[dict[str, Any]]:
    return [{"Topic": topic, "Partitions": indexes} for topic, indexes in partitions]


@pytest.mark.parametrize("name", ["ConsumerProtocolSubscription", "ConsumerProtocolAssignment"])
@pytest.mark.parametrize("has_nulls", [False, True])
def test_every_version_has_the_layout_of_apaches_json(
    name: str, has_nulls: bool, kafka_clients_jar: Path
) -> None:
    schema = apache_json(kafka_clients_jar, name)
    user_data, rack_id = (None, None) if has_nulls else (USER_DATA, "rack-a")
    values = {
        "Topics": TOPICS,
        "UserData": user_data,
        "OwnedPartitions": by_topic(OWNED),
        "GenerationId": 42,
        "RackId": rack_id,
        "AssignedPartitions": by_topic(ASSIGNED),
    }
    valid = VersionRange.parse(schema["validVersions"])
    assert (valid, schema["flexibleVersions"]) == (VersionRange(0, HIGHEST_VERSION), "none")
    for version in VERSIONS:
        writer = Writer()
        writer.int16(version)
        write_fields(writer, schema["fields"], values, version)
        ours: Either
        if name == "ConsumerProtocolAssignment":
            ours = ConsumerProtocolMemberAssignment(version, ASSIGNED, user_data)
        else:
            ours = ConsumerProtocolMemberMetadata(version, TOPICS, user_data, OWNED, 42, rack_id)
        assert ours.encode() == bytes(writer.buffer)
