import asyncio
import functools
import inspect
import sys
import types
from collections.abc import Awaitable, Generator
from unittest import mock

import pytest

from aiokafka_lite.concurrency.coroutine_function import is_coroutine_function as is_coroutine
from aiokafka_lite.concurrency.coroutine_function import (
    is_plain_function,
    look_like_coroutine_function,
)
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


async def _coroutine(_: object) -> None: ...


def _plain(_: object) -> None: ...


def _says_so(_: object) -> Awaitable[None]:
    raise NotImplementedError


def _says_nothing(_): ...


@functools.wraps(_coroutine)
def _wraps_coroutine(_: object) -> None: ...


@functools.wraps(_plain)
def _wraps_plain(_: object) -> None: ...


@types.coroutine
def _by_generator(_: object) -> Generator[None, None, None]:
    yield


class _Handlers:
    async def coroutine(self, _: object) -> None: ...

    def plain(self, _: object) -> None: ...


class _Called:
    async def __call__(self, _: object) -> None: ...


class _CalledPlain:
    def __call__(self, _: object) -> None: ...


COROUTINES = [
    _coroutine,
    functools.partial(_coroutine, 1),
    functools.partial(functools.partial(_coroutine)),
    _wraps_coroutine,
    _by_generator,
    _Handlers().coroutine,
    _Called(),
    mock.AsyncMock(),
]
PLAIN = [
    _plain,
    functools.partial(_plain, 1),
    _says_nothing,
    _wraps_plain,
    _Handlers().plain,
    _CalledPlain(),
]
NOT_KNOWN = [_says_so, lambda record: record, print, list]


@pytest.mark.parametrize("function", COROUTINES)
def test_functions_that_must_be_awaited_are_known(function: object) -> None:
    assert is_coroutine(function)
    assert not is_plain_function(function)


@pytest.mark.parametrize("function", PLAIN)
def test_functions_that_cannot_be_awaited_are_known(function: object) -> None:
    assert is_plain_function(function)
    assert not is_coroutine(function)


@pytest.mark.parametrize("function", NOT_KNOWN)
def test_what_may_return_an_awaitable_is_not_called_plain(function: object) -> None:
    assert not is_plain_function(function)
