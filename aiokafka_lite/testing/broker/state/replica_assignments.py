"""Checks the replicas that a client has chosen for partitions, in Kafka's order and words.

Does not wait. Source: ReplicationControlManager.validateManualPartitionAssignment.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from aiokafka_lite.errors import InvalidReplicationAssignmentError

_SUBJECT = "The manual partition assignment includes"


def check_assignments(
    assignments: Mapping[int, Sequence[int]], nodes: Collection[int]
) -> list[list[int]]:
    """Return the replicas of a new topic's partitions, in order; all have the same number.

    Raises: InvalidReplicationAssignmentError.
    """
    replica_lists = check_replica_lists(assignments.values(), nodes)
    if sorted(assignments) != list(range(len(assignments))):
        raise InvalidReplicationAssignmentError(
            "partitions should be a consecutive 0-based integer sequence"
        )
    by_index = dict(zip(assignments, replica_lists, strict=True))
    return [by_index[index] for index in sorted(by_index)]


def check_replica_lists(
    replica_lists: Iterable[Sequence[int]], nodes: Collection[int], factor: int | None = None
) -> list[list[int]]:
    """Return lists that have `factor` known nodes each; None: as many as the first list has.

    Raises: InvalidReplicationAssignmentError.
    """
    checked = []
    for replicas in replica_lists:
        _check_nodes(replicas, nodes)
        factor = len(replicas) if factor is None else factor
        if len(replicas) != factor:
            raise InvalidReplicationAssignmentError(
                f"{_SUBJECT} a partition with {len(replicas)} replica(s), but this is not "
                f"consistent with previous partitions, which have {factor} replica(s)."
            )
        checked.append(list(replicas))
    return checked


def _check_nodes(replicas: Sequence[int], nodes: Collection[int]) -> None:
    if not replicas:
        raise InvalidReplicationAssignmentError(f"{_SUBJECT} an empty replica list.")
    before = None
    for node in sorted(replicas):
        if node not in nodes:
            raise InvalidReplicationAssignmentError(
                f"{_SUBJECT} broker {node}, but no such broker is registered."
            )
        if node == before:
            raise InvalidReplicationAssignmentError(f"{_SUBJECT} the broker {node} more than once.")
        before = node


__all__ = ["check_assignments", "check_replica_lists"]
