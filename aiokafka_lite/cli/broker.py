"""`aiokafka-lite broker`: the embedded broker in the foreground, until it is interrupted."""

import asyncio
import signal
from typing import Annotated

import typer

from aiokafka_lite.cli.command import run
from aiokafka_lite.testing.broker import EmbeddedBroker

app = typer.Typer(add_completion=False)


@app.command("broker")
def broker(
    port: Annotated[
        int, typer.Option("--port", help="The first node's port; 0: any free one.")
    ] = 9092,
    host: Annotated[str, typer.Option("--host", help="The address to listen on.")] = "127.0.0.1",
    nodes: Annotated[
        int, typer.Option("--nodes", min=1, help="How many nodes; they take the ports that follow.")
    ] = 1,
    partitions: Annotated[
        int, typer.Option("--partitions", min=1, help="Partitions of a topic made at first use.")
    ] = 1,
) -> None:
    """Run an in-memory Kafka broker for development: no Java, no Docker, no stored data."""
    run(_serve(host, port, nodes, partitions))


async def _serve(host: str, port: int, nodes: int, partitions: int) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, stopped.set)
    async with EmbeddedBroker(
        nodes=nodes, host=host, port=port, num_partitions=partitions
    ) as server:
        typer.echo(
            f"serving on {server.bootstrap_servers} (Ctrl-C ends it; records live in memory)"
        )
        await stopped.wait()


__all__ = ["app", "broker"]
