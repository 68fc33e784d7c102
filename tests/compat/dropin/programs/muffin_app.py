"""muffin: handlers of single records and of batches, an error handler, and the health check."""

import asyncio
import sys
from typing import Any

from muffin import Application
from muffin_kafka import Kafka

BOOTSTRAP, MARK = sys.argv[1:]


async def run(name: str, **options: Any) -> None:
    app = Application("example")
    topic = f"mu-{MARK}-{name}"
    kafka = Kafka(
        app,
        bootstrap_servers=[BOOTSTRAP],
        produce=True,
        listen=True,
        group_id=f"mu-{MARK}-{name}",
        monitor=True,
        monitor_interval=1,
        **options,
    )
    read: list[str] = []
    errors: list[str] = []

    @kafka.handle_topics(topic)
    async def handle(message: Any) -> None:
        records = message if isinstance(message, list) else [message]
        for record in records:
            if record.value == b"bad":
                raise ValueError("bad")
            read.append(record.value.decode())

    @kafka.handle_error
    async def on_error(error: Exception) -> None:
        errors.append(type(error).__name__)

    await app.lifespan.run("startup")
    for text in ("one", "two", "bad", "three"):
        await (await kafka.send(topic, text, key="key"))
    async with asyncio.timeout(20):
        while "three" not in read:
            await asyncio.sleep(0.05)
    await asyncio.sleep(1.2)
    await app.lifespan.run("shutdown")
    print(name, sorted(read), errors)
    try:
        await app.manage.commands[f"{kafka.name}-healthcheck"](topic, max_lag=1000)
    except SystemExit as error:
        print("health check", error.code)
    else:
        print("health check passed")


asyncio.run(run("single"))
