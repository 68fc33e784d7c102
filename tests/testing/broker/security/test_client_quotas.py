"""Quotas of entities: stored, changed, found; the errors are compared with Apache Kafka's."""

import asyncio
from typing import Literal

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import ClientQuotaAlteration
from aiokafka_lite.errors import InvalidRequestError
from aiokafka_lite.protocol.messages.alter_client_quotas import EntityData, OpData
from aiokafka_lite.protocol.messages.describe_client_quotas import (
    ANY,
    DEFAULT,
    EXACT,
    ComponentData,
)
from aiokafka_lite.testing.broker.security.client_quotas import ClientQuotas
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

CAROL = frozenset({("user", "carol")})
CAROLS_APP = frozenset({("user", "carol"), ("client-id", None)})


def change(quotas: ClientQuotas, entity: object, value: float | None) -> None:
    parts = [EntityData(entity_type=kind, entity_name=name) for kind, name in entity]  # type: ignore[attr-defined]
    op = OpData(key="request_percentage", value=value or 0.0, remove=value is None)
    quotas.alter(parts, [op], validate_only=False)


def found(quotas: ClientQuotas, *components: ComponentData, strict: bool = False) -> set[object]:
    return {entity for entity, _ in quotas.find(components, strict=strict)}


def component(match_type: int, match: str | None = None) -> ComponentData:
    return ComponentData(entity_type="user", match_type=match_type, match=match)


def test_an_entity_is_found_by_its_parts_until_its_last_quota_is_removed() -> None:
    quotas = ClientQuotas()
    change(quotas, CAROL, 1.0)
    change(quotas, CAROLS_APP, 2.0)
    assert found(quotas) == {CAROL, CAROLS_APP}
    assert found(quotas, component(EXACT, "carol")) == {CAROL, CAROLS_APP}
    assert found(quotas, component(EXACT, "carol"), strict=True) == {CAROL}
    assert found(quotas, component(DEFAULT)) == set()
    assert found(quotas, component(ANY), strict=True) == {CAROL}
    change(quotas, CAROL, None)
    assert found(quotas) == {CAROLS_APP}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("key", ["producer_byte_rate", "request_percentage"])
def test_a_quota_is_a_finite_number(key: str, value: float) -> None:
    carol = [EntityData(entity_type="user", entity_name="carol")]
    op = OpData(key=key, value=value, remove=False)
    with pytest.raises(InvalidRequestError, match=f"Quota {key} must be a finite number"):
        ClientQuotas().alter(carol, [op], validate_only=True)


def test_a_check_changes_nothing() -> None:
    quotas = ClientQuotas()
    carol = [EntityData(entity_type="user", entity_name="carol")]
    op = OpData(key="request_percentage", value=1.0, remove=False)
    quotas.alter(carol, [op], validate_only=True)
    assert found(quotas) == set()
    with pytest.raises(InvalidRequestError, match="duplicate entity type user"):
        quotas.alter(carol * 2, [op], validate_only=True)


@pytest.mark.parametrize(
    ("entity", "is_meant"),
    [
        ({"user": "ANONYMOUS"}, True),
        ({"user": None}, True),
        ({"client-id": "me"}, True),
        ({"user": "ANONYMOUS", "client-id": "me"}, True),
        ({"user": "ANONYMOUS", "client-id": None}, True),
        ({"client-id": "other"}, False),
        ({"user": "alice"}, False),
    ],
)
def test_a_producer_beyond_its_quota_is_told_to_pause(
    entity: dict[str, str | None], is_meant: bool
) -> None:
    """The first ten seconds' worth is free; then the connection is muted (KIP-219)."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        async with AIOKafkaAdminClient(**kafka.client_options) as admin:
            quota = ClientQuotaAlteration(entity, {"producer_byte_rate": 1000})
            (await admin.alter_client_quotas([quota])).raise_first()
        async with AIOKafkaProducer(
            **kafka.client_options, client_id="me", request_timeout_ms=60_000
        ) as producer:
            began_s = kafka.clock.monotonic()
            for _ in range(2):
                await producer.send_and_wait("t", b"x" * 20_000)
            took_s = kafka.clock.monotonic() - began_s
        assert (10 < took_s < 11) if is_meant else took_s < 1

    run_virtual_kafka(main)


@pytest.mark.parametrize("acks", [0, 1])
@pytest.mark.parametrize("is_late", [False, True], ids=["at once", "with a fault"])
def test_what_is_on_its_way_waits_while_the_connection_is_muted(
    acks: Literal[0, 1], is_late: bool
) -> None:
    """A real broker mutes a producer that waits for no answer, too."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", configs={"message.timestamp.type": "LogAppendTime"})
        async with AIOKafkaAdminClient(**kafka.client_options) as admin:
            quota = ClientQuotaAlteration({"user": None}, {"producer_byte_rate": 1000})
            (await admin.alter_client_quotas([quota])).raise_first()
        kafka.network.latency_s = 1.0
        if is_late:
            kafka.broker.faults.delay("Produce", 0.5, times=None)
        async with AIOKafkaProducer(
            **kafka.client_options, acks=acks, enable_idempotence=False
        ) as producer:
            for _ in range(2):
                await producer.send("t", b"x" * 20_000)
                await kafka.clock.sleep(0.1)
            await kafka.broker.wait_until(lambda: len(kafka.broker.records("t")) == 2)
        first, second = (each.timestamp for each in kafka.broker.records("t"))
        assert 10_000 < second - first < 11_000

    run_virtual_kafka(main)


async def limit_consumers(kafka: VirtualKafka, entity: dict[str, str | None]) -> None:
    async with AIOKafkaAdminClient(**kafka.client_options) as admin:
        quota = ClientQuotaAlteration(entity, {"consumer_byte_rate": 1000})
        (await admin.alter_client_quotas([quota])).raise_first()


async def write(kafka: VirtualKafka, count: int, size: int) -> None:
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        for _ in range(count):
            await producer.send_and_wait("t", b"x" * size)


@pytest.mark.parametrize("limits", [{}, {"Fetch": 6}], ids=["sessions", "no sessions"])
@pytest.mark.parametrize(
    ("entity", "is_meant"),
    [
        ({"user": "ANONYMOUS"}, True),
        ({"client-id": "me"}, True),
        ({"client-id": "other"}, False),
    ],
)
def test_a_consumer_beyond_its_quota_gets_nothing_until_it_holds(
    limits: dict[str, int], entity: dict[str, str | None], is_meant: bool
) -> None:
    """Ten seconds' worth is free. An answer beyond is empty, also where a session would begin."""

    async def read(kafka: VirtualKafka) -> list[float]:
        began_s, came_s = kafka.clock.monotonic(), []
        async with AIOKafkaConsumer(
            "t",
            **kafka.client_options,
            client_id="me",
            auto_offset_reset="earliest",
            max_api_versions=limits,
        ) as consumer:
            for offset in range(6):
                assert (await consumer.getone()).offset == offset
                came_s.append(kafka.clock.monotonic() - began_s)
        return came_s

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        await write(kafka, 6, 3_000)
        await limit_consumers(kafka, entity)
        first, second = await read(kafka), await read(kafka)
        if is_meant:
            assert first[2] < 1
            assert 8 < first[3] < 20
            assert 8 < second[0] < 20
        else:
            assert second[5] < 1

    run_virtual_kafka(main)


def test_a_batch_beyond_a_whole_window_never_reaches_the_consumer() -> None:
    """A real broker compares it with an empty window each time, too, and does not send it."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        await write(kafka, 1, 12_000)
        await limit_consumers(kafka, {"client-id": "slow"})
        for client_id, expected in (("slow", 0), ("fast", 1)):
            async with AIOKafkaConsumer(
                "t", **kafka.client_options, client_id=client_id, auto_offset_reset="earliest"
            ) as consumer:
                assert len(await consumer.getmany(timeout_ms=120_000)) == expected

    run_virtual_kafka(main)


def test_what_comes_while_a_fetch_waits_is_counted() -> None:
    """The answer is late then, and the connection is muted after it all the same."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        await limit_consumers(kafka, {"user": None})
        async with AIOKafkaConsumer(
            "t", **kafka.client_options, auto_offset_reset="earliest", fetch_max_wait_ms=5000
        ) as consumer:
            came_s = []
            for _ in range(2):
                reading = asyncio.create_task(consumer.getone())
                await kafka.clock.sleep(1)
                await write(kafka, 1, 9_000)
                await reading
                came_s.append(kafka.clock.monotonic())
        assert 7 < came_s[1] - came_s[0] < 20

    run_virtual_kafka(main)
