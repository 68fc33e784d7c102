"""AlterUserScramCredentials: sets and removes SCRAM passwords, for the next authentications.

Source: ScramControlManager.alterCredentials.
"""

from aiokafka_lite.errors import (
    BrokerResponseError,
    DuplicateResourceError,
    ResourceNotFoundError,
    UnacceptableCredentialError,
    UnsupportedSaslMechanismError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.scram_server import ITERATIONS, ScramCredential
from aiokafka_lite.testing.broker.security.user_store import SCRAM_MECHANISMS

_MOST_ITERATIONS = 16_384

Alteration = ScramCredentialDeletion | ScramCredentialUpsertion


def handle(
    context: RequestContext, request: AlterUserScramCredentialsRequest
) -> AlterUserScramCredentialsResponse:
    accepted: dict[str, Alteration] = {}
    errors: dict[str, BrokerResponseError] = {}
    asked: list[Alteration] = [*request.deletions, *request.upsertions]
    for each in asked:
        if each.name in errors:
            continue
        try:
            _check(context, each, is_again=accepted.pop(each.name, None) is not None)
        except BrokerResponseError as error:
            errors[each.name] = error
        else:
            accepted[each.name] = each
    for each in accepted.values():
        _alter(context, each)
    return AlterUserScramCredentialsResponse(
        results=[
            *(AlterUserScramCredentialsResult(user=name) for name in accepted),
            *(
                AlterUserScramCredentialsResult(
                    user=name, error_code=error.errno, error_message=reason_of(error)
                )
                for name, error in errors.items()
            ),
        ]
    )


def _check(context: RequestContext, asked: Alteration, *, is_again: bool) -> None:
    context.injected.raise_for()
    context.session.check_cluster(Operation.ALTER)
    if is_again:
        raise DuplicateResourceError(
            "A user credential cannot be altered twice in the same request"
        )
    if not asked.name:
        raise UnacceptableCredentialError("Username must not be empty")
    if asked.mechanism not in SCRAM_MECHANISMS:
        raise UnsupportedSaslMechanismError("Unknown SCRAM mechanism")
    if isinstance(asked, ScramCredentialDeletion):
        if asked.mechanism not in context.users.iterations(asked.name):
            raise ResourceNotFoundError("Attempt to delete a user credential that does not exist")
    elif asked.iterations < ITERATIONS:
        raise UnacceptableCredentialError("Too few iterations")
    elif asked.iterations > _MOST_ITERATIONS:
        raise UnacceptableCredentialError("Too many iterations")


def _alter(context: RequestContext, asked: Alteration) -> None:
    context.cluster.note_change()
    users = context.users.scram[SCRAM_MECHANISMS[asked.mechanism]]
    if isinstance(asked, ScramCredentialDeletion):
        users.remove(asked.name)
    else:
        users.put(
            asked.name,
            ScramCredential.of_salted(
                users.hash_name, asked.salted_password, asked.salt, asked.iterations
            ),
        )


HANDLER = Handler(AlterUserScramCredentialsRequest, handle, VersionRange(0, 0))

__all__ = ["handle"]
