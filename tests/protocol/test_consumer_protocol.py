"""Subscriptions and assignments: what survives the wire in which version, and what is refused."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import (
    HIGHEST_VERSION,
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

VERSIONS = range(HIGHEST_VERSION + 1)
INT32 = st.integers(-(1 << 31), (1 << 31) - 1)
TOPICS = st.text(max_size=8)
PARTITIONS = st.dictionaries(TOPICS, st.lists(INT32, max_size=4), max_size=4)
USER_DATA = st.none() | st.binary(max_size=8)


def full_metadata(version: int = HIGHEST_VERSION) -> ConsumerProtocolMemberMetadata:
    return ConsumerProtocolMemberMetadata(
        version,
        ["audit", "orders"],
        b"\x00\xff",
        owned_partitions=[("audit", [0]), ("orders", [2, 7])],
        generation_id=42,
        rack_id="rack-a",
    )


def full_assignment(version: int = HIGHEST_VERSION) -> ConsumerProtocolMemberAssignment:
    return ConsumerProtocolMemberAssignment(version, [("orders", [7, 2]), ("audit", [0])], b"\x00")


# Subscriptions…


@given(
    version=st.sampled_from(VERSIONS),
    topics=st.lists(TOPICS, max_size=4),
    user_data=USER_DATA,
    owned=PARTITIONS,
    generation_id=INT32,
    rack_id=st.none() | st.text(min_size=1, max_size=4),
)
def test_a_subscription_survives_with_the_fields_its_version_has_in_sorted_order(
    version: int,
    topics: list[str],
    user_data: bytes | None,
    owned: dict[str, list[int]],
    generation_id: int,
    rack_id: str | None,
) -> None:
    """A subscription is read back with the fields of its version, in sorted order (2e-8)."""
    sent = ConsumerProtocolMemberMetadata(
        version, topics, user_data, list(owned.items()), generation_id, rack_id
    )
    got = ConsumerProtocolMemberMetadata.decode(sent.encode())
    in_order = [(topic, sorted(partitions)) for topic, partitions in sorted(owned.items())]
    assert got == ConsumerProtocolMemberMetadata(
        version,
        sorted(topics),
        user_data,
        in_order if version >= 1 else [],
        generation_id if version >= 2 else -1,
        rack_id if version >= 3 else None,
    )


def decoded_or_refused(data: bytes) -> ConsumerProtocolMemberMetadata | None:
    try:
        return ConsumerProtocolMemberMetadata.decode(data)
    except ProtocolDecodeError:
        return None


@given(
    st.lists(
        st.builds(
            ConsumerProtocolMemberMetadata,
            st.sampled_from(VERSIONS),
            st.lists(st.sampled_from(["a", "ab", "abc", "d", ""]), max_size=4),
            USER_DATA,
            st.dictionaries(st.sampled_from(["a", "ab", "é"]), st.lists(INT32, max_size=3)).map(
                lambda owned: list(owned.items())
            ),
        ),
        max_size=12,
    )
)
def test_a_group_is_decoded_as_each_of_its_members(
    group: list[ConsumerProtocolMemberMetadata],
) -> None:
    told = [member.encode() for member in group]
    each = [ConsumerProtocolMemberMetadata.decode(data) for data in told]
    assert ConsumerProtocolMemberMetadata.decode_all(told) == each


def test_equal_lists_of_topics_are_decoded_once() -> None:
    first, second, other = ConsumerProtocolMemberMetadata.decode_all(
        [
            full_metadata().encode(),
            replace(full_metadata(), user_data=b"", generation_id=7).encode(),
            replace(full_metadata(), subscription=["audit", "payments"]).encode(),
        ]
    )
    assert first.subscription is second.subscription
    assert other.subscription == ["audit", "payments"]
    assert other.subscription[0] is first.subscription[0]


def test_what_a_member_left_out_of_its_bytes_is_not_taken_from_another() -> None:
    """Cut anywhere, also where the rest of a name is a name, it is decoded or refused as alone."""
    whole = replace(
        full_metadata(),
        subscription=["audit", "audit-1", "au"],
        owned_partitions=[("au", [1]), ("audit", [1, 2])],
    ).encode()
    for end in range(len(whole)):
        cut = whole[:end]
        expected = decoded_or_refused(cut)
        if expected is None:
            with pytest.raises(ProtocolDecodeError):
                ConsumerProtocolMemberMetadata.decode_all([whole, cut])
        else:
            assert ConsumerProtocolMemberMetadata.decode_all([whole, cut])[1] == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_equal_subscriptions_have_equal_bytes_in_whatever_order_they_were_given(
    version: int,
) -> None:
    shuffled = replace(
        full_metadata(version),
        subscription=["orders", "audit"],
        owned_partitions=[("orders", [7]), ("audit", [0]), ("orders", [2])],
    )
    assert shuffled.encode() == full_metadata(version).encode()


def test_encoding_leaves_the_order_the_caller_gave_alone() -> None:
    metadata = replace(full_metadata(), subscription=["orders", "audit"])
    metadata.encode()
    assert metadata.subscription == ["orders", "audit"]


def test_the_first_three_fields_are_positional_as_in_aiokafka() -> None:
    metadata = ConsumerProtocolMemberMetadata(0, ["orders"], b"")
    assert (metadata.version, metadata.subscription, metadata.user_data) == (0, ["orders"], b"")
    assert (metadata.owned_partitions, metadata.generation_id) == ([], -1)
    assert (metadata.rack_id, metadata.group_instance_id) == (None, None)


def test_owned_partitions_come_one_by_one() -> None:
    assert full_metadata().owned() == [
        TopicPartition("audit", 0),
        TopicPartition("orders", 2),
        TopicPartition("orders", 7),
    ]


def test_the_name_of_a_static_member_is_not_on_the_wire() -> None:
    named = replace(full_metadata(), group_instance_id="worker-1")
    assert named.encode() == full_metadata().encode()
    assert ConsumerProtocolMemberMetadata.decode(named.encode()).group_instance_id is None


def test_an_empty_rack_is_no_rack_in_either_direction() -> None:
    no_rack = replace(full_metadata(), rack_id=None)
    assert replace(no_rack, rack_id="").encode() == no_rack.encode()
    with_empty_rack = no_rack.encode()[:-2] + b"\x00\x00"
    assert ConsumerProtocolMemberMetadata.decode(with_empty_rack) == no_rack


@pytest.mark.parametrize(("named", "sent"), [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_fields_a_client_names_by_its_version_but_leaves_out_stay_at_their_defaults(
    named: int, sent: int
) -> None:
    """A user's assignor for aiokafka may name any version; only the fields of v0 are sent."""
    raw = named.to_bytes(2, "big") + full_metadata(sent).encode()[2:]
    what_was_sent = ConsumerProtocolMemberMetadata.decode(full_metadata(sent).encode())
    assert ConsumerProtocolMemberMetadata.decode(raw) == replace(what_was_sent, version=named)


# Assignments…


@given(version=st.sampled_from(VERSIONS), partitions=PARTITIONS, user_data=USER_DATA)
def test_an_assignment_survives_in_every_version_in_the_order_given(
    version: int, partitions: dict[str, list[int]], user_data: bytes | None
) -> None:
    sent = ConsumerProtocolMemberAssignment(version, list(partitions.items()), user_data)
    assert ConsumerProtocolMemberAssignment.decode(sent.encode()) == sent


def test_an_assignment_names_each_topic_once_on_the_wire() -> None:
    split = replace(
        full_assignment(), assignment=[("orders", [7]), ("audit", [0]), ("orders", [2])]
    )
    assert split.encode() == full_assignment().encode()


def test_assigned_partitions_come_one_by_one() -> None:
    assert full_assignment().partitions() == [
        TopicPartition("orders", 7),
        TopicPartition("orders", 2),
        TopicPartition("audit", 0),
    ]


def test_decoded_entries_of_an_assignment_have_names_as_in_aiokafka() -> None:
    entry = ConsumerProtocolMemberAssignment.decode(full_assignment().encode()).assignment[0]
    assert entry == ConsumerProtocolMemberAssignment.Assignment(topic="orders", partitions=[7, 2])
    assert entry == ("orders", [7, 2])


def test_the_protocol_names_its_type_and_formats_as_in_aiokafka() -> None:
    assert ConsumerProtocol.PROTOCOL_TYPE == "consumer"
    assert ConsumerProtocol.METADATA is ConsumerProtocolMemberMetadata
    assert ConsumerProtocol.ASSIGNMENT is ConsumerProtocolMemberAssignment


# Both…

FULL = [
    pytest.param(full_metadata(), id="subscription"),
    pytest.param(full_assignment(), id="assignment"),
]
FORMATS = [
    pytest.param(ConsumerProtocolMemberMetadata, id="subscription"),
    pytest.param(ConsumerProtocolMemberAssignment, id="assignment"),
]
Either = ConsumerProtocolMemberMetadata | ConsumerProtocolMemberAssignment


@pytest.mark.parametrize("full", FULL)
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_buffer_is_read_and_copied(full: Either, kind: type) -> None:
    raw = bytearray(full.encode())
    got = type(full).decode(kind(raw))
    raw[:] = bytes(len(raw))
    assert got == full


@pytest.mark.parametrize("full", FULL)
def test_a_newer_version_is_read_as_the_highest_known_one_and_its_new_fields_are_ignored(
    full: Either,
) -> None:
    """A subscription of a newer version is read as version 3 (2e-8)."""
    newer = b"\x00\x09" + full.encode()[2:] + b"a field of version 9"
    assert type(full).decode(newer) == full


@pytest.mark.parametrize("full", FULL)
def test_a_newer_version_is_written_as_the_highest_known_one(full: Either) -> None:
    assert replace(full, version=9).encode() == full.encode()


@pytest.mark.parametrize("full", FULL)
def test_a_negative_version_is_neither_written_nor_read(full: Either) -> None:
    with pytest.raises(ValueError, match="version -1 is negative; use 0 to 3"):
        replace(full, version=-1).encode()
    with pytest.raises(ProtocolDecodeError, match="version -1 is negative"):
        type(full).decode(b"\xff\xff" + full.encode()[2:])


@pytest.mark.parametrize("full", FULL)
def test_bytes_cut_off_within_a_field_are_refused(full: Either) -> None:
    raw = full.encode()
    ends_of_fields = {len(full_metadata(version).encode()) for version in VERSIONS}
    for size in range(len(raw)):
        if isinstance(full, ConsumerProtocolMemberMetadata) and size in ends_of_fields:
            continue
        with pytest.raises(ProtocolDecodeError):
            type(full).decode(raw[:size])


@pytest.mark.parametrize(
    ("format_", "raw", "message"),
    [
        (ConsumerProtocolMemberMetadata, "0000 ffffffff ffffffff", "null .* topics are required"),
        (ConsumerProtocolMemberMetadata, "0000 7fffffff ffffffff", "2147483647 elements"),
        (ConsumerProtocolMemberMetadata, "0000 00000001 ffff ffffffff", "null .* string"),
        (ConsumerProtocolMemberMetadata, "0000 00000001 0001ff ffffffff", "is not UTF-8"),
        (ConsumerProtocolMemberMetadata, "0000 00000000 00000005 00", "5 bytes are announced"),
        (ConsumerProtocolMemberMetadata, "0001 00000000 ffffffff ffffffff", "null .* topics"),
        (ConsumerProtocolMemberAssignment, "0000 ffffffff ffffffff", "null .* topics are required"),
        (
            ConsumerProtocolMemberAssignment,
            "0000 00000001 000174 ffffffff ffffffff",
            "null .* partitions are required",
        ),
        (
            ConsumerProtocolMemberAssignment,
            "0000 00000001 000174 40000000 ffffffff",
            "1073741824 elements",
        ),
    ],
)
def test_what_cannot_be_a_group_members_bytes_is_refused_before_room_is_made_for_it(
    format_: type[Either], raw: str, message: str
) -> None:
    with pytest.raises(ProtocolDecodeError, match=message):
        format_.decode(bytes.fromhex(raw))


@pytest.mark.parametrize("format_", FORMATS)
@given(raw=st.binary(max_size=64), version=st.none() | st.sampled_from(VERSIONS))
@example(raw=b"", version=None)
def test_hostile_bytes_are_read_or_refused_and_nothing_else(
    format_: type[Either], raw: bytes, version: int | None
) -> None:
    data = raw if version is None else version.to_bytes(2, "big") + raw
    try:
        got = format_.decode(data)
    except ProtocolDecodeError:
        return
    assert format_.decode(got.encode()).encode() == got.encode()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (replace(full_metadata(), owned_partitions=[("t", [1 << 31])]), "2147483648 does not fit"),
        (replace(full_metadata(), generation_id=1 << 31), "2147483648 does not fit"),
        (replace(full_metadata(), subscription=["t" * 40_000]), "40000 bytes exceeds"),
        (replace(full_assignment(), assignment=[("t", [-(1 << 31) - 1])]), "does not fit"),
    ],
)
def test_a_value_that_does_not_fit_its_field_is_refused(value: Either, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value.encode()
