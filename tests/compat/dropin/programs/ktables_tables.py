"""ktables: a table that is replayed and followed, tombstones, a barrier, and grouped tables."""

import asyncio
import json
import sys

from ktables import (
    GroupedKafkaTable,
    GroupedKafkaTableWriter,
    KafkaTable,
    KafkaTableWriter,
    ensure_topic,
)

BOOTSTRAP, MARK = sys.argv[1:]


def dump(value: object) -> bytes:
    return json.dumps(value).encode()


async def main() -> None:
    topic = f"kt-{MARK}"
    print((await ensure_topic(BOOTSTRAP, f"{topic}-made")).__class__.__name__)
    async with KafkaTableWriter(connection=BOOTSTRAP, topic=topic, value_encoder=dump) as writer:
        await writer.set("ann", 1)
        await writer.set("bob", 2)
        await writer.set("ann", 3)
        table = KafkaTable(connection=BOOTSTRAP, topic=topic, value_decoder=json.loads)
        async with table:
            print(table.status, table.get("ann"), table.get("bob"))
            await writer.delete("bob")
            await writer.set("eve", 4)
            print(await table.barrier(), table.get("bob"), table.get("eve"))
    grouped = GroupedKafkaTableWriter(
        connection=BOOTSTRAP, topic=f"{topic}-groups", value_encoder=dump
    )
    async with grouped:
        await grouped.set("billing", "host-a", 1)
        await grouped.set("billing", "host-b", 2)
        await grouped.delete("billing", "host-a")
        view = GroupedKafkaTable(
            connection=BOOTSTRAP, topic=f"{topic}-groups", value_decoder=json.loads
        )
        async with view:
            print(await view.barrier(), view.snapshot())


asyncio.run(main())
