"""The check for leftovers fails when a task or a socket is left, and only then."""

import asyncio
import os
import socket
from collections.abc import Iterator

import pytest

from tests.support import patience
from tests.support.leftovers import internet_sockets, nothing_left_behind


@pytest.fixture
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE_S", 0.01)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


async def test_a_task_that_waits_is_left_behind_and_named() -> None:
    with pytest.raises(AssertionError, match="left-alone"):
        async with nothing_left_behind():
            task = asyncio.create_task(asyncio.sleep(60), name="left-alone")
    task.cancel()


async def test_a_connection_is_left_behind_and_named(
    no_patience: None, listener: socket.socket
) -> None:
    address = listener.getsockname()
    with pytest.raises(AssertionError) as caught:
        async with nothing_left_behind():
            connection = socket.create_connection(address)
    assert f"-> {address}" in str(caught.value)
    connection.close()


async def test_a_socket_that_took_the_number_of_an_older_one_is_left_behind(
    no_patience: None,
) -> None:
    older, other = socket.socket(), socket.socket()
    check = nothing_left_behind()
    await check.__aenter__()
    os.dup2(other.fileno(), older.fileno())
    with pytest.raises(AssertionError, match=f"descriptor {older.fileno()}:"):
        await check.__aexit__(None, None, None)
    older.close()
    other.close()


async def test_what_was_there_before_may_stay_or_go(listener: socket.socket) -> None:
    stays = asyncio.create_task(asyncio.sleep(60))
    goes = socket.create_connection(listener.getsockname())
    async with nothing_left_behind():
        goes.close()
    stays.cancel()


async def test_what_ends_by_itself_is_not_left_behind() -> None:
    async with nothing_left_behind():
        server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
        server.close()
        closing = asyncio.create_task(server.wait_closed())
    assert closing.done()


async def test_the_sockets_of_event_loops_do_not_count() -> None:
    """Both loops use sockets of another family for themselves, in any thread."""
    before = internet_sockets()
    loop = type(asyncio.get_running_loop())()
    try:
        assert internet_sockets() == before
    finally:
        loop.close()


async def test_looking_at_a_socket_changes_nothing_about_it(listener: socket.socket) -> None:
    listener.settimeout(5)
    assert listener.fileno() in {number for number, _ in internet_sockets()}
    with socket.create_connection(listener.getsockname()), listener.accept()[0]:
        assert listener.gettimeout() == 5
