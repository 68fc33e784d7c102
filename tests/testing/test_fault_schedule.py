"""What a schedule does to a broker, and what is left of it at its end."""

from contextlib import suppress

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing import fault_schedule
from aiokafka_lite.testing.fault_schedule import (
    Cut,
    Delay,
    Disconnect,
    Drop,
    Fail,
    FaultSchedule,
    StartNode,
    StopNode,
)
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

EVERY_KIND = FaultSchedule(
    (
        (0.0, Fail("Produce", "NOT_LEADER_OR_FOLLOWER", 2)),
        (1.0, Cut("Produce", 5)),
        (2.0, Drop("Produce")),
        (40.0, Delay("Produce", 3.0)),
        (50.0, Disconnect(1)),
        (51.0, StopNode(2)),
        (52.0, StopNode(2)),
        (55.0, StartNode(2)),
        (56.0, StartNode(2)),
        (57.0, StopNode(1)),
    )
)


def test_what_is_sent_in_trouble_is_written_once_each() -> None:
    async def main(kafka: VirtualKafka) -> list[bytes | None]:
        kafka.broker.create_topic("orders")
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            with EVERY_KIND.playing(kafka.broker, kafka.clock):
                for number in range(60):
                    await producer.send_and_wait("orders", b"%d" % number)
                    await kafka.clock.sleep(1.0)
                assert not kafka.broker.cluster.node(1).is_alive
            assert kafka.broker.cluster.node(1).is_alive
        return [record.value for record in kafka.broker.records("orders")]

    assert run_virtual_kafka(main, nodes=3) == [b"%d" % number for number in range(60)]


def test_each_fault_happens_at_its_time() -> None:
    async def main(kafka: VirtualKafka) -> list[tuple[float, bool]]:
        seen = []
        schedule = FaultSchedule(((1.5, StopNode(2)), (3.5, StartNode(2)), (9.0, StopNode(1))))
        with schedule.playing(kafka.broker, kafka.clock):
            for _ in range(5):
                seen.append((kafka.clock.monotonic(), kafka.broker.cluster.node(2).is_alive))
                await kafka.clock.sleep(1.0)
        await kafka.clock.sleep(10.0)
        assert kafka.broker.cluster.node(1).is_alive  # its time came after the end
        return seen

    assert run_virtual_kafka(main, nodes=2) == [
        (0.0, True),
        (1.0, True),
        (2.0, False),
        (3.0, False),
        (4.0, True),
    ]


def test_an_error_ends_the_trouble_too() -> None:
    async def main(kafka: VirtualKafka) -> None:
        schedule = FaultSchedule(((0.0, Fail("Fetch", "KAFKA_STORAGE_ERROR", 9)),))
        with suppress(LookupError), schedule.playing(kafka.broker, kafka.clock):
            await kafka.clock.sleep(1.0)
            raise LookupError
        assert kafka.broker.faults.plan(ApiKey.FETCH, 1) is None
        kafka.broker.produce("orders", "1")
        async with AIOKafkaConsumer(
            "orders", auto_offset_reset="earliest", **kafka.client_options
        ) as consumer:
            assert (await consumer.getone()).value == b"1"

    run_virtual_kafka(main)


def test_the_text_of_a_schedule_makes_it_again() -> None:
    text = repr(EVERY_KIND)
    assert eval(text, vars(fault_schedule)) == EVERY_KIND
    assert text.splitlines()[:3] == [
        "FaultSchedule((",
        "    (0.0, Fail('Produce', 'NOT_LEADER_OR_FOLLOWER', 2)),",
        "    (1.0, Cut('Produce', 5)),",
    ]
    assert repr(FaultSchedule()) == "FaultSchedule(())"
