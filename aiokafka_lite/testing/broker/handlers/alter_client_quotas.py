"""AlterClientQuotas: sets quotas; that of the bytes of producers acts."""

from aiokafka_lite.errors import BrokerResponseError, InvalidRequestError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    EntryData,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(context: RequestContext, request: AlterClientQuotasRequest) -> AlterClientQuotasResponse:
    results: dict[frozenset[tuple[str, str | None]], AlterClientQuotasResponse.EntryData] = {}
    for entry in request.entries:
        key = frozenset((each.entity_type, each.entity_name) for each in entry.entity)
        results[key] = _alter(
            context, entry, is_again=key in results, validate_only=request.validate_only
        )
    return AlterClientQuotasResponse(entries=list(results.values()))


def _alter(
    context: RequestContext, entry: EntryData, *, is_again: bool, validate_only: bool
) -> AlterClientQuotasResponse.EntryData:
    result = AlterClientQuotasResponse.EntryData(entity=entry.entity)
    try:
        context.injected.raise_for()
        context.session.check_cluster(Operation.ALTER_CONFIGS)
        if is_again:
            names = ", ".join(f"{each.entity_type}={each.entity_name}" for each in entry.entity)
            raise InvalidRequestError(
                f"Ignoring duplicate entity ClientQuotaEntity(entries={{{names}}})"
            )
        quotas = context.users.quotas
        context.cluster.note_change(
            quotas.alter(entry.entity, entry.ops, validate_only=validate_only)
        )
    except BrokerResponseError as error:
        result.error_code, result.error_message = error.errno, reason_of(error)
    return result


HANDLER = Handler(AlterClientQuotasRequest, handle, VersionRange(0, 1))

__all__ = ["handle"]
