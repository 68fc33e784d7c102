"""Calls that change the controllers of a cluster: who votes, and who is gone for good."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from aiokafka_lite.admin.calls.admin_family import AdminFamily
from aiokafka_lite.admin.cluster.cluster_values import QuorumEndpoint
from aiokafka_lite.checks.item_lists import list_of
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.sendable_text import sendable
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import IllegalArgumentError
from aiokafka_lite.protocol.messages.add_raft_voter import AddRaftVoterRequest, Listener
from aiokafka_lite.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from aiokafka_lite.protocol.messages.unregister_controller import UnregisterControllerRequest
from aiokafka_lite.schema.field_types import ZERO_UUID

_MOST_PORT = 2**16 - 1


class QuorumCalls(AdminFamily):
    """The controllers."""

    async def add_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID,
        endpoints: Iterable[QuorumEndpoint],
        timeout_ms: int | None = None,
        *,
        cluster_id: str | None = None,
    ) -> None:
        """Make a running controller a voter of the quorum, once it has read all metadata.

        `voter_directory_id` is in the file meta.properties of the controller, and among the
        observers of `describe_metadata_quorum`. `endpoints` are its addresses, with one for the
        first of the cluster's controller listeners. With `cluster_id`, another cluster refuses.

        Raises: DuplicateVoterError for a voter; RequestTimedOutError for a controller that is
        silent or behind, or while another change is going on; InconsistentClusterIdError;
        UnsupportedVersionError if the feature kraft.version is 0, or the brokers are older than
        3.9; IllegalArgumentError for what are no ids or endpoints; otherwise as
        `describe_features`. After a request without a response the call raises and asks no second
        time.
        Cancelled: the controller may become a voter nevertheless. Source: KIP-853.
        """
        voter_id = _id("voter_id", voter_id)
        directory_id = _directory(voter_directory_id)
        listeners = [_listener(each) for each in list_of("endpoints", endpoints, QuorumEndpoint)]
        _check_cluster_id(cluster_id)

        await self._running().change(
            "add_raft_voter()",
            "voter",
            voter_id,
            lambda node: AddRaftVoterRequest(
                cluster_id=cluster_id,
                timeout_ms=node.left_ms,
                voter_id=voter_id,
                voter_directory_id=directory_id,
                listeners=listeners,
            ),
            timeout_s=self._timeout_s(timeout_ms),
            is_repeatable=False,
        )

    async def remove_raft_voter(
        self,
        voter_id: int,
        voter_directory_id: UUID,
        timeout_ms: int | None = None,
        *,
        cluster_id: str | None = None,
    ) -> None:
        """Take a controller out of the voters of the quorum. It may be down; if it runs, it goes on
        as an observer.

        `voter_directory_id` is that of `describe_metadata_quorum`. With `cluster_id`, another
        cluster refuses.

        Raises: VoterNotFoundError for what is no voter, and for the last one;
        RequestTimedOutError while another change is going on; otherwise as `add_raft_voter`.
        Cancelled: the controller may be removed nevertheless. Source: KIP-853.
        """
        voter_id = _id("voter_id", voter_id)
        directory_id = _directory(voter_directory_id)
        _check_cluster_id(cluster_id)

        await self._running().change(
            "remove_raft_voter()",
            "voter",
            voter_id,
            lambda _: RemoveRaftVoterRequest(
                cluster_id=cluster_id, voter_id=voter_id, voter_directory_id=directory_id
            ),
            timeout_s=self._timeout_s(timeout_ms),
            is_repeatable=False,
        )

    async def unregister_controller(
        self, controller_id: int, timeout_ms: int | None = None
    ) -> None:
        """Make the cluster forget a controller that is gone for good.

        Its registration counts for the levels that features may have, until it is forgotten.
        Remove it from the voters before (`remove_raft_voter`).

        Raises: ControllerIdNotRegisteredError for an id that the cluster does not know;
        UnsupportedVersionError if the brokers are older than 4.4, or the feature metadata.version
        is; IllegalArgumentError for an id that is no int; otherwise as `describe_features`.
        Cancelled: the cluster may forget the controller nevertheless.
        Source: KIP-1312.
        """
        controller_id = _id("controller_id", controller_id)

        await self._running().change(
            "unregister_controller()",
            "controller",
            controller_id,
            lambda _: UnregisterControllerRequest(controller_id=controller_id),
            timeout_s=self._timeout_s(timeout_ms),
        )


def _id(name: str, value: object) -> int:
    node_id = whole(value)
    if not is_int(node_id) or not 0 <= node_id < 2**31:
        raise IllegalArgumentError(
            f"{name}={quoted(value)} is no int from 0 to {2**31 - 1}; name the id of a controller"
        )
    return node_id


def _directory(value: object) -> UUID:
    if not isinstance(value, UUID) or value == ZERO_UUID:
        raise IllegalArgumentError(
            f"voter_directory_id={quoted(value)} is no UUID other than zero; take that of "
            "describe_metadata_quorum(), or the directory.id in the controller's meta.properties, "
            "which is its 16 bytes in Base64"
        )
    return value


def _listener(endpoint: tuple[object, ...]) -> Listener:
    name, host, port = endpoint[0], endpoint[1], whole(endpoint[2])
    if not isinstance(name, str) or not isinstance(host, str) or not name or not host:
        raise IllegalArgumentError(
            f"endpoint {quoted(endpoint)} lacks a name or a host; give "
            'QuorumEndpoint("CONTROLLER", "host", 9093)'
        )
    for fault in (*sendable("the listener's name", name), *sendable("the host", host)):
        raise IllegalArgumentError(fault)
    if not is_int(port) or not 0 < port <= _MOST_PORT:
        raise IllegalArgumentError(
            f"port {quoted(port)} of endpoint {quoted(name)} is no int from 1 to {_MOST_PORT}; "
            "give the port of the controller's listener"
        )
    return Listener(name=name, host=host, port=port)


def _check_cluster_id(value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise IllegalArgumentError(
            f"cluster_id={quoted(value)} is of type {type(value).__name__}; give the text of "
            "describe_cluster(), or None"
        )
    for fault in sendable("cluster_id", value):
        raise IllegalArgumentError(fault)


__all__ = ["QuorumCalls"]
