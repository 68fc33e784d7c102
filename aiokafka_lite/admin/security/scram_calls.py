"""Calls about users with SCRAM passwords. The passwords are hashed in a thread."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.security.scram_credential import (
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int
from aiokafka_lite.errors import IllegalArgumentError, KafkaError, ResourceNotFoundError
from aiokafka_lite.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from aiokafka_lite.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResult,
    UserName,
)
from aiokafka_lite.secret import Secret

ScramAlteration: TypeAlias = UserScramCredentialUpsertion | UserScramCredentialDeletion

_MOST_ITERATIONS: Final = 1_000_000
"""More would keep a thread busy for seconds; brokers refuse more than 16,384 anyway."""
_HASHES: Final = {
    ScramMechanism.SCRAM_SHA_256: "sha256",
    ScramMechanism.SCRAM_SHA_512: "sha512",
}


class ScramCalls(AdminFamily):
    """Users with SCRAM passwords."""

    async def describe_user_scram_credentials(
        self, users: Sequence[str] | None = None, timeout_ms: int | None = None
    ) -> Outcomes[str, list[ScramCredentialInfo]]:
        """Return the SCRAM mechanisms of users, {user: [mechanism and iterations] or error}.

        None stands for all users. A user without a password has ResourceNotFoundError in its place.

        Raises: IllegalArgumentError for anything but a list of names;
        ClusterAuthorizationFailedError without the right DESCRIBE on the cluster;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-554.
        """
        named = None if users is None else list(dict.fromkeys(list_of("users", users, str)))
        if named == []:
            return Outcomes()

        async def ask(node: AskedNode) -> Outcomes[str, list[ScramCredentialInfo]]:
            # An empty list for all: a broker gives no answer to null from an unauthorized user.
            asked = [UserName(name=name) for name in named or ()]
            answer = await node.request(DescribeUserScramCredentialsRequest(users=asked))
            raise_broker_error(
                answer.error_code, answer.error_message, "describe_user_scram_credentials()"
            )
            found = {each.user: _described(each) for each in answer.results}
            return Outcomes(
                (name, found[name] if name in found else _unknown(name)) for name in named or found
            )

        requests = self._running()
        return await requests.one(
            "describe_user_scram_credentials()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def alter_user_scram_credentials(
        self, alterations: Sequence[ScramAlteration], timeout_ms: int | None = None
    ) -> Outcomes[str, None]:
        """Set and remove SCRAM passwords, and return {user: None or its error}.

        The passwords are hashed before anything is sent, so they never leave this process. A call
        may name a user once; brokers answer DuplicateResourceError to more. Other errors of a user
        are UnacceptableCredentialError, ResourceNotFoundError, UnsupportedSaslMechanismError, and
        ClusterAuthorizationFailedError without the right ALTER on the cluster. When a response is
        lost, the call asks again; a password that the lost request removed then has
        ResourceNotFoundError.

        Raises: IllegalArgumentError for anything but a list of alterations, for an empty password,
        or one that UTF-8 cannot encode, or for more than 1,000,000 iterations;
        KafkaConnectionError, KafkaTimeoutError or another error if no node answered within
        `timeout_ms` (None: request_timeout_ms).
        Cancelled: the nodes may change the passwords nevertheless.
        Source: KIP-554, RFC 5802.
        """
        requests = self._running()
        timeout_s = self._timeout_s(timeout_ms)
        kinds = (UserScramCredentialUpsertion, UserScramCredentialDeletion)
        asked = list_of("alterations", alterations, *kinds)
        for each in asked:
            _check_mechanism(each)
            if isinstance(each, UserScramCredentialUpsertion):
                _check(each)
        hashed: dict[int, ScramCredentialUpsertion | ScramCredentialDeletion] = {}

        async def ask(node: AskedNode, names: list[str]) -> Mapping[str, KafkaError | None]:
            mine = set(names)
            for index, each in enumerate(asked):
                if (
                    each.user in mine and index not in hashed
                ):  # again after a lost response: the same salt
                    hashed[index] = await _hashed(each)
            changes = [each for each in hashed.values() if each.name in mine]
            request = AlterUserScramCredentialsRequest(
                deletions=[each for each in changes if isinstance(each, ScramCredentialDeletion)],
                upsertions=[each for each in changes if isinstance(each, ScramCredentialUpsertion)],
            )
            return {
                each.user: broker_error(
                    each.error_code, each.error_message, f"user {quoted(each.user)}"
                )
                for each in (await node.request(request)).results
            }

        return await requests.for_each(
            "alter_user_scram_credentials()",
            [each.user for each in asked],
            requests.routes.controller,
            ask,
            timeout_s=timeout_s,
        )


def _described(
    result: DescribeUserScramCredentialsResult,
) -> list[ScramCredentialInfo] | KafkaError:
    error = broker_error(result.error_code, result.error_message, f"user {quoted(result.user)}")
    return error or [
        ScramCredentialInfo(ScramMechanism(each.mechanism), each.iterations)
        for each in result.credential_infos
    ]


def _unknown(user: str) -> KafkaError:
    """Return the error of a user whom a response leaves out, which Java takes for the same."""
    return ResourceNotFoundError(f"user {quoted(user)} has no SCRAM password")


def _check_mechanism(asked: ScramAlteration) -> None:
    if not is_int(asked.mechanism):
        raise IllegalArgumentError(
            f"mechanism={quoted(asked.mechanism)} of user {quoted(asked.user)} is none; name one of"
            f" {', '.join(f'ScramMechanism.{each.name}' for each in ScramMechanism if each)}"
        )


def _check(asked: UserScramCredentialUpsertion) -> None:
    password = Secret(asked.password)
    is_text = isinstance(password.reveal(), str)
    if not password or (is_text and not password.is_encodable):
        raise IllegalArgumentError(
            f"the password of user {quoted(asked.user)} must be bytes, or a text that UTF-8 can "
            "encode, and not empty; name another one"
        )
    if asked.iterations > _MOST_ITERATIONS:
        raise IllegalArgumentError(
            f"iterations={asked.iterations} of user {quoted(asked.user)} is above "
            f"{_MOST_ITERATIONS:,}; brokers take 4,096 to 16,384"
        )


async def _hashed(asked: ScramAlteration) -> ScramCredentialUpsertion | ScramCredentialDeletion:
    """Return an alteration with the password's hash, computed in a thread."""
    if isinstance(asked, UserScramCredentialDeletion):
        return ScramCredentialDeletion(name=asked.user, mechanism=asked.mechanism)
    import hashlib  # noqa: PLC0415  brings OpenSSL; only this call needs it

    salt = os.urandom(32) if asked.salt is None else asked.salt
    # A mechanism or a number that brokers refuse is hashed all the same: theirs is the error.
    salted = await asyncio.to_thread(
        hashlib.pbkdf2_hmac,
        _HASHES.get(asked.mechanism, "sha512"),
        Secret(asked.password).reveal_bytes(),
        salt,
        max(1, asked.iterations),
    )
    return ScramCredentialUpsertion(
        name=asked.user,
        mechanism=asked.mechanism,
        iterations=asked.iterations,
        salt=salt,
        salted_password=salted,
    )


__all__ = ["ScramCalls"]
