"""Calls about delegation tokens, with which a user's programs log in without its password."""

from __future__ import annotations

from collections.abc import Sequence

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import raise_broker_error
from aiokafka_lite.admin.security.delegation_token import DelegationToken, principal
from aiokafka_lite.checks.item_lists import list_of, one_of
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from aiokafka_lite.protocol.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from aiokafka_lite.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from aiokafka_lite.protocol.messages.renew_delegation_token import RenewDelegationTokenRequest
from aiokafka_lite.secret import Secret


class DelegationTokenCalls(AdminFamily):
    """Delegation tokens."""

    async def create_delegation_token(
        self,
        renewers: Sequence[str] = (),
        max_lifetime_ms: int | None = None,
        owner: str | None = None,
        timeout_ms: int | None = None,
    ) -> DelegationToken:
        """Make a token for the user of this client, or for `owner` (KIP-373).

        The client must have logged in by SASL or with a certificate, and not with a token. Users
        are "User:alice", or "alice". The token ends for good after `max_lifetime_ms` (None: the
        brokers' limit, 7 days), and before that unless it is renewed each day. A lost response is
        not asked for again, because a second token would be made.

        Raises: DelegationTokenRequestNotAllowed on a connection without a login of its own;
        DelegationTokenAuthDisabled without a secret key on the brokers;
        DelegationTokenAuthorizationFailed without the right CREATE_TOKENS on the owner;
        InvalidPrincipalType for a renewer that is no User; IllegalArgumentError for anything but a
        list of renewers; UnsupportedVersionError for an owner if
        the brokers are older than 3.3; KafkaConnectionError, KafkaTimeoutError or another error if
        no node answered within `timeout_ms` (None: request_timeout_ms).
        Cancelled: the nodes may make the token nevertheless.
        Source: KIP-48, KIP-373.
        """
        of_owner: dict[str, str] = {}  # a field that is not set is not sent
        if owner is not None:
            kind, name = principal(one_of("owner", owner, str))
            of_owner = {"owner_principal_type": kind, "owner_principal_name": name}
        users = [principal(each) for each in list_of("renewers", renewers, str)]

        async def ask(node: AskedNode) -> DelegationToken:
            answer = await node.request(
                CreateDelegationTokenRequest(
                    renewers=[
                        CreatableRenewers(principal_type=kind, principal_name=name)
                        for kind, name in users
                    ],
                    max_lifetime_ms=-1 if max_lifetime_ms is None else max_lifetime_ms,
                    **of_owner,
                )
            )
            raise_broker_error(answer.error_code, None, "create_delegation_token()")
            return DelegationToken(
                answer.token_id,
                answer.hmac,
                f"{answer.principal_type}:{answer.principal_name}",
                answer.issue_timestamp_ms,
                answer.expiry_timestamp_ms,
                answer.max_timestamp_ms,
                tuple(f"{kind}:{name}" for kind, name in users),
            )

        requests = self._running()
        return await requests.one(
            "create_delegation_token()",
            None,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
            is_repeatable=False,
        )

    async def renew_delegation_token(
        self, hmac: bytes | Secret, period_ms: int | None = None, timeout_ms: int | None = None
    ) -> int:
        """Let a token live for `period_ms` from now, and return its end in ms since 1970.

        None: as long as the brokers allow, a day. The owner and the renewers may do it.

        Raises: IllegalArgumentError if `hmac` is a text; DelegationTokenNotFound;
        DelegationTokenExpired; DelegationTokenOwnerMismatch;
        otherwise as `create_delegation_token`.
        Cancelled: the nodes may renew the token nevertheless.
        Source: KIP-48.
        """
        shown = _bytes_of(hmac)

        async def ask(node: AskedNode) -> int:
            answer = await node.request(
                RenewDelegationTokenRequest(
                    hmac=shown,
                    renew_period_ms=-1 if period_ms is None else period_ms,
                )
            )
            raise_broker_error(answer.error_code, None, "renew_delegation_token()")
            return answer.expiry_timestamp_ms

        requests = self._running()
        return await requests.one(
            "renew_delegation_token()",
            None,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def expire_delegation_token(
        self, hmac: bytes | Secret, period_ms: int = -1, timeout_ms: int | None = None
    ) -> int:
        """End a token after `period_ms`, and return its end in ms since 1970. Below 0: at once.

        When a response is lost, the call asks again; a token that the lost request ended then
        raises DelegationTokenNotFound.

        Raises: as `renew_delegation_token`.
        Cancelled: the nodes may end the token nevertheless.
        Source: KIP-48.
        """
        shown = _bytes_of(hmac)

        async def ask(node: AskedNode) -> int:
            answer = await node.request(
                ExpireDelegationTokenRequest(hmac=shown, expiry_time_period_ms=period_ms)
            )
            raise_broker_error(answer.error_code, None, "expire_delegation_token()")
            return answer.expiry_timestamp_ms

        requests = self._running()
        return await requests.one(
            "expire_delegation_token()",
            None,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def describe_delegation_tokens(
        self, owners: Sequence[str] | None = None, timeout_ms: int | None = None
    ) -> list[DelegationToken]:
        """Return the tokens that these users own or may renew; None stands for all users.

        The answer has only tokens that this client's user owns, may renew, or may describe.

        Raises: DelegationTokenRequestNotAllowed; DelegationTokenAuthDisabled; otherwise as
        `create_delegation_token`.
        Cancelled: nothing is left behind.
        Source: KIP-48, KIP-373.
        """
        asked = None
        if owners is not None:
            asked = [
                DescribeDelegationTokenOwner(principal_type=kind, principal_name=name)
                for kind, name in map(principal, list_of("owners", owners, str))
            ]

        async def ask(node: AskedNode) -> list[DelegationToken]:
            answer = await node.request(DescribeDelegationTokenRequest(owners=asked))
            raise_broker_error(answer.error_code, None, "describe_delegation_tokens()")
            return [_token(each) for each in answer.tokens]

        requests = self._running()
        return await requests.one(
            "describe_delegation_tokens()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )


def _bytes_of(hmac: bytes | Secret) -> bytes:
    shown = hmac.reveal() if isinstance(hmac, Secret) else hmac
    if not isinstance(shown, bytes):
        raise IllegalArgumentError(
            f"hmac is a {type(shown).__name__}; give the bytes of `token.hmac`, not its password"
        )
    return shown


def _token(found: DescribedDelegationToken) -> DelegationToken:
    return DelegationToken(
        found.token_id,
        found.hmac,
        f"{found.principal_type}:{found.principal_name}",
        found.issue_timestamp,
        found.expiry_timestamp,
        found.max_timestamp,
        tuple(f"{each.principal_type}:{each.principal_name}" for each in found.renewers),
    )


__all__ = ["DelegationTokenCalls"]
