"""The route of calls about parts of one group: all parts go to the group's coordinator."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

from aiokafka_lite.admin.calls.admin_requests import AdminRequests
from aiokafka_lite.admin.calls.request_routes import Located, Route
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType

K = TypeVar("K", bound=Hashable)


def coordinator_of(requests: AdminRequests, group_id: str) -> Route[K]:
    """Return the route to the coordinator of a group, whatever the items are.

    Without a coordinator the whole call fails, or waits for one if the error is retriable.
    """
    find = requests.routes.coordinator(CoordinatorType.GROUP)

    async def route(keys: Sequence[K], attempt: int) -> Located[K]:
        located = await find([group_id], attempt)
        for error in located.failures.values():
            raise error
        return Located({node_id: list(keys) for node_id in located.nodes})

    return route


__all__ = ["coordinator_of"]
