"""AlterUserScramCredentials (key 51): sets and removes the SCRAM passwords of users (KIP-554).

The client hashes the password. The broker derives its keys from the hash, which therefore is as
good as the password for this one salt.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bytes, Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class AlterUserScramCredentialsRequest(
    Request["AlterUserScramCredentialsResponse"], api_key=51, versions="0", flexible="0+"
):
    """Asks for changes. A user with a mechanism may occur once."""

    needs = "Kafka 2.7, or 3.5 with KRaft (KIP-554)"

    deletions: list[ScramCredentialDeletion] = field(doc="The passwords to remove.")
    upsertions: list[ScramCredentialUpsertion] = field(doc="The passwords to set.")


class ScramCredentialDeletion(Struct):
    """A password to remove."""

    name: String = field(doc="The user's name, without User: before it.")
    mechanism: Int8 = field(doc="The mechanism, by the number of ScramMechanism.")


class ScramCredentialUpsertion(Struct):
    """A password to set. Its repr hides salt and hash."""

    name: String = field(doc="The user's name, without User: before it.")
    mechanism: Int8 = field(doc="The mechanism, by the number of ScramMechanism.")
    iterations: Int32 = field(doc="How often the password was hashed.")
    salt: Bytes = field(doc="The salt, random.")
    salted_password: Bytes = field(doc="The hash of the password with the salt (RFC 5802).")


class AlterUserScramCredentialsResponse(Response, api_key=51, versions="0", flexible="0+"):
    """The result of each user."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    results: list[AlterUserScramCredentialsResult] = field(doc="The results, one for each user.")


class AlterUserScramCredentialsResult(Struct):
    """The result of one user."""

    user: String = field(doc="The user's name.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = [
    "AlterUserScramCredentialsRequest",
    "AlterUserScramCredentialsResponse",
    "AlterUserScramCredentialsResult",
    "ScramCredentialDeletion",
    "ScramCredentialUpsertion",
]
