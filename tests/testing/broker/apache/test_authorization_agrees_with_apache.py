"""Each API refuses the same to the same user here and on a real Kafka with StandardAuthorizer.

Each set of rules has a user with topics, a group and a transactional id of its own. So all sets are
tried on one broker. What is compared is what is refused, in the order of each response.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from aiokafka_lite.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.conftest import NEWEST_FIRST, require_kafka
from tests.testing.broker.apache.authorization_probe import (
    SCENARIOS,
    USERS,
    User,
    acls_of,
    rights,
)
from tests.testing.broker.bench import WireClient

PASSWORDS = {user.name: "secret" for user in USERS.values()}
ACLS = [acl for scenario, user in USERS.items() for acl in acls_of(user)[scenario]]
TOPICS = [name for user in USERS.values() for name in (user.existing, user.doomed)]

UNKNOWN = {"3.9.2": {f"{does} configs of group" for does in ("describe", "alter", "replace")}}
"""What a release refuses whoever asks: groups have had settings since Kafka 4.0."""
REFUSED_EVERYTHING = {
    "metadata": ["topic", "topic", "-"],  # "-": a field of the whole response
    "metadata by id": ["topic", "-"],
    "produce": ["topic", "topic"],
    "fetch": ["-", "topic", "topic"],
    "list offsets": ["topic", "topic"],
    "find coordinator 0": ["-", "group"],
    "find coordinator 1": ["-", "transactional id"],
    "find coordinator 2": ["-", "cluster"],
    "join": ["group"],
    "commit": ["group", "group"],
    "init": ["cluster"],
    "init transactions": ["transactional id"],
    "add partitions": ["-", "transactional id"],
    "end": ["transactional id"],
    "describe group": ["group"],
    "delete offsets": ["group"],
    "delete group": ["group"],
    "describe transactions": ["transactional id"],
    "describe producers": ["topic", "topic"],
    "write markers": ["cluster", "cluster"],
    "delete": ["topic"],
    "create by asking": ["topic"],
    "describe configs of topic": ["topic"],
    "alter configs of broker": ["cluster"],
    "replace configs of logger": ["-"],  # the kind is looked at before the right
    "alter configs of client metrics": ["cluster"],
    "describe configs of group": ["group"],
    "list client metrics": ["cluster"],
    "update features": ["cluster"],
    "describe quorum": ["cluster"],
    "unregister broker": ["cluster"],
    "describe log dirs": ["cluster"],
    "elect leaders": ["cluster", "cluster", "cluster"],
    "reassign": ["cluster", "cluster", "cluster"],
    "list reassignments": ["cluster"],
    "move replicas": ["cluster", "cluster"],
    "delete records": ["topic", "topic"],
    "describe rules": ["cluster"],
    "alter quotas": ["cluster"],
    "describe users": ["cluster"],
    "create token": ["token"],
    "listed": [],
}


async def tried(servers: str, scenario: str) -> dict[str, Any]:
    user = USERS[scenario]
    async with await WireClient.connect(servers) as client:
        assert (await client.log_in(user.name, "secret")).error_code == 0
        return await rights(client, user)


async def note_topic_ids(client: WireClient) -> None:
    asked = [MetadataRequestTopic(name=user.existing) for user in USERS.values()]
    told = await client.ask(MetadataRequest(topics=asked), 12)
    ids = {topic.name: topic.topic_id for topic in told.topics}
    for user in USERS.values():
        user.topic_id = ids[user.existing]


def embedded_broker() -> EmbeddedBroker:
    return EmbeddedBroker(
        security="SASL_PLAINTEXT",
        users={**PASSWORDS, "root": "secret"},
        acls=ACLS,
        super_users=["root"],
    )


async def tried_here(scenario: str) -> dict[str, Any]:
    async with embedded_broker() as broker:
        for name in TOPICS:
            broker.create_topic(name)
        async with await WireClient.connect(broker.bootstrap_servers) as client:
            await client.log_in("root", "secret")
            await note_topic_ids(client)
        return await tried(broker.bootstrap_servers, scenario)


async def test_a_user_without_rules_is_refused_everything() -> None:
    found = await tried_here("nothing")
    assert {name: found[name] for name in REFUSED_EVERYTHING} == REFUSED_EVERYTHING


async def test_a_consumer_may_read_its_topic_and_nothing_else() -> None:
    found = await tried_here("consumer")
    assert found["metadata"] == ["-", "-", "topic", "-"]  # topic, its partition, missing topic
    assert found["fetch"] == ["-", "-", "topic"]
    assert found["commit"] == found["committed"][1:3] == ["-", "topic"]
    assert found["join"] == found["heartbeat"] == ["-"]
    assert found["produce"] == ["topic", "topic"]
    assert found["init"] == ["cluster"]
    assert found["listed"] == ["here"]
    assert found["operations"] == [1 << 3 | 1 << 8, 0]


# On a real Kafka…


@pytest.fixture(scope="module", params=NEWEST_FIRST)
def secured_kafka(request: pytest.FixtureRequest) -> Iterator[ApacheKafka]:
    require_kafka(request.param)
    with ApacheKafka(
        request.param,
        security="SASL_PLAINTEXT",
        users=PASSWORDS,
        mechanisms=["PLAIN"],
        properties={
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        },
    ) as kafka:
        asyncio.run(set_up(kafka))
        yield kafka


async def set_up(kafka: ApacheKafka) -> None:
    servers = kafka.servers("PLAINTEXT")
    async with await WireClient.connect(servers) as client:
        topics = [
            CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in TOPICS
        ]
        made = await client.ask(CreateTopicsRequest(topics=topics, timeout_ms=60_000))
        assert {topic.error_code for topic in made.topics} == {0}
        await asyncio.to_thread(create_acls, servers)
        async with asyncio.timeout(60):
            while True:
                asked = [MetadataRequestTopic(name=name) for name in TOPICS]
                told = await client.ask(MetadataRequest(topics=asked), 12)
                if not any(topic.error_code for topic in told.topics):
                    break
                await asyncio.sleep(0.05)
        await note_topic_ids(client)
    # Rules are seen in the order they were made, so the newest is the last to be seen.
    async with asyncio.timeout(60):
        while not await sees_its_topic(kafka.bootstrap_servers, USERS[SCENARIOS[-1]]):
            await asyncio.sleep(0.05)
    # The first coordinator makes Kafka's own topics, which takes a moment.
    async with await WireClient.connect(servers) as client:
        await coordinators_serve(client)


async def sees_its_topic(servers: str, user: User) -> bool:
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=user.existing)], allow_auto_topic_creation=False
    )
    async with await WireClient.connect(servers) as client:
        assert (await client.log_in(user.name, "secret")).error_code == 0
        return not (await client.ask(asked, 9)).topics[0].error_code


async def coordinators_serve(client: WireClient) -> None:
    from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest

    for kind in (0, 1):
        async with asyncio.timeout(60):
            while True:
                asked = FindCoordinatorRequest(key_type=kind, coordinator_keys=["x"])
                if not (await client.ask(asked, 4)).coordinators[0].error_code:
                    break
                await asyncio.sleep(0.05)


def create_acls(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_acls([each for acl in ACLS for each in bindings(acl)]).values():
        future.result(60)


def bindings(acl: Acl) -> Iterator[AclBinding]:
    kinds = {
        "TOPIC": ResourceType.TOPIC,
        "GROUP": ResourceType.GROUP,
        "CLUSTER": ResourceType.BROKER,
        "TRANSACTIONAL_ID": ResourceType.TRANSACTIONAL_ID,
    }
    for operation in sorted(acl.operations):
        yield AclBinding(
            kinds[acl.resource_type.name],
            acl.name,
            ResourcePatternType.PREFIXED if acl.is_prefixed else ResourcePatternType.LITERAL,
            acl.principal,
            acl.host,
            AclOperation[operation.name],
            AclPermissionType.ALLOW if acl.is_allowed else AclPermissionType.DENY,
        )


@pytest.mark.usefixtures("others_may_leak")
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_each_set_of_rules_refuses_the_same(
    secured_kafka: ApacheKafka, scenario: str
) -> None:
    expected = await tried_here(scenario)
    async with await WireClient.connect(secured_kafka.servers("PLAINTEXT")) as client:
        await note_topic_ids(client)
    found = await tried(secured_kafka.bootstrap_servers, scenario)
    for name in expected.keys() & UNKNOWN.get(secured_kafka.version, set()):
        assert expected.pop(name) in (["-"], ["group"])
        assert found.pop(name) == ["-"]
    assert found == expected


def test_each_user_has_its_own_resources() -> None:
    assert len({user.existing for user in USERS.values()}) == len(SCENARIOS)
    assert User("00").name == "user00"
