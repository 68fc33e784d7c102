"""ListTransactions (key 66): the transactional ids of a coordinator (KIP-664).

v1 filters by duration (KIP-994); v2 by a regular expression (KIP-1152).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, Int64, String, field
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.versioned_struct import Struct


class ListTransactionsRequest(
    Request["ListTransactionsResponse"], api_key=66, versions="0-2", flexible="0+"
):
    """Asks a node for the transactional ids that it coordinates and that pass each filter."""

    needs = "Kafka 3.0 (KIP-664)"

    duration_since = 1
    """The first version that filters by duration (KIP-994)."""
    pattern_since = 2
    """The first version that filters by a regular expression (KIP-1152)."""

    state_filters: list[String] = field(doc="Names of states; none: every state.")
    producer_id_filters: list[Int64] = field(doc="Producer ids; none: every producer.")
    duration_filter: Int64 = field(
        versions="1+",
        default=-1,
        needs="a filter by duration needs Kafka 3.8 (KIP-994)",
        doc="Milliseconds that a transaction has been open for at least, or -1 (KIP-994).",
    )
    transactional_id_pattern: String | None = field(
        versions="2+",
        default=None,
        needs="a filter by a pattern needs Kafka 4.1 (KIP-1152)",
        doc="A regular expression that fits the whole transactional id, or null (KIP-1152).",
    )


class ListTransactionsResponse(Response, api_key=66, versions="0-2", flexible="0+"):
    """The transactional ids."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    unknown_state_filters: list[String] = field(
        doc="Names among the filters that are no state for this node."
    )
    transaction_states: list[TransactionState] = field(doc="The transactional ids.")


class TransactionState(Struct):
    """One transactional id."""

    transactional_id: String = field(doc="The transactional id.")
    producer_id: Int64 = field(doc="The producer id in use.")
    transaction_state: String = field(doc="The state by its name, such as Ongoing.")


__all__ = ["ListTransactionsRequest", "ListTransactionsResponse", "TransactionState"]
