"""Leaders are elected, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import ElectionType, NewTopic
from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    ElectionNotNeededError,
    EligibleLeadersNotAvailableError,
    IllegalArgumentError,
    KafkaTimeoutError,
    NotControllerError,
    PreferredLeaderNotAvailableError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.elect_leaders import ElectLeadersRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker

PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


@pytest.fixture
async def three() -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(nodes=3) as broker:
        broker.create_topic("t", 3)
        yield broker


@pytest.fixture
async def admin(three: EmbeddedBroker) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=three.bootstrap_servers) as admin:
        yield admin


async def test_another_client_is_told_the_same(any_kafka: str, topic_name: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        await admin.create_topics([NewTopic(topic_name, 1, 1)])
        keys = [TopicPartition(topic_name, 7), TopicPartition(topic_name, 0)]
        ours = await admin.elect_leaders(PREFERRED, keys)
        assert list(ours) == keys
        assert isinstance(ours[keys[0]], UnknownTopicOrPartitionError)
        assert isinstance(ours[keys[1]], ElectionNotNeededError)
        assert f"{topic_name}-0" in str(ours[keys[1]])
        assert not [tp for tp in await admin.elect_leaders(PREFERRED) if tp.topic == topic_name]
        witness = AdminClient({"bootstrap.servers": any_kafka, "log_level": 0})
        future = witness.elect_leaders(
            confluent_kafka.ElectionType.PREFERRED,
            [confluent_kafka.TopicPartition(*key) for key in keys],
        )
        told = await asyncio.to_thread(future.result, 60)
        codes = {(tp.topic, tp.partition): error.code() for tp, error in told.items()}
        assert codes == {keys[0]: 3, keys[1]: 84}


async def test_the_preferred_replica_leads_again(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    first, second = TopicPartition("t", 0), TopicPartition("t", 1)
    three.move_leader(first, 2)
    outcomes = await admin.elect_leaders(PREFERRED, [first, second])
    assert outcomes.succeeded == {first: None}
    assert isinstance(outcomes[second], ElectionNotNeededError)
    assert three.leader(first) == 1
    assert len(three.requests_of(ElectLeadersRequest)) == 1  # no error is asked for again


async def test_all_partitions_that_need_it(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    three.stop_node(1)
    three.start_node(1)
    assert three.leader(("t", 0)) != 1
    assert await admin.elect_leaders(PREFERRED) == {TopicPartition("t", 0): None}
    assert [three.leader(("t", number)) for number in range(3)] == [1, 2, 3]


async def test_nodes_that_are_down(three: EmbeddedBroker, admin: AIOKafkaAdminClient) -> None:
    three.create_topic("alone", 3, replication_factor=1)
    three.stop_node(1)
    led, alone = TopicPartition("t", 0), TopicPartition("alone", 0)
    preferred = await admin.elect_leaders(PREFERRED, [led, alone])
    assert isinstance(preferred[led], PreferredLeaderNotAvailableError)
    assert isinstance(preferred[alone], PreferredLeaderNotAvailableError)
    unclean = await admin.elect_leaders(UNCLEAN, [led, alone])
    assert isinstance(unclean[led], ElectionNotNeededError)
    assert isinstance(unclean[alone], EligibleLeadersNotAvailableError)


async def test_a_controller_that_moves_is_followed(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    tp = TopicPartition("t", 0)
    three.move_leader(tp, 2)
    three.faults.fail(ApiKey.ELECT_LEADERS, NotControllerError)
    (await admin.elect_leaders(PREFERRED, [tp])).raise_first()
    three.move_leader(tp, 2)
    three.faults.cut(ApiKey.ELECT_LEADERS)  # the response is lost, so the call asks again
    assert isinstance((await admin.elect_leaders(PREFERRED, [tp]))[tp], ElectionNotNeededError)
    assert three.leader(tp) == 1


async def test_a_controller_that_never_answers(
    three: EmbeddedBroker, admin: AIOKafkaAdminClient
) -> None:
    three.faults.drop(ApiKey.ELECT_LEADERS, times=None)
    with pytest.raises(KafkaTimeoutError, match=r"elect_leaders\(\): no result within 0.2 s"):
        (await admin.elect_leaders(PREFERRED, [TopicPartition("t", 0)], 200)).raise_first()
    with pytest.raises(KafkaTimeoutError, match=r"elect_leaders\(\)"):
        await admin.elect_leaders(PREFERRED, timeout_ms=200)


async def test_what_means_nothing_is_refused(admin: AIOKafkaAdminClient) -> None:
    with pytest.raises(IllegalArgumentError, match="election_type=2 is unknown"):
        await admin.elect_leaders(2)  # type: ignore[arg-type]  # the point
    with pytest.raises(IllegalArgumentError, match="partition is not an int"):
        await admin.elect_leaders(PREFERRED, [TopicPartition("t", -1)])


async def test_a_right_that_is_missing() -> None:
    async with (
        EmbeddedBroker(acls=[Acl.allow("ANONYMOUS", "DESCRIBE", cluster=True)]) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t")
        for partitions in (None, [TopicPartition("t", 0)]):
            with pytest.raises(ClusterAuthorizationFailedError):
                await admin.elect_leaders(PREFERRED, partitions)
