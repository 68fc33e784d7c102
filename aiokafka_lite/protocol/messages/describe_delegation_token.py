"""DescribeDelegationToken (key 41): the delegation tokens that the user may see (KIP-48).

v1 is the lowest version since Kafka 4.0 (KIP-896); v2 flexible; v3 tells which user asked for the
token (KIP-373).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bytes, Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class DescribeDelegationTokenRequest(
    Request["DescribeDelegationTokenResponse"], api_key=41, versions="1-3", flexible="2+"
):
    """Asks for the tokens of owners."""

    needs = "Kafka 1.1, or 3.6 with KRaft (KIP-48)"

    requesters_since = 3
    """The first version whose response tells which user asked for a token (KIP-373)."""

    owners: list[DescribeDelegationTokenOwner] | None = field(
        doc="The owners, or null for the tokens of all."
    )


class DescribeDelegationTokenOwner(Struct):
    """An owner of tokens."""

    principal_type: String = field(doc="Type of the owner, such as User.")
    principal_name: String = field(doc="Name of the owner.")


class DescribeDelegationTokenResponse(Response, api_key=41, versions="1-3", flexible="2+"):
    """The tokens."""

    error_code: Int16 = field(doc="0, or an error code.")
    tokens: list[DescribedDelegationToken] = field(doc="The tokens.")
    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )


class DescribedDelegationToken(Struct):
    """One token."""

    principal_type: String = field(doc="Type of the owner.")
    principal_name: String = field(doc="Name of the owner.")
    token_requester_principal_type: String = field(
        versions="3+", doc="Type of the user that asked for the token."
    )
    token_requester_principal_name: String = field(
        versions="3+", doc="Name of the user that asked for the token."
    )
    issue_timestamp: Int64 = field(doc="When the token was made, in milliseconds since 1970.")
    expiry_timestamp: Int64 = field(doc="When the token ends unless it is renewed.")
    max_timestamp: Int64 = field(doc="When the token ends at the latest.")
    token_id: String = field(doc="The token's id, which is not secret.")
    hmac: Bytes = field(doc="The token's HMAC, which is secret.")
    renewers: list[DescribedDelegationTokenRenewer] = field(
        doc="Users that may renew the token, besides its owner."
    )


class DescribedDelegationTokenRenewer(Struct):
    """A user that may renew the token."""

    principal_type: String = field(doc="Type of the user, such as User.")
    principal_name: String = field(doc="Name of the user.")


__all__ = [
    "DescribeDelegationTokenOwner",
    "DescribeDelegationTokenRequest",
    "DescribeDelegationTokenResponse",
    "DescribedDelegationToken",
    "DescribedDelegationTokenRenewer",
]
