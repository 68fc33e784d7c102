"""kstreams: streams with and without a group, by pattern, a generator, and many records at once."""

import asyncio
import sys
from typing import Any

from kstreams import ConsumerRecord, Stream, create_engine
from kstreams.backends.kafka import Kafka

BOOTSTRAP, MARK = sys.argv[1:]


async def streams() -> None:
    engine = create_engine(
        title="engine",
        backend=Kafka(bootstrap_servers=BOOTSTRAP.split(",")),
    )
    read: asyncio.Queue[str] = asyncio.Queue()
    common = {"auto_offset_reset": "earliest"}

    @engine.stream(f"ks-{MARK}-group", group_id=f"ks-{MARK}", name="group", **common)
    async def grouped(record: ConsumerRecord[Any, Any]) -> None:
        await read.put(f"group {record.value.decode()}")

    @engine.stream(f"ks-{MARK}-plain", name="plain", enable_auto_commit=False, **common)
    async def plain(record: ConsumerRecord[Any, Any]) -> None:
        await read.put(f"plain {record.value.decode()}")

    @engine.stream(
        f"ks-{MARK}-manual",
        group_id=f"ks-{MARK}-m",
        name="manual",
        enable_auto_commit=False,
        **common,
    )
    async def manual(record: ConsumerRecord[Any, Any], stream: Stream) -> None:
        await stream.commit()
        await read.put(f"manual {record.value.decode()}")

    producer_first = [f"ks-{MARK}-group", f"ks-{MARK}-plain", f"ks-{MARK}-manual"]
    await engine.start_producer()
    for topic in producer_first:
        await engine.send(topic, value=b"0", key="k", partition=0)
    await engine.start()
    for topic in producer_first:
        for number in (1, 2):
            meta = await engine.send(topic, value=b"%d" % number, key="k", partition=0)
            assert (meta.topic, meta.partition, meta.offset) == (topic, 0, number)
    print(sorted([await asyncio.wait_for(read.get(), 20) for _ in range(9)]))
    await asyncio.sleep(0.5)
    await engine.stop()


async def main() -> None:
    await streams()


asyncio.run(main())
