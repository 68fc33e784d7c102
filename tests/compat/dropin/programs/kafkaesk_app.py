"""kafkaesk: a schema, a subscriber by pattern, and the health check."""

import asyncio
import sys

import kafkaesk
from pydantic import BaseModel

BOOTSTRAP, MARK = sys.argv[1:]
app = kafkaesk.Application([BOOTSTRAP], topic_prefix=f"ke-{MARK}-")
read: list[str] = []


@app.schema("Content", version=1, retention=24 * 60 * 60, streams=["content.edited.Resource"])
class Content(BaseModel):
    foo: str


@app.subscribe("content.*", group="readers")
async def take(data: Content) -> None:
    read.append(data.foo)


async def main() -> None:
    async with app:
        for foo in ("one", "two"):
            await (await app.publish("content.edited.Resource", Content(foo=foo)))
        print("flushed", await app.flush())
        print("healthy", app.producer_healthy())
        await asyncio.wait_for(app.consume_for(num_messages=2, seconds=20), 30)
        print(sorted(read))
        print("healthy", app.producer_healthy())


asyncio.run(main())
