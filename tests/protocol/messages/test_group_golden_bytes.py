"""Bytes of Apache's own writer, for the APIs of groups.

Each literal was printed by the generated classes of kafka-clients 4.3.1, in Java with
`MessageUtil.toByteBufferAccessor`, from the values the test names.
"""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from aiokafka_lite.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from aiokafka_lite.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)

TOPIC_ID = UUID("01234567-89ab-cdef-0123-456789abcdef")
TOPIC: dict[str, Any] = {"name": "orders", "topic_id": TOPIC_ID}
"""Both, as Java's client sets them: the version picks one."""


def join(**values: Any) -> JoinGroupRequest:
    return JoinGroupRequest(
        group_id="g",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        member_id="m-1",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"\x01\x02")],
        **values,
    )


def joined(group_instance_id: str | None = None, **values: Any) -> JoinGroupResponse:
    member = JoinGroupResponseMember(
        member_id="m-1", group_instance_id=group_instance_id, metadata=b"\x01\x02"
    )
    return JoinGroupResponse(
        throttle_time_ms=9,
        generation_id=3,
        protocol_name="range",
        leader="m-1",
        member_id="m-1",
        members=[member],
        **values,
    )


def sync(**values: Any) -> SyncGroupRequest:
    part = SyncGroupRequestAssignment(member_id="m-1", assignment=b"\x03")
    return SyncGroupRequest(
        group_id="g", generation_id=3, member_id="m-1", assignments=[part], **values
    )


def commit(**values: Any) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(
        partition_index=2,
        committed_offset=1000,
        committed_leader_epoch=5,
        committed_metadata="note",
    )
    return OffsetCommitRequest(
        group_id="g",
        generation_id_or_member_epoch=3,
        member_id="m-1",
        topics=[OffsetCommitRequestTopic(**TOPIC, partitions=[partition])],
        **values,
    )


COMMITTED = OffsetCommitResponse(
    topics=[
        OffsetCommitResponseTopic(
            **TOPIC, partitions=[OffsetCommitResponsePartition(partition_index=2, error_code=22)]
        )
    ]
)


def fetch_one_group(**values: Any) -> OffsetFetchRequest:
    topic = OffsetFetchRequestTopic(name="orders", partition_indexes=[2, 7])
    return OffsetFetchRequest(group_id="g", topics=[topic], **values)


FETCH_GROUPS = OffsetFetchRequest(
    groups=[
        OffsetFetchRequestGroup(
            group_id="g",
            member_id="m-1",
            member_epoch=3,
            topics=[OffsetFetchRequestTopics(**TOPIC, partition_indexes=[2, 7])],
        )
    ],
    require_stable=True,
)


def offsets(**values: Any) -> OffsetFetchResponse:
    partition = OffsetFetchResponsePartition(
        partition_index=2, committed_offset=1000, committed_leader_epoch=5, metadata="note"
    )
    topic = OffsetFetchResponseTopic(name="orders", partitions=[partition])
    return OffsetFetchResponse(topics=[topic], **values)


UNSTABLE = OffsetFetchResponsePartitions(
    partition_index=2, committed_offset=-1, metadata=None, error_code=88
)
OFFSETS_OF_GROUPS = OffsetFetchResponse(
    groups=[
        OffsetFetchResponseGroup(
            group_id="g",
            topics=[OffsetFetchResponseTopics(**TOPIC, partitions=[UNSTABLE])],
            error_code=16,
        )
    ]
)

GOLDEN: dict[str, tuple[Any, int, str]] = {
    "join, oldest": (
        join(),
        0,
        "0001670000afc800036d2d310008636f6e73756d657200000001000572616e6765000000020102",
    ),
    "join, dynamic": (
        join(),
        4,
        ("0001670000afc8000493e000036d2d310008636f6e73756d657200000001000572616e6765000000020102"),
    ),
    "join, static": (
        join(group_instance_id="i"),
        5,
        (
            "0001670000afc8000493e000036d2d310001690008636f6e73756d657200000001000572616e6765"
            "000000020102"
        ),
    ),
    "join with a reason": (
        join(group_instance_id="i", reason="why"),
        9,
        ("02670000afc8000493e0046d2d31026909636f6e73756d6572020672616e6765030102000477687900"),
    ),
    "joined, throttled": (
        joined(),
        2,
        ("00000009000000000003000572616e676500036d2d3100036d2d310000000100036d2d31000000020102"),
    ),
    "joined, static": (
        joined("i", protocol_type="consumer"),
        7,
        (
            "0000000900000000000309636f6e73756d65720672616e6765046d2d31046d2d3102046d2d310269"
            "0301020000"
        ),
    ),
    "joined, no new assignment": (
        joined("i", protocol_type="consumer", skip_assignment=True),
        9,
        (
            "0000000900000000000309636f6e73756d65720672616e6765046d2d3101046d2d3102046d2d3102"
            "690301020000"
        ),
    ),
    "member id required": (
        JoinGroupResponse(error_code=79, protocol_name=None, member_id="m-1"),
        7,
        "00000000004fffffffff000001046d2d310100",
    ),
    "sync, oldest": (sync(), 0, "0001670000000300036d2d310000000100036d2d310000000103"),
    "sync, static": (
        sync(group_instance_id="i"),
        3,
        "0001670000000300036d2d310001690000000100036d2d310000000103",
    ),
    "sync, newest": (
        sync(group_instance_id="i", protocol_type="consumer", protocol_name="range"),
        5,
        "026700000003046d2d31026909636f6e73756d65720672616e676502046d2d3102030000",
    ),
    "synced, throttled": (SyncGroupResponse(assignment=b"\x03"), 1, "0000000000000000000103"),
    "synced, newest": (
        SyncGroupResponse(protocol_type="consumer", protocol_name="range", assignment=b"\x03"),
        5,
        "00000000000009636f6e73756d65720672616e6765020300",
    ),
    "heartbeat, oldest": (
        HeartbeatRequest(group_id="g", generation_id=3, member_id="m-1"),
        0,
        "0001670000000300036d2d31",
    ),
    "heartbeat, newest": (
        HeartbeatRequest(group_id="g", generation_id=3, member_id="m-1", group_instance_id="i"),
        4,
        "026700000003046d2d31026900",
    ),
    "heartbeat answer: rebalance": (HeartbeatResponse(error_code=27), 4, "00000000001b00"),
    "leave, one member": (LeaveGroupRequest(group_id="g", member_id="m-1"), 2, "00016700036d2d31"),
    "leave, several members": (
        LeaveGroupRequest(
            group_id="g",
            members=[MemberIdentity(member_id="m-1", group_instance_id="i", reason="why")],
        ),
        5,
        "026702046d2d310269047768790000",
    ),
    "left: unknown member": (
        LeaveGroupResponse(
            members=[MemberResponse(member_id="m-1", group_instance_id=None, error_code=25)]
        ),
        5,
        "00000000000002046d2d310000190000",
    ),
    "commit with retention": (
        commit(),
        2,
        (
            "0001670000000300036d2d31ffffffffffffffff0000000100066f72646572730000000100000002"
            "00000000000003e800046e6f7465"
        ),
    ),
    "commit with epoch": (
        commit(),
        6,
        (
            "0001670000000300036d2d310000000100066f7264657273000000010000000200000000000003e8"
            "0000000500046e6f7465"
        ),
    ),
    "commit, static": (
        commit(group_instance_id="i"),
        7,
        (
            "0001670000000300036d2d310001690000000100066f726465727300000001000000020000000000"
            "0003e80000000500046e6f7465"
        ),
    ),
    "commit by name": (
        commit(group_instance_id="i"),
        9,
        (
            "026700000003046d2d31026902076f7264657273020000000200000000000003e800000005056e6f"
            "7465000000"
        ),
    ),
    "commit by topic id": (
        commit(group_instance_id="i"),
        10,
        (
            "026700000003046d2d310269020123456789abcdef0123456789abcdef0200000002000000000000"
            "03e800000005056e6f7465000000"
        ),
    ),
    "commit answer, oldest": (COMMITTED, 2, "0000000100066f726465727300000001000000020016"),
    "commit answer by name": (COMMITTED, 9, "0000000002076f726465727302000000020016000000"),
    "commit answer by topic id": (
        COMMITTED,
        10,
        "00000000020123456789abcdef0123456789abcdef02000000020016000000",
    ),
    "fetch offsets, oldest": (
        fetch_one_group(),
        1,
        "0001670000000100066f7264657273000000020000000200000007",
    ),
    "fetch all offsets": (OffsetFetchRequest(group_id="g", topics=None), 5, "000167ffffffff"),
    "fetch stable offsets": (
        fetch_one_group(require_stable=True),
        7,
        "026702076f7264657273030000000200000007000100",
    ),
    "fetch offsets of groups": (
        FETCH_GROUPS,
        8,
        "02026702076f726465727303000000020000000700000100",
    ),
    "fetch offsets as a member": (
        FETCH_GROUPS,
        9,
        "020267046d2d310000000302076f726465727303000000020000000700000100",
    ),
    "fetch offsets by topic id": (
        FETCH_GROUPS,
        10,
        ("020267046d2d3100000003020123456789abcdef0123456789abcdef03000000020000000700000100"),
    ),
    "fetch all offsets of a group": (
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]),
        10,
        "02026700ffffffff00000000",
    ),
    "offsets, oldest": (
        offsets(),
        1,
        "0000000100066f7264657273000000010000000200000000000003e800046e6f74650000",
    ),
    "offsets with epoch and error": (
        offsets(error_code=16),
        7,
        ("0000000002076f7264657273020000000200000000000003e800000005056e6f746500000000001000"),
    ),
    "offsets of groups": (
        OFFSETS_OF_GROUPS,
        8,
        ("0000000002026702076f72646572730200000002ffffffffffffffffffffffff000058000000100000"),
    ),
    "offsets by topic id": (
        OFFSETS_OF_GROUPS,
        10,
        (
            "00000000020267020123456789abcdef0123456789abcdef0200000002ffffffffffffffffffffff"
            "ff000058000000100000"
        ),
    ),
}


@pytest.mark.parametrize(("message", "version", "raw"), GOLDEN.values(), ids=GOLDEN.keys())
def test_bytes_are_those_of_the_java_client(message: Any, version: int, raw: str) -> None:
    assert b"".join(message.encode(version)).hex() == raw
    decoded = type(message).decode(bytes.fromhex(raw), version)
    assert b"".join(decoded.encode(version)).hex() == raw


@pytest.mark.parametrize(
    ("version", "identity"), [(9, ("orders", UUID(int=0))), (10, ("", TOPIC_ID))]
)
@pytest.mark.parametrize("message", [commit(), COMMITTED], ids=["request", "response"])
def test_offsets_travel_by_name_up_to_v9_and_by_topic_id_from_v10(
    message: OffsetCommitRequest | OffsetCommitResponse, version: int, identity: tuple[str, UUID]
) -> None:
    [topic] = type(message).decode(b"".join(message.encode(version)), version).topics
    assert (topic.name, topic.topic_id) == identity
