"""Calls about the quotas of users, client ids and addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.calls.admin_requests import AskedNode
from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error, raise_broker_error
from aiokafka_lite.admin.security.client_quota import ClientQuotaAlteration, ClientQuotaEntity
from aiokafka_lite.checks.item_lists import dict_of, list_of
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from aiokafka_lite.protocol.messages.describe_client_quotas import (
    ANY,
    DEFAULT,
    EXACT,
    ComponentData,
    DescribeClientQuotasRequest,
)

EVERY = "*"
"""In a question: each entity of a type."""


class QuotaCalls(AdminFamily):
    """Quotas of clients."""

    async def describe_client_quotas(
        self,
        entity: Mapping[str, str | None] | None = None,
        strict: bool = False,
        timeout_ms: int | None = None,
    ) -> dict[ClientQuotaEntity, dict[str, float]]:
        """Return the quotas of the entities that match, {entity: {name of a quota: value}}.

        `entity` is {type: name}: None is the default entity of the type, and "*" each entity of it.
        Without any type all entities match. With `strict` an entity with further types does not.

        Raises: ClusterAuthorizationFailedError without the right DESCRIBE_CONFIGS on the cluster;
        InvalidRequestError for a combination that the brokers do not have; UnsupportedVersionError
        for an unknown type; KafkaConnectionError, KafkaTimeoutError or another error if no node
        answered within `timeout_ms` (None: request_timeout_ms).
        Cancelled: nothing is left behind.
        Source: KIP-546.
        """
        asked = dict_of("entity", {} if entity is None else entity, "{type: name or None}")

        async def ask(node: AskedNode) -> dict[ClientQuotaEntity, dict[str, float]]:
            components = [_component(kind, name) for kind, name in asked.items()]
            answer = await node.request(
                DescribeClientQuotasRequest(components=components, strict=strict)
            )
            subject = "describe_client_quotas()"
            raise_broker_error(answer.error_code, answer.error_message, subject)
            return {
                ClientQuotaEntity({each.entity_type: each.entity_name for each in entry.entity}): {
                    value.key: value.value for value in entry.values
                }
                for entry in answer.entries or ()
            }

        requests = self._running()
        return await requests.one(
            "describe_client_quotas()",
            None,
            requests.routes.any_node,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )

    async def alter_client_quotas(
        self,
        alterations: Sequence[ClientQuotaAlteration],
        validate_only: bool = False,
        timeout_ms: int | None = None,
    ) -> Outcomes[ClientQuotaEntity, None]:
        """Set and remove quotas, and return {entity: None or its error}.

        With `validate_only` they are only checked. Changes of one entity take effect together;
        where two alterations name the same quota, the later counts. A part that failed has its
        error in its place: InvalidRequestError, or ClusterAuthorizationFailedError without the
        right ALTER_CONFIGS on the cluster.

        Raises: IllegalArgumentError for anything but a list of alterations; KafkaConnectionError,
        KafkaTimeoutError or another error if no node answered within `timeout_ms` (None:
        request_timeout_ms).
        Cancelled: the nodes may change the quotas nevertheless.
        Source: KIP-546.
        """
        changes: dict[ClientQuotaEntity, dict[str, float | None]] = {}
        for each in list_of("alterations", alterations, ClientQuotaAlteration):
            entity = dict_of("entity", each.entity, "{type: name or None}")
            ops = dict_of(f"ops of {entity}", each.ops, "{name of a quota: number or None}")
            changes.setdefault(ClientQuotaEntity(entity), {}).update(ops)

        async def ask(
            node: AskedNode, asked: list[ClientQuotaEntity]
        ) -> Mapping[ClientQuotaEntity, KafkaError | None]:
            entries = [_entry(entity, changes[entity]) for entity in asked]
            answer = await node.request(
                AlterClientQuotasRequest(entries=entries, validate_only=validate_only)
            )
            results = {}
            for each in answer.entries:
                entity = ClientQuotaEntity(
                    {one.entity_type: one.entity_name for one in each.entity}
                )
                results[entity] = broker_error(each.error_code, each.error_message, _text(entity))
            return results

        requests = self._running()
        return await requests.for_each(
            "alter_client_quotas()",
            changes,
            requests.routes.controller,
            ask,
            timeout_s=self._timeout_s(timeout_ms),
        )


def _component(kind: str, name: str | None) -> ComponentData:
    if name == EVERY:
        return ComponentData(entity_type=kind, match_type=ANY, match=None)
    if name is None:
        return ComponentData(entity_type=kind, match_type=DEFAULT, match=None)
    return ComponentData(entity_type=kind, match_type=EXACT, match=name)


def _entry(entity: ClientQuotaEntity, ops: Mapping[str, float | None]) -> EntryData:
    return EntryData(
        entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()],
        ops=[
            OpData(key=key, value=0.0 if value is None else value, remove=value is None)
            for key, value in ops.items()
        ],
    )


def _text(entity: ClientQuotaEntity) -> str:
    names = ", ".join(f"{kind} {name or 'default'}" for kind, name in entity.items())
    return f"quotas of {names or 'no entity'}"


__all__ = ["EVERY", "QuotaCalls"]
