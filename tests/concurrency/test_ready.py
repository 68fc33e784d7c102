"""Both twins of the ready awaitable; a coroutine is the measure of them."""

import asyncio
import sys
import warnings
import weakref
from typing import Any

import pytest

from aiokafka_lite.concurrency import _ready_py
from tests.support.twins import native_twin


class _Coroutine:
    @staticmethod
    async def ready(value: object) -> object:
        return value


@pytest.fixture(params=["coroutine", "pure", "native"])
def twin(request: pytest.FixtureRequest) -> Any:
    if request.param == "coroutine":
        return _Coroutine
    if request.param == "pure":
        return _ready_py
    return native_twin("aiokafka_lite.concurrency._ready")


def test_await_gives_the_value_without_suspending(twin: Any) -> None:
    async def caller() -> object:
        return await twin.ready("value")

    with pytest.raises(StopIteration) as end:
        caller().send(None)
    assert end.value.value == "value"


async def test_await_gives_the_very_object(twin: Any) -> None:
    value = [1]
    assert await twin.ready(value) is value


async def test_asyncio_takes_it_for_an_awaitable(twin: Any) -> None:
    assert await asyncio.gather(twin.ready(1), twin.ready(None)) == [1, None]
    assert await asyncio.wait_for(twin.ready(2), 30) == 2


@pytest.mark.parametrize("value", [None, (1, 2), StopIteration(3), KeyError, KeyError("text")])
async def test_values_that_mean_something_to_exceptions_arrive_unharmed(
    twin: Any, value: object
) -> None:
    assert await twin.ready(value) is value
    assert await asyncio.create_task(twin.ready(value)) is value


async def test_a_task_can_be_made_of_it(twin: Any) -> None:
    awaitable = twin.ready("value")
    assert asyncio.iscoroutine(awaitable)
    task = asyncio.create_task(awaitable)
    assert await task == "value"


async def test_second_await_is_an_error(twin: Any) -> None:
    awaitable = twin.ready("value")
    await awaitable
    with pytest.raises(RuntimeError, match="cannot reuse"):
        await awaitable


async def test_value_lives_no_longer_than_who_asked_for_it(twin: Any) -> None:
    class Value:
        pass

    value = Value()
    seen = weakref.ref(value)
    await twin.ready(value)
    del value
    assert seen() is None


def test_closed_and_forgotten_ones_let_go_of_the_value(twin: Any) -> None:
    class Value:
        pass

    value = Value()
    seen = weakref.ref(value)
    awaitable = twin.ready(value)
    del value
    assert seen() is not None
    awaitable.close()
    awaitable.close()
    del awaitable
    assert seen() is None


@pytest.mark.parametrize("thrown", [(KeyError("key"),), (KeyError, "key"), (KeyError, None)])
@pytest.mark.filterwarnings("ignore:the .* signature of throw:DeprecationWarning")
def test_exception_thrown_in_comes_out(twin: Any, thrown: tuple[Any, ...]) -> None:
    awaitable = twin.ready("value")
    with pytest.raises(KeyError):
        awaitable.throw(*thrown)
    with pytest.raises(RuntimeError, match="cannot reuse"):
        awaitable.send(None)


def test_exception_somebody_holds_keeps_its_value(twin: Any) -> None:
    """One exception object serves all awaits, but never two who look at it at the same time."""

    def stopped(value: object) -> StopIteration:
        with pytest.raises(StopIteration) as end:
            next(iter(twin.ready(value).__await__()))
        return end.value

    first = stopped("first")
    second = stopped("second")
    assert (first.value, second.value) == ("first", "second")


def test_many_awaits_are_driven_by_one_loop(twin: Any) -> None:
    async def caller() -> int:
        return sum([await twin.ready(number) for number in range(1000)])

    with pytest.raises(StopIteration) as end:
        caller().send(None)
    assert end.value.value == sum(range(1000))


async def test_any_number_may_be_alive_at_once(twin: Any) -> None:
    for _ in range(2):
        alive = [twin.ready(number) for number in range(100)]
        assert [await awaitable for awaitable in reversed(alive)] == list(reversed(range(100)))


@pytest.mark.parametrize("kind", ["pure", "native"])
def test_nothing_warns_of_one_that_is_dropped(kind: str) -> None:
    """What gives it has done its work at the call."""
    twin: Any = _ready_py if kind == "pure" else native_twin("aiokafka_lite.concurrency._ready")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        twin.ready("value")


def test_slots_are_replaced_on_the_interpreters_we_support() -> None:
    native = native_twin("aiokafka_lite.concurrency._ready")
    assert native.HAS_PATCHED_SLOTS or sys.version_info >= (3, 14)
