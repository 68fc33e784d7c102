"""Checks whether a request can carry a string that a user passed. Does not wait."""

from collections.abc import Iterator
from typing import Final

from aiokafka_lite.checks.quoted import quoted

_MAX_TEXT_BYTES: Final = 32_767


def sendable(name: str, value: object) -> Iterator[str]:
    """Yield the fault of a str that no request can carry. Other types have no fault here."""
    if not isinstance(value, str):
        return
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        shown = f"{name}={quoted(value)}"
        yield f"{shown} cannot be sent: it is not valid Unicode; set it to another str"
    else:
        if size > _MAX_TEXT_BYTES:
            yield (
                f"{name} has {size} bytes, above the limit of {_MAX_TEXT_BYTES}; set it to a "
                f"shorter str"
            )


__all__ = ["sendable"]
