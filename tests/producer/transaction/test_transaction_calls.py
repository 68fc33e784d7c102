import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaError,
    KafkaTimeoutError,
    ProducerFenced,
    TransactionAbortableError,
)
from aiokafka_lite.producer.transaction.transaction_calls import TransactionCalls
from aiokafka_lite.producer.transaction.transaction_coordinator import TransactionError
from aiokafka_lite.producer.transaction.transaction_errors import TxnAction
from aiokafka_lite.testing.fake_clock import FakeClock, settle


class World:
    """Calls over a client that has tasks and a clock, and nothing else."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.owner = TaskOwner("client")
        self.go_on = asyncio.Event()
        self.served = 0
        client = cast("KafkaClient", SimpleNamespace(owner=self.owner, clock=self.clock))
        self.calls = TransactionCalls(
            client, on_refusal=lambda refusal: refusal.error, why_not=lambda: "; last failure: x"
        )

    async def work(self) -> None:
        await self.go_on.wait()
        self.served += 1

    async def refused(self) -> None:
        raise ProducerFenced("x")

    def failing(self, error: Exception) -> Callable[[], Any]:
        async def fail() -> None:
            await self.work()
            raise error

        return fail

    async def time_out(self, name: str, work: Callable[[], Any]) -> None:
        """Call, and lose patience after a second."""
        task = asyncio.create_task(self.calls.run(name, work, 1))
        await self.clock.advance(1.1)
        with pytest.raises(KafkaTimeoutError, match="did not end within 1 s"):
            await task


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    made = World()
    await made.owner.start()
    try:
        yield made
    finally:
        await made.owner.close()


async def test_a_call_ends_with_its_work() -> None:
    async with world() as w:
        w.go_on.set()
        await w.calls.run("commit", w.work, 1)
        await w.calls.run("commit", w.work, 1)
        assert w.served == 2
        assert w.calls.current_name is None


async def test_the_same_call_takes_the_result_over_and_others_are_refused() -> None:
    """After a timeout the same call fetches the result, and other calls are refused (2d'-1)."""
    async with world() as w:
        await w.time_out("commit", w.work)
        assert w.calls.is_current("commit")
        assert not w.calls.is_current("abort")
        with pytest.raises(IllegalStateError, match="commit has not ended"):
            await w.calls.run("abort", w.work, 1)
        with pytest.raises(IllegalStateError, match="before begin"):
            w.calls.check_no_other("begin")
        w.go_on.set()
        await w.calls.run("commit", w.work, 1)
        assert w.served == 1
        w.calls.check_no_other("begin")


@pytest.mark.parametrize(
    "error",
    [
        ProducerFenced("x"),
        IllegalStateError("y"),
        TransactionError(TxnAction.ABORT, TransactionAbortableError("z")),
    ],
)
async def test_the_result_may_be_an_error_and_is_told_once(error: Exception) -> None:
    """The result that is fetched later may be an error, and is raised once (2d'-1)."""
    expected = error.error if isinstance(error, TransactionError) else error
    async with world() as w:
        await w.time_out("commit", w.failing(error))
        w.go_on.set()
        with pytest.raises(KafkaError) as raised:
            await w.calls.run("commit", w.work, 1)
        assert raised.value is expected
        await w.calls.run("commit", w.work, 1)
        assert w.served == 2


async def test_the_result_waits_for_somebody_to_hear_it() -> None:
    """The result of a call that timed out waits until it is fetched (2d'-1)."""
    async with world() as w:
        task = asyncio.create_task(w.calls.run("commit", w.failing(ProducerFenced("x")), 1))
        await asyncio.sleep(0)
        task.cancel()
        w.go_on.set()
        await asyncio.wait([task])
        assert task.cancelled()
        before = w.calls.current_name
        with pytest.raises(ProducerFenced):
            await w.calls.wait(1)
        assert (before, w.calls.current_name) == ("commit", None)
        await w.calls.wait(1)  # nothing to wait for


async def test_all_who_wait_hear_the_result() -> None:
    async with world() as w:
        tasks = [asyncio.create_task(w.calls.run("commit", w.work, 1)) for _ in range(3)]
        await asyncio.sleep(0)
        w.go_on.set()
        await asyncio.gather(*tasks)
        assert w.served == 1


async def test_who_hears_a_result_late_takes_the_next_call_from_nobody() -> None:
    """The first of two who wait for a commit may have called abort before the second runs."""
    async with world() as w:

        async def commit_then_abort() -> None:
            await w.calls.run("commit", w.work, 1)
            w.go_on.clear()
            await w.calls.run("abort", w.work, 1)

        first = asyncio.create_task(commit_then_abort())
        second = asyncio.create_task(w.calls.run("commit", w.work, 1))
        await asyncio.sleep(0)
        w.go_on.set()
        await second
        assert w.calls.current_name == "abort"
        w.go_on.set()
        await first
        assert w.calls.current_name is None


async def test_a_call_beside_that_has_ended_hides_none_that_has_not() -> None:
    async with world() as w:
        first = asyncio.create_task(w.calls.run_beside("offsets", w.work, 1))
        await asyncio.sleep(0)
        with pytest.raises(ProducerFenced):
            await w.calls.run_beside("offsets", w.refused, 1)
        end = asyncio.create_task(w.calls.none_beside())
        await settle()
        assert not end.done()
        w.go_on.set()
        await asyncio.gather(first, end)


async def test_calls_beside_hinder_nobody_and_are_waited_for() -> None:
    async with world() as w:
        tasks = [asyncio.create_task(w.calls.run_beside("offsets", w.work, 1)) for _ in range(2)]
        await w.clock.advance(1.1)
        for task in tasks:
            with pytest.raises(KafkaTimeoutError, match=r"offsets .* commit_transaction"):
                await task
        assert w.calls.current_name is None
        w.calls.check_no_other("commit")
        end = asyncio.create_task(w.calls.none_beside())
        await asyncio.sleep(0)
        assert not end.done()
        w.go_on.set()
        await end
        assert w.served == 2


async def test_calls_beside_raise_what_they_failed_with() -> None:
    async with world() as w:
        w.go_on.set()
        with pytest.raises(ProducerFenced):
            await w.calls.run_beside("offsets", w.failing(ProducerFenced("x")), 1)
        await w.calls.none_beside()


async def test_a_call_that_the_end_of_the_client_cut_off_has_not_succeeded() -> None:
    async with world() as w:
        task = asyncio.create_task(w.calls.run("commit", w.work, 60))
        await asyncio.sleep(0)
        await w.owner.close()
        with pytest.raises(KafkaError, match="closed during commit"):
            await task
        for call in (w.calls.run, w.calls.run_beside):
            with pytest.raises(IllegalStateError, match="not running"):
                await call("abort", w.work, 1)
        assert w.calls.current_name is None
        await w.calls.none_beside()
