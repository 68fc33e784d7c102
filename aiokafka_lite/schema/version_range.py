"""Ranges of protocol versions, in Kafka's notation: "3+", "0-12", "7", "none". Does not wait."""

from functools import cache
from typing import ClassVar, Self

from aiokafka_lite.light_dataclass import dataclass

_OPEN_END = 0x7FFF


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions from `min` to `max`, both included; empty when `max` is below `min`."""

    min: int
    max: int

    ALL: ClassVar["VersionRange"]
    NONE: ClassVar["VersionRange"]

    @classmethod
    @cache
    def parse(cls, text: str) -> Self:
        """Return the range that `text` means.

        Raises: ValueError unless `text` has one of the four forms.
        """
        if text == "none":
            return cls(0, -1)
        low, dash, high = text.partition("-")
        try:
            if dash:
                return cls(int(low), int(high))
            if text.endswith("+"):
                return cls(int(text[:-1]), _OPEN_END)
            return cls(int(text), int(text))
        except ValueError:
            raise ValueError(
                f"{text!r} is not a version range: write '3+', '0-12', '7' or 'none'"
            ) from None

    def __contains__(self, version: int) -> bool:
        return self.min <= version <= self.max

    def __bool__(self) -> bool:
        return self.min <= self.max

    def __and__(self, other: "VersionRange") -> "VersionRange":
        """Return the versions in both ranges."""
        return VersionRange(max(self.min, other.min), min(self.max, other.max))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.max == _OPEN_END:
            return f"{self.min}+"
        return str(self.min) if self.min == self.max else f"{self.min}-{self.max}"


VersionRange.ALL = VersionRange(0, _OPEN_END)
VersionRange.NONE = VersionRange(0, -1)


__all__ = ["VersionRange"]
