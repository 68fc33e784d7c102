"""Checks values that users pass, and words the error that lists all their faults. Does not wait."""

from collections.abc import Sequence
from typing import TypeGuard


def is_int(value: object) -> TypeGuard[int]:
    """Return whether `value` is an int and not a bool, regardless of its declared type."""
    return isinstance(value, int) and not isinstance(value, bool)


def text_of_faults(what: str, faults: Sequence[str]) -> str:
    """Return the one fault, or "`what` has 2 faults:" with a line for each."""
    if len(faults) == 1:
        return faults[0]
    listed = "".join(f"\n  - {fault}" for fault in faults)
    return f"{what} has {len(faults)} faults:{listed}"


__all__ = ["is_int", "text_of_faults"]
