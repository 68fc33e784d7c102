"""The embedded broker answers as Apache Kafka has: the corpus, played without Java."""

from typing import Any

import pytest

from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.conformance.broker_corpus.allowed import ALLOWED, row_of
from tests.conformance.broker_corpus.answers import by_version, read
from tests.conformance.broker_corpus.exchange import Case, NotServedError, Player, differences
from tests.conformance.broker_corpus.rows import ROWS

RELEASE = "4.4.0"
KAFKA = read(RELEASE)
GROUPS = 16


class VirtualPlace:
    """The embedded broker in virtual time."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.address = kafka.bootstrap_servers
        self._clock = kafka.clock

    def now_ms(self) -> int:
        return int(self._clock.time() * 1000)


def played(case: Case) -> dict[str, dict[str, Any]]:
    async def main(kafka: VirtualKafka) -> dict[str, dict[str, Any]]:
        player = Player(VirtualPlace(kafka), real=False)
        await player.start()
        try:
            return await player.play(case)
        except NotServedError as missing:
            return {"not served": {"0": str(missing)}}

    return run_virtual_kafka(main)


def compare(case: Case) -> list[tuple[str, str, str, Any, Any]]:
    """Return step, version, path, Kafka's value and ours, for each difference."""
    found = []
    ours = played(case)
    for step, answers in KAFKA["cases"].get(case.name, {}).items():
        for version, answer in by_version(answers).items():
            got = ours.get(step, {}).get(version, "not asked")
            found += [(step, version, *each) for each in differences(answer, got)]
    return found


@pytest.mark.parametrize("part", range(GROUPS))
def test_answers_as_kafka_does(part: int) -> None:
    unexplained = []
    for case in ROWS[part::GROUPS]:
        for step, version, path, theirs, ours in compare(case):
            if row_of(case.name, step, version, path, theirs) is None:
                unexplained.append((case.name, step, f"v{version}", path, theirs, ours))
    assert not unexplained, "\n".join(map(str, unexplained))


def test_each_row_of_allowed_differences_has_one() -> None:
    missing = []
    for row in ALLOWED:
        cases = [case for case in ROWS if row.fits_case(case.name)]
        seen = any(
            row_of(case.name, step, version, path, theirs) is row
            for case in cases
            for step, version, path, theirs, _ in compare(case)
        )
        if not seen:
            missing.append(row)
    assert not missing


def test_the_corpus_is_large_enough() -> None:
    exchanges = sum(
        len(by_version(answers)) for case in KAFKA["cases"].values() for answers in case.values()
    )
    assert exchanges >= 2_000
    assert len({case.name for case in ROWS}) == len(ROWS)
    assert {case.name for case in ROWS} == set(KAFKA["cases"])
