"""OffsetDelete: committed offsets of partitions to whose topics no member subscribes."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from aiokafka_lite.testing.broker.handlers import offset_delete
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session
from aiokafka_lite.testing.broker.state.groups.group_offsets import StoredOffset
from tests.testing.broker.bench import Bench
from tests.testing.broker.state.groups.served_groups import join_request


def bench_with_offsets() -> Bench:
    bench = Bench(group_initial_rebalance_delay_ms=0)
    for topic in ("t", "u"):
        bench.topic(topic, 2)
        offsets = bench.groups.find_or_create("g").offsets
        offsets.commit(TopicPartition(topic, 0), StoredOffset(5))
    return bench


def delete(
    bench: Bench, *partitions: tuple[str, int], group: str = "g", session: Session = OPEN_SESSION
) -> tuple[int, list[int]]:
    topics = [
        OffsetDeleteRequestTopic(
            name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=index)]
        )
        for topic, index in partitions
    ]
    request = OffsetDeleteRequest(group_id=group, topics=topics)
    answer = bench.ask(offset_delete.HANDLER, request, 0, session=session)
    return answer.error_code, [p.error_code for topic in answer.topics for p in topic.partitions]


def test_each_partition_has_its_result() -> None:
    bench = bench_with_offsets()
    assert delete(bench, ("t", 0), ("t", 1), ("t", 2), ("x", 0)) == (0, [0, 0, 3, 3])
    assert set(bench.groups.view("g").offsets) == {TopicPartition("u", 0)}


def test_a_subscribed_topic_keeps_its_offsets() -> None:
    bench = bench_with_offsets()
    subscription = ConsumerProtocolMemberMetadata(0, ["t"], None).encode()
    bench.groups.find_or_create("g").membership.join(
        join_request(protocols={"range": subscription}), lambda _: None
    )
    assert delete(bench, ("t", 0), ("u", 0)) == (0, [86, 0])
    assert set(bench.groups.view("g").offsets) == {TopicPartition("t", 0)}


def test_a_group_of_others_keeps_all_while_it_has_members() -> None:
    bench = bench_with_offsets()
    bench.groups.find_or_create("g").membership.join(
        join_request(protocol_type="connect"), lambda _: None
    )
    assert delete(bench, ("t", 0)) == (68, [])


def test_errors() -> None:
    bench = bench_with_offsets()
    assert delete(bench, ("t", 0), group="nowhere") == (69, [])
    assert delete(bench, ("t", 0), group="") == (24, [])
    rules = [Acl.allow("bob", "DELETE", group="g"), Acl.allow("bob", "READ", topic="t")]
    authorizer = Authorizer(rules, (), allows_without_acl=False)
    assert delete(bench, ("t", 0), session=Session("User:me", authorizer=authorizer)) == (30, [])
    bob = Session("User:bob", authorizer=authorizer)
    assert delete(bench, ("t", 0), ("u", 0), session=bob) == (0, [0, 29])
