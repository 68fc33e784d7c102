"""A loop without sockets is known by its network."""

import asyncio

from aiokafka_lite.concurrency.loop_network import loop_network
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_loop import run_virtual
from aiokafka_lite.testing.virtual_network import VirtualNetwork


async def test_asyncios_and_uvloops_loops_have_none() -> None:
    assert loop_network() is None


def test_without_a_loop_there_is_none() -> None:
    assert loop_network() is None


def test_a_virtual_loop_has_its_own() -> None:
    async def main(_: FakeClock, network: VirtualNetwork) -> bool:
        await asyncio.sleep(0)
        return loop_network() is network

    assert run_virtual(main)
