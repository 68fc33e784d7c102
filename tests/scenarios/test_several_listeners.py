"""One cluster with several listeners: clients meet over the data, each by its own addresses."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import Acl, BrokerListener, EmbeddedBroker
from aiokafka_lite.testing.free_ports import server_ports
from tests.support.leftovers import nothing_left_behind
from tests.support.patience import PATIENCE_S

LISTENERS: Mapping[str, str | BrokerListener] = {
    "INTERNAL": "PLAINTEXT",
    "EXTERNAL": BrokerListener("SASL_SSL", mechanisms=["SCRAM-SHA-256"]),
    "PARTNERS": BrokerListener("SSL", ssl_client_auth="required"),
}
USERS = {"alice": "secret"}


def cluster(nodes: int = 3, **options: Any) -> EmbeddedBroker:
    return EmbeddedBroker(nodes, listeners=LISTENERS, users=USERS, **options)


def inside(broker: EmbeddedBroker) -> dict[str, Any]:
    return {"bootstrap_servers": broker.bootstrap_servers}


def outside(broker: EmbeddedBroker, **others: Any) -> dict[str, Any]:
    return {
        "bootstrap_servers": broker.servers("EXTERNAL"),
        **broker.client_options("alice", listener="EXTERNAL"),
        **others,
    }


def ways(broker: EmbeddedBroker, client_id: str) -> set[tuple[str, int]]:
    """Return the listeners by which a client came, and the nodes that it asked there."""
    return {
        (each.listener, each.node_id) for each in broker.requests if each.client_id == client_id
    }


async def test_records_written_inside_are_read_outside() -> None:
    async with nothing_left_behind(), cluster() as broker:
        broker.create_topic("t", 3)
        async with AIOKafkaProducer(**inside(broker), client_id="in") as producer:
            for partition in range(3):
                await producer.send_and_wait("t", b"%d" % partition, partition=partition)
        consumer = AIOKafkaConsumer(
            "t", group_id="g", auto_offset_reset="earliest", **outside(broker, client_id="out")
        )
        async with consumer, asyncio.timeout(PATIENCE_S):
            assert {(await consumer.getone()).value for _ in range(3)} == {b"0", b"1", b"2"}
            await consumer.commit()
        assert ways(broker, "in") == {("INTERNAL", node) for node in (1, 2, 3)}
        assert ways(broker, "out") == {("EXTERNAL", node) for node in (1, 2, 3)}


async def test_a_client_moves_from_one_listener_to_another() -> None:
    """A group's offsets, and a transactional id, are the cluster's and not a listener's."""
    async with nothing_left_behind(), cluster() as broker:
        reading: dict[str, Any] = {"group_id": "g", "auto_offset_reset": "earliest"}
        for number, options in enumerate((inside(broker), outside(broker), inside(broker))):
            writing = AIOKafkaProducer(transactional_id="id", **options)
            async with writing as producer, producer.transaction():
                await producer.send("t", b"%d" % number)
            consumer = AIOKafkaConsumer("t", isolation_level="read_committed", **reading, **options)
            async with consumer, asyncio.timeout(PATIENCE_S):
                assert (await consumer.getone()).value == b"%d" % number
                await consumer.commit()


async def test_a_leader_that_moves_is_found_on_the_same_listener() -> None:
    """Also by the addresses in the answers of Produce and Fetch (KIP-951)."""
    async with nothing_left_behind(), cluster() as broker:
        broker.create_topic("t")
        consumer = AIOKafkaConsumer(
            "t", auto_offset_reset="earliest", **outside(broker, client_id="out")
        )
        writing = AIOKafkaProducer(**outside(broker, client_id="out"))
        async with consumer, writing as producer, asyncio.timeout(PATIENCE_S):
            for node_id in (2, 3, 1):
                broker.move_leader(("t", 0), node_id)
                await producer.send_and_wait("t", b"%d" % node_id)
                assert (await consumer.getone()).value == b"%d" % node_id
        assert {listener for listener, _ in ways(broker, "out")} == {"EXTERNAL"}


async def test_each_listener_is_told_its_own_addresses() -> None:
    async with nothing_left_behind(), cluster() as broker:
        alice = broker.client_certificate("alice")
        partners = broker.client_options(certificate=alice, listener="PARTNERS")
        for name, options in (
            ("INTERNAL", inside(broker)),
            ("EXTERNAL", outside(broker)),
            ("PARTNERS", {"bootstrap_servers": broker.servers("PARTNERS"), **partners}),
        ):
            async with AIOKafkaAdminClient(**options) as admin:
                described = await admin.describe_cluster()
            told = {f"{each['host']}:{each['port']}" for each in described["brokers"]}
            assert told == set(broker.servers(name).split(","))
        everything = {broker.servers(name) for name in LISTENERS}
        assert len({address for each in everything for address in each.split(",")}) == 9


async def test_a_stopped_node_refuses_on_each_listener_and_returns_to_its_ports() -> None:
    async with nothing_left_behind(), cluster(nodes=2) as broker:
        before = [broker.servers(name) for name in LISTENERS]
        options = outside(broker, bootstrap_servers=broker.servers("EXTERNAL").split(",")[0])
        broker.stop_node(1)
        with pytest.raises(KafkaConnectionError):
            await AIOKafkaProducer(**options).start()
        broker.start_node(1)
        assert [broker.servers(name) for name in LISTENERS] == before
        async with AIOKafkaProducer(**options) as producer:
            await producer.send_and_wait("t", b"v")


async def test_one_set_of_rules_holds_on_all_listeners() -> None:
    rules = [Acl.allow("alice", "ALL", topic="t"), Acl.allow("ANONYMOUS", "READ", topic="t")]
    async with nothing_left_behind(), cluster(1, acls=rules) as broker:
        broker.create_topic("t")
        async with AIOKafkaProducer(**outside(broker)) as producer:
            await producer.send_and_wait("t", b"v")
        async with AIOKafkaProducer(enable_idempotence=False, **inside(broker)) as producer:
            with pytest.raises(TopicAuthorizationFailedError):
                await producer.send_and_wait("t", b"v")
        broker.set_acls([*rules, Acl.allow("ANONYMOUS", "WRITE", topic="t")])
        async with AIOKafkaProducer(**inside(broker)) as producer:
            await producer.send_and_wait("t", b"v")


async def test_a_password_changes_for_each_listener_at_once() -> None:
    inner, outer = "SASL_PLAINTEXT", BrokerListener("SASL_SSL", mechanisms=["SCRAM-SHA-512"])
    listeners: Mapping[str, str | BrokerListener] = {"A": inner, "B": outer}
    async with nothing_left_behind(), EmbeddedBroker(listeners=listeners, users=USERS) as broker:
        broker.set_password("alice", "another")
        assert broker.client_options("alice")["sasl_plain_password"] == "another"
        for name in listeners:
            options = {
                "bootstrap_servers": broker.servers(name),
                **broker.client_options("alice", listener=name),
            }
            async with AIOKafkaProducer(**options) as producer:
                await producer.send_and_wait("t", b"v")
            options["sasl_plain_password"] = "secret"
            with pytest.raises(AuthenticationFailedError):
                await AIOKafkaProducer(**options).start()


async def test_a_fault_of_a_node_is_met_on_each_listener() -> None:
    async with nothing_left_behind(), cluster(1) as broker:
        broker.create_topic("t")
        broker.faults.cut(ApiKey.PRODUCE, times=2)
        for options in (inside(broker), outside(broker)):
            async with AIOKafkaProducer(**options) as producer:
                await producer.send_and_wait("t", b"v")
        assert broker.log(("t", 0)).high_watermark == 2


async def test_listeners_may_have_ports_of_their_own() -> None:
    with ExitStack() as ports:
        first, second = server_ports(2, ports)
        listeners = {
            "A": BrokerListener("PLAINTEXT", first),
            "B": BrokerListener("PLAINTEXT", second),
        }
        async with EmbeddedBroker(listeners=listeners) as broker:
            assert broker.bootstrap_servers == broker.servers("A") == f"127.0.0.1:{first}"
            assert broker.servers("B") == f"127.0.0.1:{second}"


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            {"port": 9092, "listeners": {"A": "PLAINTEXT"}},
            r"port is for .* use BrokerListener\(port=…\)",
        ),
        (
            {
                "listeners": {
                    "A": BrokerListener("SSL", 9092),
                    "B": BrokerListener("PLAINTEXT", 9093),
                }
            },
            r"listeners\['B'\]: port must be 9094 to 65534, got 9093",
        ),
        (
            {"listeners": {"A": BrokerListener("SSL", -1)}},
            r"listeners\['A'\]: port must be 0 to 65534",
        ),
    ],
)
def test_ports_that_cannot_be_are_named(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        EmbeddedBroker(2, **options)


def test_an_unknown_listener_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"listener must be one of .*INTERNAL, EXTERNAL, PARTNERS"):
        cluster().servers("OUTSIDE")
