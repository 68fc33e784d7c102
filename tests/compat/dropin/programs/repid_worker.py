"""repid: messages, a worker with a failing actor, ended by SIGTERM."""

import asyncio
import os
import signal
import sys

from repid import KafkaServer, Repid, Router

BOOTSTRAP, MARK = sys.argv[1:]
app = Repid(title="App", version="1.0.0")
app.servers.register_server(
    "default", KafkaServer(BOOTSTRAP, group_id=f"re-{MARK}"), is_default=True
)
router = Router()
done: list[int] = []


@router.actor(channel=f"re-{MARK}")
async def double(number: int) -> None:
    done.append(number * 2)
    if number == 3:
        raise ValueError(number)
    if len(done) == 10:
        print(sorted(done), flush=True)
        asyncio.get_running_loop().call_later(0.3, os.kill, os.getpid(), signal.SIGTERM)


async def main() -> None:
    app.include_router(router)
    async with app.servers.default.connection():
        for number in range(10):
            await app.send_message_json(
                channel=f"re-{MARK}", payload={"number": number}, headers={"topic": "double"}
            )
        await app.run_worker(graceful_shutdown_time=10)
    print("stopped")


asyncio.run(main())
