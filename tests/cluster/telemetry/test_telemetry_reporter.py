"""A client pushes its metrics to a broker that asks for them (KIP-714)."""

import asyncio
import gc
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRecordError,
    InvalidRequestError,
    TelemetryTooLargeError,
    ThrottlingQuotaExceededError,
    UnknownSubscriptionIdError,
    UnsupportedCompressionTypeError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest as Subscribe,
)
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsResponse,
)
from aiokafka_lite.protocol.messages.push_telemetry import PushTelemetryRequest as Push
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker.handlers import get_telemetry_subscriptions
from aiokafka_lite.testing.virtual_kafka import VirtualKafka
from tests.cluster.support.telemetry import (
    CONSUMER,
    INTERVAL_S,
    PRODUCER,
    SENT,
    ask,
    producer_of,
    pushed,
    pushes,
    read,
    run,
)


def test_a_producer_pushes_what_it_has_done_since_the_push_before() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            for _ in range(3):
                await producer.send_and_wait("orders", b"1")
            await asyncio.sleep(1.5 * INTERVAL_S)
            await producer.send_and_wait("orders", b"1")
            await asyncio.sleep(INTERVAL_S)
            first, second = map(read, pushes(kafka))
            assert first.value(SENT) == 3
            assert second.value(SENT) == 1, "a difference"
            assert second.points[SENT][0].kind == "delta"
            assert second.points[SENT][0].since_s == first.points[SENT][0].at_s
            assert first.value(f"{PRODUCER}topic.record.send.total", topic="orders") == 3
            assert first.value(f"{PRODUCER}connection.creation.total") >= 1
            node = {"node_id": "node-1"}
            assert first.value(f"{PRODUCER}node.request.latency.avg", **node) >= 0
            assert f"{PRODUCER}record.queue.time.max" in first.points
            assert f"{PRODUCER}buffer.available.bytes" in first.points
        assert [push.terminating for push in pushes(kafka)] == [False, False, True]

    run(main)


def test_records_count_as_sent_with_each_attempt() -> None:
    """As Java's record-send-total, which knows nothing of acknowledgements."""

    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            await producer.send_and_wait("orders", b"1")
            kafka.broker.faults.fail("Produce", "NOT_ENOUGH_REPLICAS", times=2)
            await producer.send_and_wait("orders", b"2")
            await asyncio.sleep(1.5 * INTERVAL_S)
            first = read(pushes(kafka)[0])
            assert first.value(SENT) == 4
            assert first.value(f"{PRODUCER}record.retry.total") == 2

    run(main)


def test_a_consumer_pushes_what_its_group_and_its_fetches_did() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.network.latency_s = 0.001
        kafka.broker.produce("orders", "1")
        consumer = AIOKafkaConsumer(
            "orders",
            group_id="billing",
            auto_offset_reset="earliest",
            client_rack="r1",
            **kafka.client_options,
        )
        async with consumer:
            await asyncio.sleep(0.1)
            assert await consumer.getmany(timeout_ms=5000)
            await consumer.commit()
            member_id = consumer.group_metadata().member_id
            metrics = read(await pushed(kafka, 1))
        labels = {"group_id": "billing", "client_rack": "r1", "group_member_id": member_id}
        assert metrics.resource == labels
        assert metrics.value(f"{CONSUMER}poll.idle.ratio.avg") < 0.1
        assert metrics.scope[0] == "aiokafka_lite"
        assert metrics.value(f"{CONSUMER}coordinator.assigned.partitions") == 1
        assert metrics.value(f"{CONSUMER}coordinator.rebalance.latency.total") > 0
        fetches = f"{CONSUMER}fetch.manager."
        assert metrics.value(f"{fetches}records.consumed.total") == 1
        assert metrics.value(f"{fetches}records.consumed.total", topic="orders") == 1
        assert metrics.value(f"{fetches}records.lag", topic="orders", partition="0") == 0
        for name in ("coordinator.commit.latency.avg", "fetch.manager.fetch.latency.max"):
            assert f"{CONSUMER}{name}" in metrics.points

    run(main)


def test_the_idle_ratio_is_the_part_of_the_time_in_which_polls_wait() -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = AIOKafkaConsumer("orders", **kafka.client_options)
        async with consumer:
            ends_s = kafka.clock.monotonic() + 3 * INTERVAL_S
            while kafka.clock.monotonic() < ends_s:
                await consumer.getmany(timeout_ms=3000)
                await asyncio.sleep(1)
        metrics = read(pushes(kafka)[1])
        assert metrics.value(f"{CONSUMER}poll.idle.ratio.avg") == pytest.approx(0.75, abs=0.02)

    run(main)


def test_a_consumer_that_nobody_answers_stops_within_the_bounds() -> None:
    async def main(kafka: VirtualKafka) -> None:
        consumer = AIOKafkaConsumer("orders", group_id="g", **kafka.client_options)
        await consumer.start()
        await pushed(kafka, 1)
        kafka.broker.faults.stall(Push)
        began_s = kafka.clock.monotonic()
        await consumer.stop()
        assert kafka.clock.monotonic() - began_s == pytest.approx(0.5, abs=0.1)
        assert not kafka.broker.group("g").members
        kafka.broker.faults.release()

    run(main)


def test_without_a_connection_there_is_no_last_push() -> None:
    async def main(kafka: VirtualKafka) -> None:
        producer = producer_of(kafka)
        await producer.start()
        await pushed(kafka, 1)
        kafka.broker.stop_node(1)
        began_s = kafka.clock.monotonic()
        await producer.stop()
        assert kafka.clock.monotonic() - began_s < 0.1
        assert len(pushes(kafka)) == 1

    run(main)


def test_events_are_heard_only_while_metrics_are_wanted() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.cluster.client_metrics_settings.clear()
        async with producer_of(kafka) as producer:
            await producer.client_instance_id()
            assert not producer.kafka_client.observer.is_heard
            ask(kafka, "*")
            await pushed(kafka, 1)
            assert producer.kafka_client.observer.is_heard
            kafka.broker.cluster.client_metrics_settings.clear()
            await asyncio.sleep(2 * INTERVAL_S)
            assert not producer.kafka_client.observer.is_heard

    run(main)


def test_an_admin_client_pushes_its_connections() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with AIOKafkaAdminClient(**kafka.client_options) as admin:
            assert await admin.client_instance_id() != ZERO_UUID
            metrics = read(await pushed(kafka, 1))
        assert metrics.value("org.apache.kafka.admin.client.connection.creation.total") >= 1

    run(main)


def test_the_first_push_comes_at_a_moment_of_chance_and_the_others_in_intervals() -> None:
    firsts = []

    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka):
            began_s = kafka.clock.monotonic()
            await pushed(kafka, 1)
            first_s = kafka.clock.monotonic()
            await pushed(kafka, 2)
            assert kafka.clock.monotonic() - first_s == pytest.approx(INTERVAL_S, abs=0.1)
            firsts.append(first_s - began_s)

    for seed in range(4):
        run(main, seed=seed)
    assert len(set(firsts)) == 4
    assert all(0.5 * INTERVAL_S <= first <= 1.5 * INTERVAL_S + 0.1 for first in firsts)


def test_a_broker_may_ask_for_sums_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def response(**fields: Any) -> GetTelemetrySubscriptionsResponse:
        return GetTelemetrySubscriptionsResponse(**{**fields, "delta_temporality": False})

    name = GetTelemetrySubscriptionsResponse.__name__
    monkeypatch.setattr(get_telemetry_subscriptions, name, response)

    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            await producer.send_and_wait("orders", b"1")
            first = read(await pushed(kafka, 1)).points[SENT][0]
            await producer.send_and_wait("orders", b"1")
            second = read(await pushed(kafka, 2)).points[SENT][0]
        assert (first.kind, first.value, second.value) == ("cumulative", 1, 2)
        assert first.since_s == second.since_s

    run(main)


def test_only_the_metrics_that_are_asked_for_are_pushed_and_the_names_are_beginnings() -> None:
    async def main(kafka: VirtualKafka) -> None:
        ask(kafka, f"{PRODUCER}record.,{PRODUCER}waiting")
        async with producer_of(kafka) as producer:
            await producer.send_and_wait("orders", b"1")
            metrics = read(await pushed(kafka, 1))
        known = (f"{PRODUCER}record.", f"{PRODUCER}waiting")
        assert metrics.points
        assert all(name.startswith(known) for name in metrics.points)

    run(main)


def test_without_a_subscription_the_client_asks_again_and_pushes_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.cluster.client_metrics_settings.clear()
        async with producer_of(kafka) as producer:
            await asyncio.sleep(299)
            assert len(kafka.broker.requests_of(Subscribe)) == 1
            await asyncio.sleep(300)
            first, second = kafka.broker.requests_of(Subscribe)
            assert first.client_instance_id == ZERO_UUID
            assert second.client_instance_id == await producer.client_instance_id()
        assert pushes(kafka) == []

    run(main)


def test_a_subscription_that_ends_is_noticed_at_the_next_push() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka):
            await pushed(kafka, 1)
            kafka.broker.cluster.client_metrics_settings.clear()
            await asyncio.sleep(10 * INTERVAL_S)
        assert len(pushes(kafka)) == 2, "the second is refused; the last push is left out"

    run(main)


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (UnknownSubscriptionIdError, False),
        (UnsupportedCompressionTypeError, False),
        (TelemetryTooLargeError, True),
        (ThrottlingQuotaExceededError, True),
    ],
)
def test_after_a_refused_push_the_client_asks_for_its_subscription(
    error: type[BrokerResponseError], waits: bool
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.faults.fail(Push, error)
        async with producer_of(kafka) as producer:
            await producer.send_and_wait("orders", b"1")
            first = await pushed(kafka, 1)
            refused_s = kafka.clock.monotonic()
            while len(kafka.broker.requests_of(Subscribe)) < 2:
                await asyncio.sleep(0.01)
            waited_s = kafka.clock.monotonic() - refused_s
            assert waited_s == pytest.approx(INTERVAL_S if waits else 0, abs=0.1)
            second = await pushed(kafka, 2)
            if error is TelemetryTooLargeError:
                assert len(second.metrics) <= len(first.metrics) // 2
            else:
                assert read(second).value(SENT) == 1, "the refused push told the broker nothing"
            is_codec = error is UnsupportedCompressionTypeError
            assert (second.compression_type != first.compression_type) is is_codec

    run(main)


def test_a_push_leaves_out_what_would_make_it_too_large() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka):
            only = await pushed(kafka, 1)
        assert 0 < len(only.metrics) <= 300
        assert f"{PRODUCER}connection.creation.total" in read(only).points

    run(main, telemetry_max_bytes=300)


@pytest.mark.parametrize("request_type", [Subscribe, Push])
@pytest.mark.parametrize(
    "error", [InvalidRequestError, InvalidRecordError, UnsupportedVersionError]
)
def test_a_request_that_cannot_be_mended_ends_the_telemetry_and_not_the_client(
    request_type: type, error: type[BrokerResponseError], caplog: pytest.LogCaptureFixture
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.faults.fail(request_type, error, times=None)
        async with producer_of(kafka) as producer:
            await asyncio.sleep(20 * INTERVAL_S)
            assert len(kafka.broker.requests_of(request_type)) == 1
            await producer.send_and_wait("orders", b"1")
            assert producer.is_healthy()
        assert len(kafka.broker.requests_of(request_type)) == 1, "and no last push"

    run(main)
    told = [each for each in caplog.messages if "telemetry was refused" in each]
    assert len(told) == 1


def test_refusals_of_the_question_itself_do_not_make_the_client_ask_on_and_on() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.faults.fail(Subscribe, UnknownSubscriptionIdError, times=None)
        async with producer_of(kafka):
            await asyncio.sleep(290)
            assert len(kafka.broker.requests_of(Subscribe)) == 2

    run(main)


def test_a_lost_push_is_not_counted_twice_and_the_client_goes_on() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.faults.drop(Push)
        async with producer_of(kafka) as producer:
            await producer.send_and_wait("orders", b"1")
            await pushed(kafka, 1)
            await producer.send_and_wait("orders", b"1")
            told = read(await pushed(kafka, 2))
            # The connection was lost, so the record was sent twice.
            assert told.value(SENT) - told.value(f"{PRODUCER}record.retry.total") == 1

    run(main)


def test_the_last_push_has_what_happened_since_the_push_before() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            await producer.send_and_wait("orders", b"1")
            await pushed(kafka, 1)
            await producer.send("orders", b"2")
        last = pushes(kafka)[-1]
        assert last.terminating
        assert read(last).value(SENT) == 1

    run(main)


def test_a_last_push_without_response_holds_up_stop_for_half_a_second(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            await pushed(kafka, 1)
            kafka.broker.faults.stall(Push)
            began_s = kafka.clock.monotonic()
            await producer.stop()
            assert kafka.clock.monotonic() - began_s == pytest.approx(0.5, abs=0.1)
        kafka.broker.faults.release()

    run(main)
    gc.collect()
    assert "never retrieved" not in caplog.text


def test_a_cancelled_stop_leaves_nothing_behind() -> None:
    async def main(kafka: VirtualKafka) -> None:
        producer = producer_of(kafka)
        await producer.start()
        await pushed(kafka, 1)
        kafka.broker.faults.stall(Push)
        stopping = asyncio.create_task(producer.stop())
        await pushed(kafka, 2)
        stopping.cancel()
        await asyncio.wait([stopping])
        assert stopping.cancelled()
        await producer.stop()
        kafka.broker.faults.release()

    run(main)  # it looks for tasks and timers that are left


def test_a_stop_while_a_push_is_on_its_way_sends_the_last_one_behind_it() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.network.latency_s = 0.01
        async with producer_of(kafka):
            await pushed(kafka, 1)
        assert [each.terminating for each in pushes(kafka)] == [False, True]

    run(main)


def test_another_node_takes_over_when_the_one_is_lost() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            await pushed(kafka, 1)
            node_id = [r.node_id for r in kafka.broker.requests if isinstance(r.request, Push)][-1]
            kafka.broker.stop_node(node_id)
            await pushed(kafka, 2)
            other = [r.node_id for r in kafka.broker.requests if isinstance(r.request, Push)][-1]
            assert other != node_id
            assert producer.is_healthy()

    run(main, nodes=2)
