"""DescribeClientQuotas: the stored quotas of the entities that match."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    EntryData,
    ValueData,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation


def handle(
    context: RequestContext, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    try:
        context.injected.raise_for()
        context.session.check_cluster(Operation.DESCRIBE_CONFIGS)
        found = list(context.users.quotas.find(request.components, strict=request.strict))
    except BrokerResponseError as error:
        return DescribeClientQuotasResponse(
            error_code=error.errno, error_message=reason_of(error), entries=None
        )
    return DescribeClientQuotasResponse(
        entries=[
            EntryData(
                entity=[
                    EntityData(entity_type=kind, entity_name=name) for kind, name in sorted(entity)
                ],
                values=[ValueData(key=key, value=value) for key, value in values.items()],
            )
            for entity, values in found
        ]
    )


HANDLER = Handler(DescribeClientQuotasRequest, handle, VersionRange(0, 1))

__all__ = ["handle"]
