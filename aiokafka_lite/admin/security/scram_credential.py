"""SCRAM passwords as the calls take and describe them. Does not wait."""

from enum import IntEnum
from typing import NamedTuple

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.secret import HIDDEN, SecretValue


class ScramMechanism(IntEnum):
    """The mechanisms, by Kafka's numbers (KIP-554). UNKNOWN is one of a newer release."""

    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @classmethod
    def _missing_(cls, value: object) -> "ScramMechanism | None":
        return cls.UNKNOWN if isinstance(value, int) else None


class ScramCredentialInfo(NamedTuple):
    """A mechanism of a user. Brokers never tell salt, keys or password."""

    mechanism: ScramMechanism
    iterations: int


class UserScramCredentialUpsertion(NamedTuple):
    """A password to set. `repr` hides it.

    Brokers accept 4,096 to 16,384 iterations. `password` is a text, bytes or a Secret; a text is
    hashed as UTF-8, without SASLprep, as Kafka's own tools do. Without `salt` the call makes one.
    """

    user: str
    mechanism: ScramMechanism
    iterations: int
    password: SecretValue
    salt: bytes | None = None

    def __repr__(self) -> str:
        return (
            f"UserScramCredentialUpsertion(user={quoted(self.user)}, "
            f"mechanism={quoted(self.mechanism)},"
            f" iterations={quoted(self.iterations)}, password={HIDDEN}, salt={HIDDEN})"
        )


class UserScramCredentialDeletion(NamedTuple):
    """A password to remove."""

    user: str
    mechanism: ScramMechanism


__all__ = [
    "ScramCredentialInfo",
    "ScramMechanism",
    "UserScramCredentialDeletion",
    "UserScramCredentialUpsertion",
]
