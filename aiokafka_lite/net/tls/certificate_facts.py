"""Reads the names and dates of a certificate, for error texts. Does not wait.

Python tells them of certificates that it trusts alone, and an error text is about one that it does
not trust. Nothing here decides about trust. The bytes come from an unknown peer: each length is
checked, and what does not fit is a ValueError.

Source: RFC 5280, section 4.1; ITU-T X.690 for DER.
"""

import ipaddress
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from aiokafka_lite.light_dataclass import dataclass

if TYPE_CHECKING:
    import datetime as dt

_SEQUENCE: Final = 0x30
_VERSION: Final = 0xA0
_EXTENSIONS: Final = 0xA3
_OCTETS: Final = 0x04
_UTC_TIME: Final = 0x17
_GENERALIZED_TIME: Final = 0x18
_DNS_NAME: Final = 0x82
_IP_ADDRESS: Final = 0x87
_SUBJECT_ALT_NAME: Final = b"\x55\x1d\x11"
_COMMON_NAME: Final = b"\x55\x04\x03"
_ORGANIZATION: Final = b"\x55\x04\x0a"
_LONGEST_NAME: Final = 100
_MOST_BYTES: Final = 64 * 1024
_SHORT_YEARS: Final = 50
"""A year of two digits from here on is in the twentieth century."""


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What a certificate says of itself."""

    names: tuple[str, ...]
    """The host names and IP addresses that it is for, those of its extension alone."""
    subject: str
    issuer: str
    not_before: "dt.datetime"
    not_after: "dt.datetime"


def certificate_facts(der: bytes) -> CertificateFacts:
    """Return what a certificate says of itself. Raises: ValueError if it cannot be read."""
    if len(der) > _MOST_BYTES:
        raise ValueError(f"a certificate of {len(der)} bytes")
    try:
        (_, certificate), *_ = _elements(der)
        (_, signed), *_ = _elements(certificate)
        fields = [each for each in _elements(signed) if each[0] != _VERSION]
        _, _, (_, issuer), (_, validity), (_, subject), _, *rest = fields
        (not_before, not_after) = (_time(*each) for each in _elements(validity))
        extensions = b"".join(value for tag, value in rest if tag == _EXTENSIONS)
        return CertificateFacts(
            tuple(_names(extensions)), _name(subject), _name(issuer), not_before, not_after
        )
    except (IndexError, ValueError, OverflowError) as error:
        raise ValueError(f"this is no certificate: {error}") from error


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of each element that stands beside the others in `data`."""
    at = 0
    while at < len(data):
        tag, length = data[at], data[at + 1]
        at += 2
        if length & 0x80:
            size = length & 0x7F
            if not 0 < size <= 4:
                raise ValueError(f"a length of {size} bytes")
            length = int.from_bytes(data[at : at + size], "big")
            at += size
        if at + length > len(data):
            raise ValueError("it is cut off")
        yield tag, data[at : at + length]
        at += length


def _names(extensions: bytes) -> Iterator[str]:
    for _, listed in _elements(extensions):
        for _, extension in _elements(listed):
            (_, kind), *rest = _elements(extension)
            if kind != _SUBJECT_ALT_NAME:
                continue
            for _, names in _elements(b"".join(value for tag, value in rest if tag == _OCTETS)):
                for tag, name in _elements(names):
                    if tag == _DNS_NAME:
                        yield _shown(name)
                    elif tag == _IP_ADDRESS:
                        yield str(ipaddress.ip_address(name))


def _name(name: bytes) -> str:
    """Return the common name of a subject or issuer, or else its organization."""
    parts: dict[bytes, str] = {}
    for _, group in _elements(name):
        for _, attribute in _elements(group):
            (_, kind), (_, value) = _elements(attribute)
            parts[kind] = _shown(value)
    return parts.get(_COMMON_NAME) or parts.get(_ORGANIZATION) or ""


def _shown(text: bytes) -> str:
    """Return a text of the peer in a form that cannot confuse a log or a terminal."""
    decoded = text[:_LONGEST_NAME].decode("utf-8", "replace")
    return "".join(each if each.isprintable() else "?" for each in decoded)


def _time(tag: int, value: bytes) -> "dt.datetime":
    text = value.decode("ascii")
    if tag == _UTC_TIME:
        text = f"{'19' if int(text[:2]) >= _SHORT_YEARS else '20'}{text}"
    elif tag != _GENERALIZED_TIME:
        raise ValueError(f"a time of type {tag}")
    import datetime as dt  # noqa: PLC0415  few connections fail so

    return dt.datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=dt.UTC)


__all__ = ["CertificateFacts", "certificate_facts"]
