"""The lag of a group: asked once, or watched in a live table that changes in place."""

import asyncio
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Final

from rich.console import Console
from rich.live import Live

from aiokafka_lite.admin.admin_client import AIOKafkaAdminClient
from aiokafka_lite.admin.groups.group_progress_calls import PartitionLag
from aiokafka_lite.cli.output import OutputFormat, show, table_of
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition

COLUMNS_OF_LAG: Final = ("topic", "partition", "current", "end", "lag")
Lags = Mapping[TopicPartition, PartitionLag | KafkaError]


async def lag_of(admin: AIOKafkaAdminClient, name: str) -> Lags:
    """Return the lag of each partition of a group, or its error.

    Raises: the error of `describe_groups` for a group that is not there.
    """
    found = await admin.group_lag(name)
    if not found:
        (await admin.describe_groups([name])).raise_first()
    return found


def rows_of(found: Lags) -> list[tuple[Any, ...]]:
    """Return a row for each partition whose lag is known."""
    return [(*tp, *each) for tp, each in found.items() if not isinstance(each, KafkaError)]


def lost_of(found: Lags) -> list[str]:
    """Return a sentence for each partition with a committed offset beyond the end of its log."""
    return [
        f"{topic}-{partition}: the committed offset {each.current} lies beyond the end of the log,"
        f" {each.end}. Records were lost, or the topic was made anew; the group's next poll resets"
        " it by auto_offset_reset"
        for (topic, partition), each in found.items()
        if not isinstance(each, KafkaError) and each.lag < 0
    ]


async def watch_lag(
    admin: AIOKafkaAdminClient,
    name: str,
    output: OutputFormat,
    interval_ms: int,
    looks: int | None,
) -> None:
    """Show the lag again and again, at a terminal in place; without `looks` until cancelled.

    Raises: as `lag_of`.
    """
    console = Console()
    live = console.is_terminal and output is OutputFormat.TABLE
    with Live(console=console, auto_refresh=False) if live else nullcontext() as view:
        look = 0
        while True:
            look += 1
            rows = rows_of(await lag_of(admin, name))
            if view is not None:
                view.update(table_of(f"Lag of {name}", COLUMNS_OF_LAG, rows), refresh=True)
            else:
                show(output, f"Lag of {name}", COLUMNS_OF_LAG, rows)
            if look == looks:
                return
            await asyncio.sleep(interval_ms / 1_000)


__all__ = ["COLUMNS_OF_LAG", "lag_of", "lost_of", "rows_of", "watch_lag"]
