"""The ready awaitable, in each of its twins; and how one is chosen."""

import asyncio
import os
import subprocess
import sys
from types import ModuleType

import pytest

from aiokafka_lite.concurrency import _ready_py
from tests.twins import native_twin


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    return _ready_py if request.param == "pure" else native_twin("aiokafka_lite.concurrency._ready")


def test_await_gives_the_value_without_suspending(twin: ModuleType) -> None:
    async def caller() -> object:
        return await twin.ready("value")

    with pytest.raises(StopIteration) as end:
        caller().send(None)
    assert end.value.value == "value"


async def test_await_gives_the_very_object(twin: ModuleType) -> None:
    value = [1]
    assert await twin.ready(value) is value


async def test_asyncio_takes_it_for_an_awaitable(twin: ModuleType) -> None:
    assert await asyncio.gather(twin.ready(1), twin.ready(None)) == [1, None]
    assert await asyncio.wait_for(twin.ready(2), 1) == 2


def test_environment_forces_the_pure_twin() -> None:
    program = (
        "from aiokafka_lite.concurrency import ready; "
        "assert not ready.USES_C and ready.ready.__module__.endswith('_ready_py')"
    )
    environment = {**os.environ, "AIOKAFKA_LITE_PURE": "1"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
