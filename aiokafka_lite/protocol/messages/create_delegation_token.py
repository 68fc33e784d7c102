"""CreateDelegationToken (key 38): a new delegation token (KIP-48).

v1 is the lowest version since Kafka 4.0 (KIP-896); v2 flexible; v3 a token for another owner
(KIP-373).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bytes, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class CreateDelegationTokenRequest(
    Request["CreateDelegationTokenResponse"], api_key=38, versions="1-3", flexible="2+"
):
    """Asks for a token, for the user of the connection or another owner."""

    needs = "Kafka 1.1, or 3.6 with KRaft (KIP-48)"

    owners_since = 3
    """The first version in which a token may be for another owner (KIP-373)."""

    owner_principal_type: String | None = field(
        versions="3+",
        needs="a delegation token for another owner needs Kafka 3.3 (KIP-373)",
        doc="Type of the owner, such as User, or null for the user who asks.",
    )
    owner_principal_name: String | None = field(
        versions="3+",
        needs="a delegation token for another owner needs Kafka 3.3 (KIP-373)",
        doc="Name of the owner, or null for the user who asks.",
    )
    renewers: list[CreatableRenewers] = field(doc="Users that may renew the token.")
    max_lifetime_ms: Int64 = field(
        doc="The longest life of the token in milliseconds, or -1 for the broker's limit."
    )


class CreatableRenewers(Struct):
    """A user that may renew the token."""

    principal_type: String = field(doc="Type of the user, such as User.")
    principal_name: String = field(doc="Name of the user.")


class CreateDelegationTokenResponse(Response, api_key=38, versions="1-3", flexible="2+"):
    """The new token."""

    error_code: Int16 = field(doc="0, or an error code.")
    principal_type: String = field(doc="Type of the owner.")
    principal_name: String = field(doc="Name of the owner.")
    token_requester_principal_type: String = field(
        versions="3+", doc="Type of the user that asked for the token."
    )
    token_requester_principal_name: String = field(
        versions="3+", doc="Name of the user that asked for the token."
    )
    issue_timestamp_ms: Int64 = field(doc="When the token was made, in milliseconds since 1970.")
    expiry_timestamp_ms: Int64 = field(doc="When the token ends unless it is renewed.")
    max_timestamp_ms: Int64 = field(doc="When the token ends at the latest.")
    token_id: String = field(doc="The token's id, which is not secret.")
    hmac: Bytes = field(doc="The token's HMAC, which is secret.")
    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )


__all__ = [
    "CreatableRenewers",
    "CreateDelegationTokenRequest",
    "CreateDelegationTokenResponse",
]
