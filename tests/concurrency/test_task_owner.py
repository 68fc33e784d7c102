"""TaskOwner: named children, ordered end, first failure wins, no silent death."""

import asyncio
import gc
import logging
import weakref

import anyio
import pytest

from aiokafka_lite.concurrency.task_owner import OwnerState, TaskOwner
from aiokafka_lite.errors import IllegalStateError, KafkaError
from aiokafka_lite.testing.fake_clock import FakeClock, settle


async def forever() -> None:
    await asyncio.Event().wait()


async def boom(text: str = "boom") -> None:
    raise ZeroDivisionError(text)


def test_building_an_owner_needs_no_loop() -> None:
    owner = TaskOwner("c")
    assert owner.state is OwnerState.NEW
    assert repr(owner) == "<TaskOwner c new []>"


async def test_close_before_start_is_harmless() -> None:
    owner = TaskOwner("c")
    await owner.close()
    await owner.close()
    assert owner.state is OwnerState.CLOSED
    with pytest.raises(IllegalStateError, match="cannot start c while it is closed"):
        await owner.start()


async def test_start_twice_is_refused() -> None:
    owner = TaskOwner("c")
    await owner.start()
    with pytest.raises(IllegalStateError):
        await owner.start()
    await owner.close()


async def test_spawn_needs_a_running_owner() -> None:
    owner = TaskOwner("c")
    with pytest.raises(IllegalStateError, match="cannot start 'x': c is new, not running"):
        owner.spawn("x", forever)
    await owner.start()
    await owner.close()
    with pytest.raises(IllegalStateError, match="closed"):
        owner.spawn("x", forever)


async def test_start_spawn_and_close_may_come_from_different_tasks() -> None:
    owner = TaskOwner("c")
    await asyncio.create_task(owner.start())
    seen: list[str] = []

    async def child(text: str) -> None:
        seen.append(text)
        await forever()

    async def spawn() -> None:
        owner.spawn("child", child, "hello")

    await asyncio.create_task(spawn())
    await settle()
    assert seen == ["hello"]
    assert repr(owner) == "<TaskOwner c running [child]>"
    await asyncio.create_task(owner.close())
    assert owner.children == ()
    assert owner.failure is None
    owner.check()


async def test_children_carry_their_names_into_the_tasks() -> None:
    owner = TaskOwner("consumer-1")
    await owner.start()
    owner.spawn("fetch[3]", forever)
    await settle()
    assert "consumer-1: fetch[3]" in {task.get_name() for task in asyncio.all_tasks()}
    await owner.close()


async def test_close_ends_children_last_started_first_each_awaited_before_the_next() -> None:
    owner = TaskOwner("c")
    await owner.start()
    log: list[str] = []

    async def child(name: str) -> None:
        try:
            await forever()
        finally:
            log.append(f"{name} leaves")
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            log.append(f"{name} is gone")

    for name in ("connection", "fetcher"):
        owner.spawn(name, child, name)
    await settle()
    await owner.close()
    assert log == ["fetcher leaves", "fetcher is gone", "connection leaves", "connection is gone"]


async def test_close_is_idempotent_and_shared_by_callers() -> None:
    owner = TaskOwner("c")
    await owner.start()
    owner.spawn("x", forever)
    await asyncio.gather(owner.close(), owner.close())
    await owner.close()
    assert owner.state is OwnerState.CLOSED


async def test_child_that_closes_its_owner_is_ended_with_the_others() -> None:
    owner = TaskOwner("c")
    await owner.start()
    child = owner.spawn("suicidal", owner.close)
    await child.wait()
    await owner.close()
    owner.check()
    assert owner.state is OwnerState.CLOSED


async def test_cancelled_close_goes_on_closing() -> None:
    owner = TaskOwner("c")
    await owner.start()
    child = owner.spawn("x", forever)
    closing = asyncio.create_task(owner.close())
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.wait([closing])
    assert closing.cancelled()
    await owner.close()
    assert child.done


async def test_closing_leaves_no_task() -> None:
    before = asyncio.all_tasks()
    owner = TaskOwner("c")
    await owner.start()
    for number in range(5):
        owner.spawn(str(number), forever)
    await owner.close()
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_child_spawned_and_closed_at_once_never_runs() -> None:
    ran = False

    async def child() -> None:
        nonlocal ran
        ran = True

    owner = TaskOwner("c")
    await owner.start()
    owned = owner.spawn("x", child)
    owned.cancel()
    await owned.wait()
    assert not ran
    assert repr(owned) == "<OwnedTask x done>"
    await owner.close()


async def test_done_callback_hears_of_every_end() -> None:
    """A child cancelled before its first step runs no `finally` of its own."""
    ended: list[str] = []

    async def child() -> None:
        pass

    owner = TaskOwner("c")
    await owner.start()
    ran = owner.spawn("ran", child)
    ran.add_done_callback(lambda child: ended.append(child.name))
    never_ran = owner.spawn("never ran", child)
    never_ran.add_done_callback(lambda child: ended.append(child.name))
    never_ran.cancel()
    await settle()
    ran.add_done_callback(lambda child: ended.append(f"{child.name} long ago"))
    assert ended == ["ran", "never ran", "ran long ago"]
    await owner.close()


async def test_a_child_cancelled_from_outside_before_its_first_step_fails_the_owner() -> None:
    """None of its own code runs, so its task tells of its end."""
    ended: list[str] = []
    owner = TaskOwner("c")
    await owner.start()
    child = owner.spawn("x", forever)
    child.add_done_callback(lambda child: ended.append(child.name))
    (task,) = (task for task in asyncio.all_tasks() if task.get_name() == "c: x")
    task.cancel()
    await settle()
    assert ended == ["x"]
    assert isinstance(child.error, asyncio.CancelledError)
    with pytest.raises(KafkaError, match="background task 'x' of c failed"):
        owner.check()
    await owner.close()


async def test_finished_children_are_forgotten() -> None:
    async def child() -> None:
        pass

    owner = TaskOwner("c")
    await owner.start()
    owned = owner.spawn("x", child)
    await owned.wait()
    assert owned.done
    assert owner.children == ()
    owned.cancel()
    await owner.close()


async def test_cancelling_one_child_leaves_the_others_alone() -> None:
    owner = TaskOwner("c")
    await owner.start()
    first, second = owner.spawn("a", forever), owner.spawn("b", forever)
    await settle()
    first.cancel()
    await first.wait()
    await settle()
    assert first.done
    assert not second.done
    assert owner.failure is None
    await owner.close()


async def test_cancelled_waiter_does_not_cancel_the_child() -> None:
    owner = TaskOwner("c")
    await owner.start()
    child = owner.spawn("a", forever)
    waiting = asyncio.create_task(child.wait())
    await settle()
    waiting.cancel()
    await settle()
    assert not child.done
    await owner.close()


# Failing…


async def test_first_failure_wins_closes_the_others_and_stays_readable() -> None:
    owner = TaskOwner("consumer-1")
    await owner.start()
    heard: list[BaseException] = []
    owner.add_failure_callback(heard.append)
    sibling = owner.spawn("sibling", forever)
    failing = owner.spawn("fetcher", boom)
    await sibling.wait()
    assert isinstance(owner.failure, ZeroDivisionError)
    assert heard == [owner.failure]
    assert failing.error is owner.failure
    assert "failed: ZeroDivisionError('boom')" in repr(failing)
    for _ in range(2):
        with pytest.raises(
            KafkaError, match=r"background task 'fetcher' of consumer-1 failed: ZeroDivisionError"
        ) as caught:
            owner.check()
        assert caught.value.__cause__ is owner.failure
    with pytest.raises(KafkaError, match="fetcher"):
        owner.spawn("x", forever)
    await owner.close()
    assert isinstance(owner.failure, ZeroDivisionError)


async def test_callback_added_after_the_failure_hears_of_it() -> None:
    owner = TaskOwner("c")
    await owner.start()
    await owner.spawn("x", boom).wait()
    heard: list[BaseException] = []
    owner.add_failure_callback(heard.append)
    assert len(heard) == 1
    with pytest.raises(KafkaError):
        owner.check()
    await owner.close()


async def test_failing_callback_does_not_hide_the_failure(caplog: pytest.LogCaptureFixture) -> None:
    owner = TaskOwner("c")
    await owner.start()
    heard: list[BaseException] = []

    def bad(error: BaseException) -> None:
        raise ValueError("bad callback")

    owner.add_failure_callback(bad)
    owner.add_failure_callback(heard.append)
    await owner.spawn("x", boom).wait()
    assert len(heard) == 1
    assert "a failure callback failed" in caplog.text
    with pytest.raises(KafkaError):
        owner.check()
    await owner.close()


async def test_unseen_failure_is_logged_when_the_owner_closes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    owner = TaskOwner("c")
    await owner.start()
    await owner.spawn("x", boom).wait()
    await owner.close()
    assert "'x' failed and no call came" in caplog.text


async def test_seen_failure_is_not_logged_too(caplog: pytest.LogCaptureFixture) -> None:
    owner = TaskOwner("c")
    await owner.start()
    await owner.spawn("x", boom).wait()
    with pytest.raises(KafkaError):
        owner.check()
    await owner.close()
    assert caplog.text == ""


async def test_cancellation_nobody_asked_for_is_a_failure() -> None:
    """A child awaiting a future that somebody else cancels must not die in silence (H1)."""
    owner = TaskOwner("c")
    await owner.start()
    future = asyncio.get_running_loop().create_future()

    async def child() -> None:
        await future

    owned = owner.spawn("x", child)
    await settle()
    future.cancel()
    await owned.wait()
    with pytest.raises(KafkaError, match="CancelledError"):
        owner.check()
    await owner.close()


async def test_failure_while_closing_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    owner = TaskOwner("c")
    await owner.start()

    async def child() -> None:
        try:
            await forever()
        finally:
            raise ZeroDivisionError

    owner.spawn("x", child)
    await settle()
    await owner.close()
    with pytest.raises(KafkaError):
        owner.check()
    assert "'x' failed" in caplog.text


# Clean-up…


async def test_clean_up_of_a_child_may_await() -> None:
    owner = TaskOwner("c")
    await owner.start()
    cleaned = False

    async def child() -> None:
        nonlocal cleaned
        try:
            await forever()
        finally:
            for _ in range(10):
                await asyncio.sleep(0.001)
            cleaned = True

    owner.spawn("x", child)
    await settle()
    await owner.close()
    assert cleaned


async def test_close_ends_although_a_child_shrugs_off_its_cancellation(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.005)
    owner = TaskOwner("c", clock=clock, child_close_timeout_s=5.0)
    await owner.start()
    shrugs = 0

    async def stubborn() -> None:
        nonlocal shrugs
        while shrugs < 10:
            try:
                await forever()
            except asyncio.CancelledError:
                shrugs += 1

    owner.spawn("stubborn", stubborn)
    await settle()
    await owner.close()
    assert clock.monotonic() == 10.0
    assert shrugs == 10
    assert caplog.text.count("'stubborn' has not ended 5.0 s after it was cancelled") == 2


async def test_child_may_use_anyio_scopes() -> None:
    owner = TaskOwner("c")
    await owner.start()
    timed_out = asyncio.Event()

    async def child() -> None:
        with anyio.move_on_after(0.001):
            await forever()
        timed_out.set()
        await forever()

    owner.spawn("x", child)
    async with asyncio.timeout(30):
        await timed_out.wait()
    await owner.close()
    owner.check()


async def test_caller_in_a_cancel_scope_does_not_hand_it_to_the_children() -> None:
    owner = TaskOwner("c")
    with anyio.CancelScope() as scope:
        await owner.start()
        child = owner.spawn("x", forever)
        await settle()
        scope.cancel()
    await settle()
    assert not child.done
    assert owner.state is OwnerState.RUNNING
    await owner.close()


async def test_owner_holds_its_children_only() -> None:
    """Dropping a facade without close() is noticed: nothing in the background keeps it alive."""

    class Facade:
        def __init__(self) -> None:
            self.owner = TaskOwner("c")

    facade = Facade()
    owner = facade.owner
    await owner.start()
    owner.spawn("x", forever)
    await settle()
    alive = weakref.ref(facade)
    del facade
    gc.collect()
    assert alive() is None
    owner.close_soon()
    await owner.close()


async def test_running_tasks_survive_garbage_collection() -> None:
    ended = asyncio.Event()

    async def child() -> None:
        try:
            await forever()
        finally:
            ended.set()

    owner = TaskOwner("c")
    await owner.start()
    owner.spawn("x", child)
    await settle()
    alive = weakref.ref(owner)
    close_soon = owner.close_soon
    del owner
    gc.collect()
    assert alive() is not None
    assert not ended.is_set()
    close_soon()
    async with asyncio.timeout(30):
        await ended.wait()


def test_close_soon_after_the_end_of_the_loop_is_harmless() -> None:
    owner = TaskOwner("c")

    async def main() -> None:
        await owner.start()
        owner.spawn("x", forever)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert owner.state is OwnerState.CLOSED
    owner.close_soon()
    TaskOwner("never started").close_soon()


def test_end_of_the_loop_ends_everything_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "aiokafka_lite")
    owner = TaskOwner("c")

    async def main() -> None:
        await owner.start()
        owner.spawn("ran", forever)
        await asyncio.sleep(0)
        owner.spawn("never ran", forever)

    asyncio.run(main())
    assert owner.children == ()
    assert caplog.text == ""
    with pytest.raises(KafkaError, match=r"all tasks of c were cancelled"):
        owner.check()


@pytest.mark.parametrize("first_steps", [0, 1])
async def test_a_root_that_somebody_else_cancels_is_a_failure(first_steps: int) -> None:
    owner = TaskOwner("c")
    heard: list[BaseException] = []
    owner.add_failure_callback(heard.append)
    before = asyncio.all_tasks()
    starting = asyncio.create_task(owner.start())
    await asyncio.sleep(0)
    for _ in range(first_steps):
        await asyncio.sleep(0)
        owner.spawn("x", forever)
    tasks = asyncio.all_tasks() - before
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await asyncio.wait([starting])
    assert heard == [owner.failure]
    with pytest.raises(KafkaError, match=r"all tasks of c were cancelled.*stop the client before"):
        owner.spawn("y", forever)
    await owner.close()
    assert owner.state is OwnerState.CLOSED


async def test_a_child_cannot_be_spawned_from_another_loop() -> None:
    owner = TaskOwner("c")
    await owner.start()

    async def spawn() -> None:
        owner.spawn("x", forever)

    with pytest.raises(IllegalStateError, match="run_coroutine_threadsafe"):
        await asyncio.to_thread(asyncio.run, spawn())
    assert owner.children == ()
    await owner.close()


def test_closing_after_the_end_of_the_loop_is_harmless() -> None:
    owner = TaskOwner("c")
    with asyncio.Runner() as runner:
        runner.run(owner.start())
    asyncio.run(owner.close())
    assert owner.state is OwnerState.CLOSED


async def test_a_failure_from_outside_ends_the_children_and_is_told_by_check() -> None:
    owner = TaskOwner("c")
    owner.fail("too early")
    owner.check()
    await owner.start()
    told: list[str] = []
    owner.add_failure_callback(lambda error: told.append(str(error)))
    child = owner.spawn("x", forever)
    owner.fail("the reason")
    owner.fail("another reason")
    await child.wait()
    assert child.error is None
    with pytest.raises(KafkaError, match="the reason"):
        owner.check()
    assert len(told) == 1
    await owner.close()
