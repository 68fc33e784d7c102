"""A process that is forked after the start: its child is told, and the parent's session goes on."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, os, sys
from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker

options = {"security": "SASL_PLAINTEXT", "users": {"alice": "secret"}, "mechanisms": ["PLAIN"]}

async def send(producer):
    async with asyncio.timeout(20):
        return (await producer.send_and_wait("t", b"x")).offset

async def started(broker):
    producer = AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, **broker.client_options("alice")
    )
    await producer.start()
    return producer

with EmbeddedBroker.threaded(**options) as broker:
    loop = asyncio.new_event_loop()
    producer = loop.run_until_complete(started(broker))
    print("before:", loop.run_until_complete(send(producer)), flush=True)
    child = os.fork()
    if not child:
        for call in (
            lambda: asyncio.run(send(producer)),
            lambda: loop.run_until_complete(send(producer)),
            lambda: producer.send_nowait("t", b"from the child"),
        ):
            try:
                call()
            except Exception as error:
                print("child:", error, flush=True)
        asyncio.run(producer.stop())
        del producer
        os._exit(0)
    os.waitpid(child, 0)
    print("after:", loop.run_until_complete(send(producer)), flush=True)
    loop.run_until_complete(producer.stop())
    loop.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="os.fork is not on this system")
def test_a_forked_child_is_told_and_the_parent_goes_on() -> None:
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    before, *children, after = run.stdout.splitlines()
    assert (before, after) == ("before: 0", "after: 1")
    assert len(children) == 3
    for child in children:
        assert "belongs to the process that this one was forked from" in child
    assert "Unclosed" not in run.stderr
