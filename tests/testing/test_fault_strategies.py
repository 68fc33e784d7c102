"""Schedules that hypothesis finds, and how it prints the one to which it shrinks."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, Phase, find, given, seed, settings

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.errors import (
    KafkaConnectionError,
    NotLeaderForPartitionError,
    RequestTimedOutError,
)
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
from aiokafka_lite.testing.fault_strategies import RETRIABLE_ERRORS, _in_order, fault_schedules
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

SHORT = settings(
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.generate, Phase.shrink],
)


async def send_three(kafka: VirtualKafka, schedule: FaultSchedule, retries: int) -> None:
    kafka.broker.create_topic("orders")
    async with AIOKafkaProducer(
        acks="all" if retries else 1,
        enable_idempotence=retries > 0,
        retries=retries,
        **kafka.client_options,
    ) as producer:
        with schedule.playing(kafka.broker, kafka.clock):
            for number in range(3):
                await producer.send_and_wait("orders", b"%d" % number)
                await kafka.clock.sleep(1.0)
    values = [record.value for record in kafka.broker.records("orders")]
    assert values == [b"0", b"1", b"2"], values


@SHORT
@given(schedule=fault_schedules(nodes=2))
def test_the_producer_survives_every_schedule(schedule: FaultSchedule) -> None:
    run_virtual_kafka(lambda kafka: send_three(kafka, schedule, retries=1_000_000), nodes=2)


def test_a_program_with_a_fault_is_told_by_the_smallest_schedule() -> None:
    @seed(1)
    @SHORT
    @given(schedule=fault_schedules(errors={"Produce": ["NOT_LEADER_OR_FOLLOWER"]}))
    def without_retries(schedule: FaultSchedule) -> None:
        with suppress(KafkaConnectionError, RequestTimedOutError):
            run_virtual_kafka(lambda kafka: send_three(kafka, schedule, retries=0))

    with pytest.raises(NotLeaderForPartitionError) as caught:
        without_retries()
    notes = "\n".join(caught.value.__notes__)
    assert "schedule=FaultSchedule((" in notes
    assert "(0.0, Fail('Produce', 'NOT_LEADER_OR_FOLLOWER', 1))," in notes
    assert notes.count("Fail(") == 1


@pytest.mark.parametrize("kind", [Cut, Delay, Disconnect, Drop, Fail, StartNode, StopNode])
def test_each_kind_of_fault_is_found_alone(kind: type[object]) -> None:
    found = find(
        fault_schedules(nodes=3),
        lambda schedule: any(isinstance(fault, kind) for _, fault in schedule.faults),
        settings=settings(SHORT, max_examples=2000),
    )
    assert [(at_s, type(fault)) for at_s, fault in found.faults] == [(0.0, kind)]


def test_the_last_node_that_runs_is_not_stopped() -> None:
    stops = [(float(at_s), StopNode(node)) for at_s, node in enumerate((2, 1, 2, 1))]
    back = (2.5, StartNode(2))
    assert _in_order(2, [back, *stops]).faults == (stops[0], stops[2], back, stops[3])
    assert _in_order(1, [(0.0, StopNode(1))]) == FaultSchedule()


@SHORT
@given(schedule=fault_schedules(errors={"Fetch": []}, max_faults=3, moments_s=[2.0, 1.0]))
def test_what_a_test_chooses_is_kept(schedule: FaultSchedule) -> None:
    assert len(schedule.faults) <= 3
    assert [at_s for at_s, _ in schedule.faults] == sorted(at_s for at_s, _ in schedule.faults)
    for at_s, fault in schedule.faults:
        assert at_s in (1.0, 2.0)
        assert not isinstance(fault, Fail | StopNode | StartNode)
        assert getattr(fault, "api", "Fetch") == "Fetch"
        assert getattr(fault, "node_id", 1) == 1


def test_unknown_names_are_refused_when_the_strategy_is_made() -> None:
    with pytest.raises(ValueError, match=r"'Produc' is no API .* did you mean Produce"):
        fault_schedules(errors={"Produc": []})
    with pytest.raises(ValueError, match="'NOT_LEADER' is no error"):
        fault_schedules(errors={"Produce": ["NOT_LEADER"]})
    with pytest.raises(ValueError, match="at least one API"):
        fault_schedules(errors={})
    assert fault_schedules(errors=RETRIABLE_ERRORS) is not None
