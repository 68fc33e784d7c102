"""Measures leaves that work on bytes: the checksum and the four codecs, each at its default level.

The contenders are ours, aiokafka's and kafka-python's.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from aiokafka import codec as aiokafka_codec
from aiokafka.record.util import calc_crc32c as aiokafka_crc32c

from aiokafka_lite.codec.crc32c import crc32c
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress, decompress
from benchmarks.leaves import kafka_python_parts
from benchmarks.leaves.contest import Contender, Samples, measure
from benchmarks.leaves.leaf_records import build_ours, values

SIZES = {"1 MiB": 1 << 20, "16 KiB": 1 << 14}
MIB = 1 << 20
PEERS: dict[str, Any] = {"aiokafka": aiokafka_codec, "kafka-python": kafka_python_parts.codec}


def byte_rows(rounds: int) -> Iterator[tuple[str, Samples]]:
    """Measure row by row; seconds per MiB of uncompressed data."""
    batch = build_ours(values(100), CompressionType.NONE)
    for label, size in SIZES.items():
        data = batch[:size]
        checksums = {
            "aiokafka-lite": partial(_repeat, crc32c, data),
            "aiokafka": partial(_repeat, aiokafka_crc32c, data),
            "kafka-python": partial(_repeat, kafka_python_parts.calc_crc32c, data),
        }
        yield f"CRC-32C, {label}", _per_mib(measure(checksums, rounds))
    data = batch[: SIZES["1 MiB"]]
    for codec in CompressionType:
        if codec != CompressionType.NONE:
            yield (
                f"compress, {codec.name.lower()}",
                _per_mib(measure(_packers(codec, data), rounds)),
            )
            packed = bytes(compress(codec, data))
            unpackers = _unpackers(codec, packed, len(data))
            yield f"decompress, {codec.name.lower()}", _per_mib(measure(unpackers, rounds))


def _packers(codec: CompressionType, data: bytes) -> dict[str, Contender]:
    found: dict[str, Contender] = {
        "aiokafka-lite": lambda: _worked(compress(codec, data), len(data))
    }
    for name, module in PEERS.items():
        encode = getattr(module, f"{codec.name.lower()}_encode")
        found[name] = partial(_apply, encode, data, len(data))
    return found


def _unpackers(codec: CompressionType, packed: bytes, size: int) -> dict[str, Contender]:
    found: dict[str, Contender] = {
        "aiokafka-lite": lambda: _worked(decompress(codec, packed), size)
    }
    for name, module in PEERS.items():
        decode = getattr(module, f"{codec.name.lower()}_decode")
        found[name] = partial(_apply, decode, packed, size)
    return found


def _repeat(checksum: Callable[[bytes], int], data: bytes) -> int:
    """Process a MiB in pieces of any size."""
    for _ in range(MIB // len(data)):
        checksum(data)
    return MIB


def _apply(work: Callable[[bytes], Any], data: bytes, size: int) -> int:
    return _worked(work(data), size)


def _worked(result: Any, size: int) -> int:
    assert len(result)
    return size


def _per_mib(samples: Samples) -> Samples:
    return {name: [value * MIB for value in taken] for name, taken in samples.items()}
