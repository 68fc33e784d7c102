"""Writes what real Kafkas answer to the corpus: `make record-kafka`.

ARGS="--release 4.4.0" records one release, and ARGS="--only NAME" the rows whose names contain
NAME, among what was recorded before. The newest release comes first: where another answers as it
does, its file says so in one character.
"""

import argparse
import asyncio
import datetime as dt
import json
import traceback
from pathlib import Path
from typing import Any, Final

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conformance.broker_corpus.answers import RELEASES, besides, path_of, read, shortened
from tests.conformance.broker_corpus.exchange import (
    Build,
    NotServedError,
    Player,
    RealPlace,
    ask,
    q,
    sequence,
)
from tests.conformance.broker_corpus.rows import ROWS

PROPERTIES: Final = {
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
    "group.share.min.record.lock.duration.ms": "1000",
    "log.initial.task.delay.ms": "86400000",
}
"""What the embedded broker has for itself, so that nobody waits."""
OF_44: Final = ("group.consumer.assignment.interval.ms", "group.share.assignment.interval.ms")
LEFT_OUT: Final = {"3.9.2": ("20000 partitions",)}
"""Rows that hurt a release: 3.9 does make 20,000 partitions, and is busy with them for minutes."""


def _always(request: Any) -> Build:
    return lambda scene: request


def _is_found(answer: Any) -> bool:
    return not answer.coordinators[0].error_code


async def _warm_up(player: Player) -> None:
    """Make Kafka's own topics, which takes it a moment."""
    for kind in (0, 1):
        request = q("FindCoordinator", key_type=kind, coordinator_keys=["warm"])
        step = ask("coordinator", _always(request), until=_is_found)
        await player.play(sequence("warm up", step))


async def _recorded(release: str, only: str) -> dict[str, Any]:
    properties = {k: v for k, v in PROPERTIES.items() if release >= "4.4" or k not in OF_44}
    kafka = ApacheKafka(release, properties=properties)
    await asyncio.to_thread(kafka.start)
    try:
        player = Player(RealPlace(kafka.bootstrap_servers), real=True)
        await player.start()
        await _warm_up(player)
        cases = {}
        for row in ROWS:
            if only not in row.name or row.name in LEFT_OUT.get(release, ()):
                continue
            try:
                cases[row.name] = shortened(await player.play(row))
            except NotServedError:
                continue
            except Exception:  # noqa: BLE001 - the others are recorded
                print("NOT RECORDED:", row.name)
                traceback.print_exc()
        return cases
    finally:
        await asyncio.to_thread(kafka.stop)


def main() -> None:
    """Record the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--release", choices=RELEASES, action="append")
    parser.add_argument("--only", default="")
    parser.add_argument("--into", type=Path)
    chosen = parser.parse_args()
    for release in chosen.release or RELEASES:
        cases = asyncio.run(_recorded(release, chosen.only))
        if release != RELEASES[0]:
            cases = besides(cases, read(RELEASES[0])["cases"])
        if chosen.only:
            known = read(release)["cases"]
            cases = {**{k: v for k, v in known.items() if chosen.only not in k}, **cases}
        names = {row.name for row in ROWS}
        lines = [
            f"{json.dumps(name)}: {json.dumps(case, separators=(',', ':'))}"
            for name, case in cases.items()
            if name in names
        ]
        day = dt.datetime.now(dt.UTC).date().isoformat()
        head = json.dumps({"release": release, "recorded": day})[:-1]
        text = f'{head}, "cases": {{\n' + ",\n".join(lines) + "\n}}\n"
        (chosen.into or path_of(release)).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
