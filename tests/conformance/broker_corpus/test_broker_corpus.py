"""The embedded broker answers as Apache Kafka has: the corpus, played without Java."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from aiokafka_lite.testing.broker.embedded_broker_options import EmbeddedBrokerOptions
from aiokafka_lite.testing.broker.router import HANDLERS
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.conformance.broker_corpus.allowed import ALLOWED, row_of
from tests.conformance.broker_corpus.answers import RELEASES, whole
from tests.conformance.broker_corpus.exchange import Case, NotServedError, Player, differences
from tests.conformance.broker_corpus.rows import ROWS

KAFKA = {release: whole(release) for release in RELEASES}
PARTS = [("4.4.0", part, 16) for part in range(16)] + [("3.9.2", part, 16) for part in range(16)]
RANGES = json.loads(Path(__file__).parent.with_name("api_ranges.json").read_text("utf-8"))


def highest_of(release: str) -> dict[int, int | None]:
    """Return the versions that the embedded broker serves like a release."""
    newest = {int(name[:2]): high for name, (_, high) in RANGES[f"{release} kraft"].items()}
    return {
        key: min(newest[key], handler.versions.max) if key in newest else None
        for key, handler in ((each.request_type.api_key, each) for each in HANDLERS)
    }


OPTIONS: Final[dict[str, EmbeddedBrokerOptions]] = {
    "4.4.0": {},
    "3.9.2": {
        "max_versions": highest_of("3.9.2"),
        "group_version": 0,
        "share_version": 0,
        "transaction_version": 0,
    },
}


class VirtualPlace:
    """The embedded broker in virtual time."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.address = kafka.bootstrap_servers
        self._clock = kafka.clock

    def now_ms(self) -> int:
        return int(self._clock.time() * 1000)


def played(release: str, case: Case) -> dict[str, dict[str, Any]]:
    async def main(kafka: VirtualKafka) -> dict[str, dict[str, Any]]:
        player = Player(VirtualPlace(kafka), real=False)
        await player.start()
        try:
            return await player.play(case)
        except NotServedError as missing:
            return {"not served": {"0": str(missing)}}

    return run_virtual_kafka(main, **OPTIONS[release])


def compare(release: str, case: Case) -> list[tuple[str, str, str, Any, Any]]:
    """Return step, version, path, Kafka's value and ours, for each difference."""
    theirs = KAFKA[release].get(case.name)
    if theirs is None:
        return []
    found = []
    ours = played(release, case)
    for step, answers in theirs.items():
        for version, answer in answers.items():
            got = ours.get(step, {}).get(version, "not asked")
            found += [(step, version, *each) for each in differences(answer, got)]
    return found


@pytest.mark.parametrize(("release", "part", "of"), PARTS)
def test_answers_as_kafka_does(release: str, part: int, of: int) -> None:
    unexplained = []
    for case in ROWS[part::of]:
        for step, version, path, theirs, ours in compare(release, case):
            if row_of(release, case.name, step, version, path, theirs) is None:
                unexplained.append((case.name, step, f"v{version}", path, theirs, ours))
    assert not unexplained, "\n".join(map(str, unexplained))


def test_each_row_of_allowed_differences_has_one() -> None:
    missing = []
    for row in ALLOWED:
        seen = any(
            row_of(release, case.name, step, version, path, theirs) is row
            for release in RELEASES
            if row.release in ("*", release)
            for case in ROWS
            if row.fits_case(case.name)
            for step, version, path, theirs, _ in compare(release, case)
        )
        if not seen:
            missing.append(row)
    assert not missing


def exchanges(release: str) -> int:
    return sum(len(answers) for case in KAFKA[release].values() for answers in case.values())


def test_the_corpus_is_large_enough() -> None:
    names = {case.name for case in ROWS}
    assert exchanges("4.4.0") >= 2_000
    assert exchanges("3.9.2") >= 1_700
    assert len(names) == len(ROWS)
    assert names == set(KAFKA["4.4.0"])
    assert names >= set(KAFKA["3.9.2"])
