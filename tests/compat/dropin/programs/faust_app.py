"""faust: an agent, a table with its changelog, a timer; ended by SIGTERM as a service is."""

import asyncio
import os
import signal
import sys

import faust
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

BOOTSTRAP, MARK = sys.argv[1:]
sys.argv = [sys.argv[0], "--quiet", "worker", "-l", "error", "--without-web"]


def say(text: str) -> None:
    """Past faust, which takes standard output for its log."""
    os.write(1, f"{text}\n".encode())


app = faust.App(
    f"fa-{MARK}",
    broker=f"kafka://{BOOTSTRAP}",
    store="memory://",
    topic_partitions=2,
    datadir=f"/tmp/faust-{MARK}",
    value_serializer="json",
)
orders = app.topic(f"fa-{MARK}-orders", value_type=str, key_type=str, partitions=2)
counts = app.Table(f"fa-{MARK}-counts", default=int, partitions=2)
ticks: list[int] = []
sent: list[int] = []


@app.agent(orders)
async def count(stream: faust.StreamT[str]) -> None:
    async for key, text in stream.items():
        counts[key] += len(text)
        if dict(counts.items()) == {"ann": 15, "bob": 15}:
            say(f"counts {dict(sorted(counts.items()))}")
            say(f"ticked {bool(ticks)}")
            os.kill(os.getpid(), signal.SIGTERM)


@app.timer(interval=0.2)
async def tick() -> None:
    ticks.append(1)
    if len(ticks) >= 2 and not sent:
        sent.append(1)
        for key in ("ann", "bob"):
            for number in range(5):
                await orders.send(key=key, value="x" * (number + 1))


async def create() -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=BOOTSTRAP)
    await admin.start()
    await admin.create_topics([NewTopic(f"fa-{MARK}-orders", 2, 1)])
    await admin.close()


asyncio.run(create())
try:
    app.main()
except SystemExit as error:
    say(f"ended with {error.code or 0}")
