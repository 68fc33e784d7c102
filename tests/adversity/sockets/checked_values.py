"""Record values that tell whether a byte of them was changed, and where they belong."""

import random
import zlib
from typing import Final

_FILLER: Final = bytes(range(251)) * 2_000
MOST_FILLER: Final = len(_FILLER)


def checked(name: str, size: int) -> bytes:
    """Return a value that names itself, with `size` bytes behind the name and a checksum."""
    body = name.encode() + b"|" + _FILLER[:size]
    return b"%08x" % zlib.crc32(body) + body


def name_of(value: bytes | None) -> str:
    """Return the name in a value. Raises AssertionError if it is missing, or a byte was changed."""
    assert value is not None
    assert b"%08x" % zlib.crc32(value[8:]) == value[:8], f"{len(value)} bytes were damaged"
    return value[8:].partition(b"|")[0].decode()


def some_size(rng: random.Random) -> int:
    """Return a size: mostly small, now and then larger than a batch or a piece of a socket."""
    return rng.choice([0, 0, 10, 60, 60, 450, 450, 3_000, 3_000, 20_000, rng.randint(0, 200_000)])


__all__ = ["MOST_FILLER", "checked", "name_of", "some_size"]
