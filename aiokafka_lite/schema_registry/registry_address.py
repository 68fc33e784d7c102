"""Checks the addresses and credentials of a schema registry. Does not wait."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

_FORM = "http://HOST:PORT or https://HOST:PORT"
_MOST_SHOWN = 80


def address_faults(urls: Sequence[object]) -> Iterator[str]:
    """Yield a sentence for each fault of the addresses. A password in one is never shown."""
    if not urls:
        yield f"the address of the schema registry is missing: {_FORM}"
    for url in urls:
        if not isinstance(url, str):
            kind = type(url).__name__
            yield f"a value of type {kind} is no address of a schema registry: {_FORM}"
            continue
        try:
            parts = urlsplit(url)
        except ValueError:
            yield f"one of the addresses of the schema registry cannot be read: {_FORM}"
            continue
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = (parts.hostname or "")[:_MOST_SHOWN] or (
                url[:_MOST_SHOWN] if "@" not in url else "one of the addresses"
            )
            yield f"{shown} is not the address of a schema registry: {_FORM}"
        elif "@" in parts.netloc:
            yield (
                f"the address of the schema registry at {parts.hostname} has a user or a password"
                " in it; name them by user and password"
            )


def credential_faults(*, has_user: bool, has_password: bool, has_token: bool) -> Iterator[str]:
    """Yield a sentence for each combination of credentials that makes no sense."""
    if has_user != has_password:
        yield "user and password of the schema registry go together"
    if has_token and has_user:
        yield "the schema registry takes a token, or user and password, not both"


__all__ = ["address_faults", "credential_faults"]
