"""Clients work on asyncio's event loop only, and say so elsewhere."""

import asyncio

import pytest

from aiokafka_lite.concurrency.running_loop import running_loop


async def test_the_loop_that_runs_is_returned() -> None:
    assert running_loop() is asyncio.get_running_loop()


def test_where_none_runs_the_error_says_what_is_needed() -> None:
    with pytest.raises(RuntimeError, match=r"no event loop of asyncio .* trio's; .*asyncio.run"):
        running_loop()
