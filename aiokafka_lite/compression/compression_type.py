"""The codecs of record batches, with their numbers on the wire and their levels.

Does not compress anything itself.
"""

from enum import IntEnum
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError


class CompressionType(IntEnum):
    """Bits 0-2 of a batch's attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4

    @classmethod
    def parse(cls, name: "str | CompressionType | None") -> "CompressionType":
        """Return the codec for a configuration value: a name, or None for no compression.

        Raises: KafkaConfigurationError for anything else, naming the choices.
        """
        if name is None:
            return cls.NONE
        if isinstance(name, CompressionType):
            return name
        # str(): a user's configuration may hold a value of any type
        found = _BY_NAME.get(str(name).lower())
        if found is None:
            raise KafkaConfigurationError(
                f"compression_type {quoted(name)} is unknown; use one of "
                f"{', '.join(_BY_NAME)} or None"
            )
        return found

    def check_level(self, level: int | None) -> None:
        """Raise KafkaConfigurationError unless this codec has the level.

        None, the default level, is always valid. Source: KIP-390; the ranges are the Java client's.
        """
        if level is None:
            return
        if self not in LEVELS:
            raise KafkaConfigurationError(
                f"{self.name.lower()} has no compression level, got {level}"
            )
        low, high = LEVELS[self]
        if self is CompressionType.GZIP and level == -1:
            return
        if not low <= level <= high:
            also = ", or -1 for zlib's own choice" if self is CompressionType.GZIP else ""
            raise KafkaConfigurationError(
                f"{self.name.lower()} level {level} is outside {low} to {high}{also}"
            )


_BY_NAME: Final = {member.name.lower(): member for member in CompressionType}

LEVELS: Final = {
    CompressionType.GZIP: (1, 9),
    CompressionType.LZ4: (1, 17),
    CompressionType.ZSTD: (-131072, 22),
}
"""Codec -> lowest and highest level. gzip also accepts -1."""

__all__ = ["LEVELS", "CompressionType"]
