"""A password, key or token that is not shown: not in logs, `repr`, error texts or pickles.

Options with credentials are kept as a `Secret` from the constructor on. Only the code that sends a
credential calls `reveal`, and it keeps the result in no field. Does not wait.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn, TypeAlias, final

HIDDEN: Final = "[hidden]"
"""What stands in texts in place of a secret."""


@final
class Secret:
    """Wraps a text or bytes that are not to be shown. It is immutable and can be a dict key.

    `repr`, `str` and `format` give `HIDDEN`. Two secrets are equal if their bytes are, with texts
    in UTF-8. The comparison takes the same time wherever they differ. A secret is never equal to
    the plain value.

    Raises: TypeError if `value` is neither str nor bytes; the text names its type only.
    """

    __slots__ = ("_value",)
    _value: str | bytes

    def __init__(self, value: SecretValue) -> None:
        if isinstance(value, Secret):
            value = value._value
        if not isinstance(value, str | bytes):
            raise TypeError(f"a Secret wraps str or bytes, not {type(value).__name__}")
        object.__setattr__(self, "_value", value)

    def reveal(self) -> str | bytes:
        """Return the value as it was given."""
        return self._value

    def reveal_bytes(self) -> bytes:
        """Return the value as bytes, a text in UTF-8. Raises: UnicodeEncodeError, which shows the
        text, if it has surrogates; `is_encodable` says so before."""
        return self._value.encode() if isinstance(self._value, str) else self._value

    def reveal_text(self) -> str:
        """Return the value as text, bytes read as UTF-8. Raises: UnicodeDecodeError, which shows
        the bytes, if they are not UTF-8; `is_encodable` says so before."""
        return self._value if isinstance(self._value, str) else self._value.decode()

    @property
    def is_encodable(self) -> bool:
        """Whether the value is a text that UTF-8 can encode, or bytes that are UTF-8."""
        try:
            if isinstance(self._value, str):
                self._value.encode()
            else:
                self._value.decode()
        except UnicodeError:
            return False
        return True

    def _bytes(self) -> bytes:
        value = self._value
        return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        from hmac import compare_digest  # noqa: PLC0415  brings hashlib and OpenSSL

        return compare_digest(self._bytes(), other._bytes())

    def __hash__(self) -> int:
        return hash((Secret, self._bytes()))

    def __repr__(self) -> str:
        return f"Secret({HIDDEN})"

    def __str__(self) -> str:
        return HIDDEN

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a Secret cannot be changed; make another one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("a Secret cannot be changed; make another one")

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Secret:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "a Secret is not pickled, because pickles reach disks, logs and other processes. Pass"
            " the name of an environment variable or the path of a file, and make the Secret in"
            " the process that needs it"
        )


SecretValue: TypeAlias = str | bytes | Secret
"""What an option with a credential takes."""

__all__ = ["HIDDEN", "Secret", "SecretValue"]
