"""One client's view of its rights: the same requests of every API, and what is refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from aiokafka_lite.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from aiokafka_lite.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.describe_cluster import DescribeClusterRequest
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from aiokafka_lite.protocol.messages.describe_transactions import DescribeTransactionsRequest
from aiokafka_lite.protocol.messages.end_txn import EndTxnRequest
from aiokafka_lite.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from aiokafka_lite.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from aiokafka_lite.schema.message import Request
from aiokafka_lite.schema.versioned_struct import Struct
from aiokafka_lite.testing.broker import Acl
from tests.testing.broker.apache.admin_requests import admin_requests
from tests.testing.broker.bench import WireClient, batch

REFUSALS = {29: "topic", 30: "group", 31: "cluster", 53: "transactional id", 65: "token"}

ONE_CODE = {"create by asking", "update features", "describe users"}
"""Only the first code of their responses is compared: a real broker's new topic has no partition at
first, and releases differ in what they repeat for each feature and user."""

MakeAcls = Callable[[str], Sequence[Acl]]
"""The rules of one user, by its number; its resources end with the number."""


@dataclass
class User:
    """One user with resources of its own, so that all can be tried on one broker."""

    number: str
    topic_id: UUID = field(default_factory=lambda: UUID(int=0))

    @property
    def name(self) -> str:
        return f"user{self.number}"

    @property
    def existing(self) -> str:
        return f"here-{self.number}"

    @property
    def doomed(self) -> str:
        return f"doomed-{self.number}"

    @property
    def missing(self) -> str:
        return f"missing-{self.number}"


def acls_of(user: User) -> Mapping[str, Sequence[Acl]]:
    """Every set of rules that is compared, by what it tries."""
    u, n = user.name, user.number
    here, doomed, missing = user.existing, user.doomed, user.missing
    group, txn = f"group-{n}", f"txn-{n}"
    return {
        "nothing": [],
        "describe": [Acl.allow(u, "DESCRIBE", topic=here)],
        "consumer": [Acl.allow(u, "READ", topic=here), Acl.allow(u, "READ", group=group)],
        "delete group": [Acl.allow(u, "DELETE", group=group), Acl.allow(u, "READ", topic=here)],
        "describe group": [Acl.allow(u, "DESCRIBE", group=group)],
        "producer": [Acl.allow(u, "WRITE", topic=here)],
        "transactional producer": [
            Acl.allow(u, "WRITE", topic=here),
            Acl.allow(u, "WRITE", transactional_id=txn),
            Acl.allow(u, "READ", group=group),
            Acl.allow(u, "READ", topic=here),
        ],
        "describe transactional id": [Acl.allow(u, "DESCRIBE", transactional_id=txn)],
        "transactional id without group": [
            Acl.allow(u, "WRITE", topic=here),
            Acl.allow(u, "WRITE", transactional_id=txn),
        ],
        "denied reading": [
            Acl.allow(u, "ALL", topic=here),
            Acl.deny(u, "READ", topic=here),
            Acl.allow(u, "ALL", group=group),
        ],
        "denied describing": [
            Acl.allow(u, "READ", "WRITE", topic=here),
            Acl.deny(u, "DESCRIBE", topic=here),
        ],
        "all by prefix": [
            Acl.allow(u, "ALL", topic=name[:-1], prefixed=True) for name in (here, doomed, missing)
        ],
        "denied by prefix": [
            Acl.allow(u, "ALL", topic=here),
            Acl.deny(u, "ALL", topic=here[:-1], prefixed=True),
        ],
        "idempotent": [Acl.allow(u, "IDEMPOTENT_WRITE", cluster=True)],
        "create topic": [
            Acl.allow(u, "CREATE", "DESCRIBE", topic=missing),
            Acl.allow(u, "DESCRIBE_CONFIGS", topic=f"{missing}-new"),
            Acl.allow(u, "CREATE", topic=f"{missing}-new"),
        ],
        "create in cluster": [
            Acl.allow(u, "CREATE", cluster=True),
            Acl.allow(u, "DESCRIBE", topic=missing),
        ],
        "describe missing": [Acl.allow(u, "DESCRIBE", topic=missing)],
        "delete": [Acl.allow(u, "DELETE", topic=doomed)],
        "describe doomed": [Acl.allow(u, "DESCRIBE", topic=doomed)],
        "delete in cluster": [Acl.allow(u, "DELETE", cluster=True)],
        "alter": [Acl.allow(u, "ALTER", topic=here)],
        "alter configs": [Acl.allow(u, "ALTER_CONFIGS", topic=here)],
        "describe configs": [
            Acl.allow(u, "DESCRIBE_CONFIGS", topic=here),
            Acl.allow(u, "DESCRIBE_CONFIGS", group=group),
        ],
        "alter configs of a group": [Acl.allow(u, "ALTER_CONFIGS", group=group)],
        "describe cluster": [Acl.allow(u, "DESCRIBE", cluster=True)],
        "alter cluster": [Acl.allow(u, "ALTER", cluster=True)],
        "describe configs of the cluster": [Acl.allow(u, "DESCRIBE_CONFIGS", cluster=True)],
        "alter configs of the cluster": [Acl.allow(u, "ALTER_CONFIGS", cluster=True)],
        "delete records": [Acl.allow(u, "DELETE", topic=here)],
        "cluster action": [Acl.allow(u, "CLUSTER_ACTION", cluster=True)],
        "another host": [Acl.allow(u, "ALL", topic=here, host="10.1.2.3")],
        "this host": [Acl.allow(u, "ALL", topic=here, host="127.0.0.1")],
    }


SCENARIOS = tuple(acls_of(User("0")))
USERS = {scenario: User(f"{i:02}") for i, scenario in enumerate(SCENARIOS)}


async def rights(client: WireClient, user: User) -> dict[str, Any]:
    """What each API refuses to the user that has logged in: its name -> kinds, in order."""
    found: dict[str, Any] = {}
    listed = await client.ask(MetadataRequest(topics=None), 12)
    mine = {user.existing, user.doomed, user.missing}
    found["listed"] = sorted(
        (topic.name or "").rsplit("-", 1)[0] for topic in listed.topics if topic.name in mine
    )
    for name, request, version in requests_of(user):
        values = list(values_of(await client.ask(request, version)))
        if name.startswith("operations"):
            found[name] = [value for key, value in values if key.endswith("_operations")]
        else:
            codes = [value for key, value in values if key.endswith("error_code")]
            found[name] = [REFUSALS.get(code, "-") for code in codes]
        if name in ONE_CODE:
            found[name] = found[name][:1]
    return found


def values_of(message: Struct) -> Iterator[tuple[str, Any]]:
    """Each field of a message and of those inside, topics by their names.

    Brokers order the topics of a response as they like.
    """
    slots: tuple[str, ...] = vars(type(message))["__slots__"]
    for name in slots:
        value = getattr(message, name)
        for each in sorted(value, key=_name_of) if isinstance(value, list) else (value,):
            if isinstance(each, Struct):
                yield from values_of(each)
            else:
                yield name, each


def _name_of(entry: object) -> str:
    return str(getattr(entry, "name", None) or getattr(entry, "topic", None) or "")


def requests_of(user: User) -> Iterator[tuple[str, Request[Any], int]]:
    """(name, request, version), those that change something last."""
    yield from _of_topics(user)
    yield from _of_groups(user)
    yield from _of_transactions(user)
    yield from admin_requests(user.existing, user.missing, f"group-{user.number}")
    yield from _of_group_admins(user)
    yield from _of_admins(user)


def _of_topics(user: User) -> Iterator[tuple[str, Request[Any], int]]:
    here, missing = user.existing, user.missing
    asked = [MetadataRequestTopic(name=name) for name in (here, missing)]
    quiet = {"allow_auto_topic_creation": False}
    yield "metadata", MetadataRequest(topics=asked, **quiet), 9
    by_id = [MetadataRequestTopic(topic_id=user.topic_id, name=None)]
    yield "metadata by id", MetadataRequest(topics=by_id, **quiet), 12
    told = MetadataRequest(
        topics=asked[:1],
        include_topic_authorized_operations=True,
        include_cluster_authorized_operations=True,
        **quiet,
    )
    yield "operations", told, 9
    cluster = DescribeClusterRequest(include_cluster_authorized_operations=True)
    yield "operations of the cluster", cluster, 1
    data = [PartitionProduceData(index=0, records=batch())]
    written = [TopicProduceData(name=name, partition_data=data) for name in (here, missing)]
    yield "produce", ProduceRequest(acks=-1, timeout_ms=9000, topic_data=written), 9
    in_transaction = batch(producer=(999, 0, 0), is_transactional=True)
    written = [
        TopicProduceData(
            name=here, partition_data=[PartitionProduceData(index=0, records=in_transaction)]
        )
    ]
    transactional = ProduceRequest(
        transactional_id=f"txn-{user.number}", acks=-1, timeout_ms=9000, topic_data=written
    )
    yield "produce in a transaction", transactional, 9
    read = [FetchPartition(partition=0, partition_max_bytes=1000)]
    topics = [FetchTopic(topic=name, partitions=read) for name in (here, missing)]
    yield "fetch", FetchRequest(max_wait_ms=0, max_bytes=1000, topics=topics), 12
    topics = [FetchTopic(topic_id=user.topic_id, partitions=read)]
    yield "fetch by id", FetchRequest(max_wait_ms=0, max_bytes=1000, topics=topics), 16
    offsets = [ListOffsetsPartition(partition_index=0, timestamp=-1)]
    looked_up = [ListOffsetsTopic(name=name, partitions=offsets) for name in (here, missing)]
    yield "list offsets", ListOffsetsRequest(replica_id=-1, topics=looked_up), 7
    epochs = [OffsetForLeaderPartition(partition=0, leader_epoch=0)]
    ended = [OffsetForLeaderTopic(topic=name, partitions=epochs) for name in (here, missing)]
    yield "leader epoch", OffsetForLeaderEpochRequest(replica_id=-1, topics=ended), 4


def _of_groups(user: User) -> Iterator[tuple[str, Request[Any], int]]:
    group, here, missing = f"group-{user.number}", user.existing, user.missing
    for kind, key in enumerate((group, f"txn-{user.number}", f"{group}:{UUID(int=1)}:0")):
        keys = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])
        yield f"find coordinator {kind}", keys, 6 if kind == 2 else 4
    join = JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="stranger",
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
    )
    yield "join", join, 7
    yield "sync", SyncGroupRequest(group_id=group, generation_id=1, member_id="stranger"), 3
    yield "heartbeat", HeartbeatRequest(group_id=group, generation_id=1, member_id="stranger"), 3
    leaving = LeaveGroupRequest(group_id=group, members=[MemberIdentity(member_id="stranger")])
    yield "leave", leaving, 4
    offsets = [OffsetCommitRequestPartition(partition_index=0, committed_offset=0)]
    topics = [OffsetCommitRequestTopic(name=name, partitions=offsets) for name in (here, missing)]
    commit = OffsetCommitRequest(
        group_id=group, generation_id_or_member_epoch=-1, member_id="", topics=topics
    )
    yield "commit", commit, 8
    asked = [OffsetFetchRequestTopics(name=name, partition_indexes=[0]) for name in (here, missing)]
    for name, chosen in (("committed", asked), ("all committed", None)):
        groups = [OffsetFetchRequestGroup(group_id=group, topics=chosen)]
        yield name, OffsetFetchRequest(groups=groups), 8


def _of_transactions(user: User) -> Iterator[tuple[str, Request[Any], int]]:
    group, txn = f"group-{user.number}", f"txn-{user.number}"
    here, missing = user.existing, user.missing
    yield "init", InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=9000), 4
    producer: dict[str, Any] = {"producer_id": 999, "producer_epoch": 0}
    topics = [AddPartitionsToTxnTopic(name=name, partitions=[0]) for name in (here, missing)]
    for name, chosen in (("add partitions", topics[:1]), ("add missing partitions", topics)):
        adding = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=txn,
            v3_and_below_producer_id=999,
            v3_and_below_topics=chosen,
        )
        yield name, adding, 3
    transaction = AddPartitionsToTxnTransaction(
        transactional_id=txn, topics=topics[:1], verify_only=True, **producer
    )
    yield "add as a broker", AddPartitionsToTxnRequest(transactions=[transaction]), 4
    names: dict[str, Any] = {"transactional_id": txn, "group_id": group, **producer}
    yield "add offsets", AddOffsetsToTxnRequest(**names), 3
    offsets = [TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=0)]
    committed = [
        TxnOffsetCommitRequestTopic(name=name, partitions=offsets) for name in (here, missing)
    ]
    yield "commit in transaction", TxnOffsetCommitRequest(topics=committed, **names), 3
    yield "end", EndTxnRequest(transactional_id=txn, committed=True, **producer), 3
    yield (
        "init transactions",
        InitProducerIdRequest(transactional_id=txn, transaction_timeout_ms=9000),
        4,
    )
    yield "describe transactions", DescribeTransactionsRequest(transactional_ids=[txn]), 0
    described = [TopicRequest(name=name, partition_indexes=[0]) for name in (here, missing)]
    yield "describe producers", DescribeProducersRequest(topics=described), 0
    marked = [WritableTxnMarkerTopic(name=name, partition_indexes=[0]) for name in (here, missing)]
    marker = WritableTxnMarker(topics=marked, **producer)
    yield "write markers", WriteTxnMarkersRequest(markers=[marker]), 1


def _of_group_admins(user: User) -> Iterator[tuple[str, Request[Any], int]]:
    group, here, missing = f"group-{user.number}", user.existing, user.missing
    yield "describe group", DescribeGroupsRequest(groups=[group]), 5
    asked = DescribeGroupsRequest(groups=[group], include_authorized_operations=True)
    yield "describe group with operations", asked, 5
    offsets = [OffsetDeleteRequestPartition(partition_index=0)]
    topics = [OffsetDeleteRequestTopic(name=name, partitions=offsets) for name in (here, missing)]
    yield "delete offsets", OffsetDeleteRequest(group_id=group, topics=topics), 0
    yield "delete group", DeleteGroupsRequest(groups_names=[group]), 2


def _of_admins(user: User) -> Iterator[tuple[str, Request[Any], int]]:
    new = f"{user.missing}-new"
    wanted = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        for name in (new, user.existing)
    ]
    creation = CreateTopicsRequest(topics=wanted[:1], timeout_ms=9000, validate_only=True)
    yield "create", creation, 7
    more = [CreatePartitionsTopic(name=user.existing, count=2, assignments=None)]
    yield (
        "more partitions",
        CreatePartitionsRequest(topics=more, timeout_ms=9000, validate_only=True),
        3,
    )
    none = [DeleteTopicState(name=user.missing)]
    yield "delete missing", DeleteTopicsRequest(topics=none, timeout_ms=9000), 6
    doomed = [DeleteTopicState(name=user.doomed)]
    yield "delete", DeleteTopicsRequest(topics=doomed, timeout_ms=9000), 6
    asked = [MetadataRequestTopic(name=user.missing)]
    yield "create by asking", MetadataRequest(topics=asked, allow_auto_topic_creation=True), 9
