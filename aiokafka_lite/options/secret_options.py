"""Says which options have a secret, and hides its value. Does not wait."""

from typing import Any, Final

from aiokafka_lite.secret import Secret

_PASSWORDS: Final = ("sasl_plain_password", "ssl_password")
_KEYS: Final = ("ssl_certfile", "ssl_keyfile")
_PEM: Final = "-----BEGIN "
_LONGEST_PATH: Final = 300


def hidden(name: str, value: Any) -> Any:
    """Return `value` as a `Secret` if the option `name` makes it one, otherwise as it is.

    Passwords are secrets, and certificates and keys that are given as text: a key may be among
    them.
    """
    is_password = name in _PASSWORDS and isinstance(value, str | bytes)
    is_key = name in _KEYS and isinstance(value, str) and not may_be_path(value)
    return Secret(value) if is_password or is_key else value


def may_be_path(text: str) -> bool:
    """Return whether `text` may be the path of a file, and not its content. A key without the first
    line of PEM is no path."""
    return _PEM not in text and "\n" not in text and len(text) <= _LONGEST_PATH


__all__ = ["hidden", "may_be_path"]
