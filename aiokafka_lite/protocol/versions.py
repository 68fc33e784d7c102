"""The API versions that one broker supports, and which version to use with it. Does not wait.

They come from the broker's ApiVersions response. Source: KIP-35 (ranges), KIP-584 (features),
`NodeApiVersions` of the Java client.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Self

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsResponse
from aiokafka_lite.schema.message import ApiMessage
from aiokafka_lite.schema.version_range import VersionRange


@dataclass(frozen=True, slots=True, eq=False)
class NodeApiVersions:
    """The version ranges of one broker.

    `ranges` maps an API key to (lowest, highest). `supported_features` are those that the broker
    supports. `finalized_features` are the levels in force in the cluster. They count only with an
    epoch of 0 or more.
    """

    ranges: Mapping[int, tuple[int, int]]
    supported_features: Mapping[str, VersionRange] = field(default_factory=dict)
    finalized_features: Mapping[str, VersionRange] = field(default_factory=dict)
    finalized_features_epoch: int = -1
    zk_migration_ready: bool = field(default=False, repr=False)
    has_flexible_versions: bool = True
    """Whether the node reads versions with compact lengths and tagged fields as KIP-482 has them.
    False: versions before those are used, where both sides have one."""
    limits: Mapping[int, int] = field(default_factory=dict)
    """The highest version that the user wants of an API, by key."""

    @classmethod
    def from_response(cls, response: ApiVersionsResponse) -> Self:
        """Return the contents of an ApiVersions response, without ranges whose lowest exceeds
        the highest.
        """
        return cls(
            ranges={
                api.api_key: (api.min_version, api.max_version)
                for api in response.api_keys
                if api.min_version <= api.max_version
            },
            supported_features={
                feature.name: VersionRange(feature.min_version, feature.max_version)
                for feature in response.supported_features
            },
            finalized_features={
                feature.name: VersionRange(feature.min_version_level, feature.max_version_level)
                for feature in response.finalized_features
            },
            finalized_features_epoch=response.finalized_features_epoch,
            zk_migration_ready=response.zk_migration_ready,
        )

    def max_version(
        self, request_type: type[ApiMessage], max_version: int | None = None
    ) -> int | None:
        """Return the highest version of both sides, at most `max_version`; None if they share
        none.
        """
        broker = self.ranges.get(request_type.api_key)
        if broker is None:
            return None
        ours = request_type.versions
        highest = min(ours.max, broker[1])
        if request_type.api_key in self.limits:
            highest = min(highest, self.limits[request_type.api_key])
        if max_version is not None:
            highest = min(highest, max_version)
        lowest = max(ours.min, broker[0])
        before_flexible = request_type.flexible.min - 1
        if not self.has_flexible_versions and lowest <= before_flexible < highest:
            highest = before_flexible
        return highest if highest >= lowest else None

    def pick(self, request_type: type[ApiMessage], max_version: int | None = None) -> int:
        """Return the version for `request_type`: the highest of both sides, at most `max_version`.

        Raises: UnsupportedVersionError if both sides share none; nothing was sent. Source:
        NodeApiVersions of `kafka-clients`.
        """
        version = self.max_version(request_type, max_version)
        if version is None:
            raise UnsupportedVersionError(self._why_not(request_type, max_version))
        return version

    def finalized_level(self, feature: str) -> int:
        """Return the level in force of a feature; 0 when it is off or unknown."""
        level = self.finalized_features.get(feature)
        return 0 if level is None or self.finalized_features_epoch < 0 else level.max

    def _why_not(self, request_type: type[ApiMessage], max_version: int | None) -> str:
        from aiokafka_lite.protocol.api_key import api_name  # noqa: PLC0415  errors only

        name = api_name(request_type.api_key)
        ours = f"versions {request_type.versions} of {name} are spoken here"
        if max_version is not None:
            ours += f" (for this call up to {max_version})"
        limit = self.limits.get(request_type.api_key)
        if limit is not None:
            ours += f" (max_api_versions allows up to {limit})"
        broker = self.ranges.get(request_type.api_key)
        if broker is None and request_type.needs:
            return f"{name} needs {request_type.needs}, and the broker does not have it"
        if broker is None:
            return f"the broker does not have {name}; {ours}. Use a broker that has it"
        if request_type.needs and broker[1] < request_type.versions.min:
            highest = request_type.versions.min
            return (
                f"{name} in version {highest} needs {request_type.needs}, and the broker speaks"
                f" versions {VersionRange(*broker)} of it"
            )
        return (
            f"the broker speaks versions {VersionRange(*broker)} of {name}, but {ours}. "
            "Use a broker from 2.1 to the newest, or a newer aiokafka-lite"
        )


__all__ = ["NodeApiVersions"]
