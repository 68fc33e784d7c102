"""Knowing a cluster: its metadata, its nodes, one connection per node and lane, one client.

`from aiokafka_lite.cluster import ClusterMetadata` is aiokafka's address. The name is
imported at its first use (PEP 562).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aiokafka_lite.cluster.cluster_metadata import ClusterMetadata

__all__ = ["ClusterMetadata"]


def __getattr__(name: str) -> object:
    if name != "ClusterMetadata":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aiokafka_lite.cluster.cluster_metadata import (  # noqa: PLC0415 - at its first use
        ClusterMetadata,
    )

    return ClusterMetadata
