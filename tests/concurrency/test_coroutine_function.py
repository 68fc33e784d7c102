import asyncio
import inspect
import sys
from unittest import mock

from aiokafka_lite.concurrency.coroutine_function import look_like_coroutine_function
from tests.support.coroutine_functions import is_coroutine_function


async def test_a_plain_function_looks_like_a_coroutine_function() -> None:
    class Waiting:
        def get(self) -> object:
            return asyncio.sleep(0, 5)

    assert not is_coroutine_function(Waiting.get)
    look_like_coroutine_function(Waiting.get)
    assert is_coroutine_function(Waiting.get)
    assert is_coroutine_function(Waiting().get)
    assert inspect.iscoroutinefunction(Waiting.get) == (sys.version_info >= (3, 12))
    assert isinstance(await mock.AsyncMock(spec=Waiting).get(), mock.Mock)
    assert await Waiting().get() == 5  # type: ignore[misc]  # typed as any object
