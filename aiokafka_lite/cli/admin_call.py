"""One call of an admin client, for commands: the client lives as long as the call."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.cli.command import run
from aiokafka_lite.cli.connection import Connection

T = TypeVar("T")


def admin_call(client: Connection, work: Callable[[AIOKafkaAdminClient], Awaitable[T]]) -> T:
    """Return what one call of an admin client returns. Its errors end the command."""

    async def call() -> T:
        async with AIOKafkaAdminClient(**client.options(AdminConfig)) as admin:
            return await work(admin)

    return run(call())


__all__ = ["admin_call"]
