"""Callers of one key share one piece of work, its result and its error."""

import asyncio
import functools

import pytest

from aiokafka_lite.schema_registry.shared_lookups import SharedLookups


async def test_callers_share_one_lookup_per_key() -> None:
    lookups: SharedLookups[int] = SharedLookups()
    go_on = asyncio.Event()
    started: list[str] = []

    async def work(name: str) -> int:
        started.append(name)
        await go_on.wait()
        return len(started)

    calls = [
        asyncio.create_task(lookups.run(key, functools.partial(work, key)))
        for key in ("a", "a", "b")
    ]
    await asyncio.sleep(0)
    go_on.set()
    assert await asyncio.gather(*calls) == [2, 2, 2]
    assert started == ["a", "b"]
    await lookups.run("a", lambda: work("again"))
    assert started == ["a", "b", "again"]


async def test_all_callers_get_the_error() -> None:
    lookups: SharedLookups[int] = SharedLookups()

    async def fail() -> int:
        await asyncio.sleep(0)
        raise ValueError("not now")

    results = await asyncio.gather(
        *(lookups.run("a", fail) for _ in range(3)), return_exceptions=True
    )
    assert [str(each) for each in results] == ["not now"] * 3
    assert len(set(map(id, results))) == 1


async def test_a_caller_goes_on_where_another_was_cancelled() -> None:
    lookups: SharedLookups[int] = SharedLookups()
    attempts = 0

    async def work() -> int:
        nonlocal attempts
        attempts += 1
        await asyncio.sleep(0 if attempts > 1 else 3600)
        return attempts

    first = asyncio.create_task(lookups.run("a", work))
    second = asyncio.create_task(lookups.run("a", work))
    third = asyncio.create_task(lookups.run("a", work))
    await asyncio.sleep(0)
    third.cancel()
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 2
    with pytest.raises(asyncio.CancelledError):
        await first
    with pytest.raises(asyncio.CancelledError):
        await third
