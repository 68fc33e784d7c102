"""A guard against losing speed: what the leaves cost, as ratios taken in one process on one buffer.

Ratios hold on a slow machine as on a quick one. Each is of the least CPU time of several rounds in
turn, and only one that is too small in each of several measurements fails. A floor is at most two
thirds of what was measured when it was written (in the comment beside it, on an idle and on a busy
machine): who loses a third fails, noise does not.
"""

from collections.abc import Callable, Sequence

import pytest
from aiokafka.record.util import calc_crc32c

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.native import native
from benchmarks.leaves import contest
from benchmarks.leaves.contest import Samples
from benchmarks.leaves.leaf_records import in_a_pure_process, of_this_build

ROUNDS = 7
MEASUREMENTS = 5
CLIENTS = ("aiokafka-lite", "aiokafka")
CRC_BYTES = bytes(range(256)) * 64
CRC_REPEATS = 64

READER = native("aiokafka_lite.record._batch_reader")
BUILDER = native("aiokafka_lite.record._batch_builder")
CRC = native("aiokafka_lite.codec._crc32c")
NOT_BUILT = "this leaf has no native twin here"

Measure = Callable[[int, Sequence[str]], dict[str, Samples]]


def aiokafka_to_ours(measure: Measure, leaf: str, floor: float) -> float:
    """Return how many times more aiokafka's compiled leaf costs; the best of several measurements,
    which end with the first that is enough.
    """
    best = 0.0
    for _ in range(MEASUREMENTS):
        samples = measure(ROUNDS, CLIENTS)[leaf]
        best = max(best, min(samples["aiokafka"]) / min(samples["aiokafka-lite"]))
        if best >= floor:
            break
    return best


def crc_samples(rounds: int, clients: Sequence[str]) -> dict[str, Samples]:
    """Measure the checksum of 16 KiB, as a batch has."""

    def repeat(checksum: Callable[[bytes], int]) -> Callable[[], int]:
        def run() -> int:
            for _ in range(CRC_REPEATS):
                checksum(CRC_BYTES)
            return CRC_REPEATS

        return run

    checksums = {"aiokafka": calc_crc32c, "aiokafka-lite": crc32c}
    contenders = {name: repeat(checksums[name]) for name in clients}
    return {"crc": contest.measure(contenders, rounds)}


@pytest.mark.parametrize(
    ("leaf", "floor"),
    [
        ("decode", 0.5),  # measured: 0.69-0.93
        ("build", 0.25),  # measured: 0.36-0.46
    ],
    ids=["decode", "build"],
)
def test_pure_leaf_keeps_its_distance_to_aiokafkas_compiled_one(leaf: str, floor: float) -> None:
    assert aiokafka_to_ours(in_a_pure_process, leaf, floor) >= floor


@pytest.mark.skipif(READER is None, reason=NOT_BUILT)
def test_native_reader_is_far_ahead_of_aiokafkas() -> None:
    floor = 8.2  # measured: 11.9-15.0
    assert aiokafka_to_ours(of_this_build, "decode", floor) >= floor


@pytest.mark.skipif(BUILDER is None, reason=NOT_BUILT)
def test_native_builder_is_far_ahead_of_aiokafkas() -> None:
    floor = 1.5  # measured: 2.3-2.6
    assert aiokafka_to_ours(of_this_build, "build", floor) >= floor


@pytest.mark.skipif(CRC is None, reason=NOT_BUILT)
def test_native_checksum_is_far_ahead_of_aiokafkas_table() -> None:
    floor = 7.0  # measured: 37-42 with AVX-512, 12-14 with SSE 4.2
    assert aiokafka_to_ours(crc_samples, "crc", floor) >= floor


@pytest.mark.parametrize(
    ("leaf", "twin", "floor"),
    [
        ("decode", READER, 9.0),  # measured: 14-17
        ("build", BUILDER, 3.4),  # measured: 5.2-6.4
    ],
    ids=["decode", "build"],
)
def test_native_leaf_is_far_ahead_of_its_twin(leaf: str, twin: object, floor: float) -> None:
    """Each is measured against aiokafka's in a process of its own, so the ratio is of ratios."""
    if twin is None:
        pytest.skip(NOT_BUILT)
    best = 0.0
    for _ in range(MEASUREMENTS):
        pure = aiokafka_to_ours(in_a_pure_process, leaf, floor=0.0)
        best = max(best, aiokafka_to_ours(of_this_build, leaf, floor * pure) / pure)
        if best >= floor:
            break
    assert best >= floor
