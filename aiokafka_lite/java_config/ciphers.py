"""Turns Java's names of cipher suites into those of OpenSSL. Does not wait.

Java writes TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 and OpenSSL ECDHE-RSA-AES128-GCM-SHA256. The
suites of TLS 1.3 have no key exchange in their names. Python always offers them.
"""

import re
from typing import Final

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaConfigurationError

_SUITE: Final = re.compile(r"(?:TLS|SSL)_(?P<exchange>\w+?)_WITH_(?P<cipher>\w+)")
_TLS_1_3: Final = re.compile(r"TLS_(?:AES|CHACHA20)_\w+")


def openssl_ciphers(suites: str) -> str | None:
    """Return Java's list of suites in OpenSSL's notation; None if only TLS 1.3 is named.

    Raises: KafkaConfigurationError for a name without the form of a suite.
    """
    names = [_openssl_name(each.strip()) for each in suites.split(",") if each.strip()]
    return ":".join(name for name in names if name) or None


def _openssl_name(suite: str) -> str | None:
    if _TLS_1_3.fullmatch(suite):
        return None
    found = _SUITE.fullmatch(suite)
    if found is None:
        raise KafkaConfigurationError(
            f"ssl.cipher.suites names {quoted(suite)}, which is no suite of Java such as"
            " TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
        )
    cipher = found["cipher"].replace("AES_", "AES").replace("CAMELLIA_", "CAMELLIA")
    cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305").replace("_CBC_", "_")
    exchange = "" if found["exchange"] == "RSA" else found["exchange"] + "_"
    return (exchange + cipher).replace("_", "-")


__all__ = ["openssl_ciphers"]
