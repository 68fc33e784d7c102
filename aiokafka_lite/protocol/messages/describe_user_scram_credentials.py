"""DescribeUserScramCredentials (key 50): which SCRAM mechanisms a user has, and with how many
iterations (KIP-554). Salts and keys are never told.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int8, Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeUserScramCredentialsRequest(
    Request["DescribeUserScramCredentialsResponse"], api_key=50, versions="0", flexible="0+"
):
    """Asks for the mechanisms of users."""

    needs = "Kafka 2.7, or 3.5 with KRaft (KIP-554)"

    users: list[UserName] | None = field(doc="The users; null or an empty list for all.")


class UserName(Struct):
    """One user."""

    name: String = field(doc="The user's name, without User: before it.")


class DescribeUserScramCredentialsResponse(Response, api_key=50, versions="0", flexible="0+"):
    """The mechanisms of each user."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code of the whole response.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    results: list[DescribeUserScramCredentialsResult] = field(doc="The users.")


class DescribeUserScramCredentialsResult(Struct):
    """The mechanisms of one user."""

    user: String = field(doc="The user's name.")
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    credential_infos: list[CredentialInfo] = field(doc="The mechanisms.")


class CredentialInfo(Struct):
    """One mechanism of a user."""

    mechanism: Int8 = field(doc="The mechanism, by the number of ScramMechanism.")
    iterations: Int32 = field(doc="How often the password was hashed.")


__all__ = [
    "CredentialInfo",
    "DescribeUserScramCredentialsRequest",
    "DescribeUserScramCredentialsResponse",
    "DescribeUserScramCredentialsResult",
    "UserName",
]
