"""A shield against scopes of anyio, for programs with anyio and for those without it."""

import asyncio
import sys

import anyio
import pytest

from aiokafka_lite.concurrency.anyio_shield import anyio_shield


async def test_a_cancelled_scope_does_not_reach_the_block() -> None:
    done = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        with anyio_shield():
            await asyncio.sleep(0)
            done.append("in the block")
        await asyncio.sleep(0)
        done.append("behind it")
    assert done == ["in the block"]


async def test_a_program_without_anyio_needs_no_shield_and_imports_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "anyio")
    with anyio_shield():
        await asyncio.sleep(0)
    assert "anyio" not in sys.modules
