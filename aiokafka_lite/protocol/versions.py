"""What one broker speaks, as it told in ApiVersions, and which version to use with it. Never waits.

Source: KIP-35 (ranges), KIP-584 (features), `NodeApiVersions` of the Java client.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsResponse
from aiokafka_lite.schema.message import ApiMessage
from aiokafka_lite.schema.version_range import VersionRange


@dataclass(frozen=True, slots=True)
class NodeApiVersions:
    """The version ranges of one broker.

    `ranges` maps an API key to (lowest, highest). `supported_features` are those the broker could
    run, and `finalized_features` the levels in force in the cluster, which count only with an epoch
    of 0 or more.
    """

    ranges: Mapping[int, tuple[int, int]]
    supported_features: Mapping[str, VersionRange] = field(default_factory=dict)
    finalized_features: Mapping[str, VersionRange] = field(default_factory=dict)
    finalized_features_epoch: int = -1
    zk_migration_ready: bool = field(default=False, repr=False)

    @classmethod
    def from_response(cls, response: ApiVersionsResponse) -> Self:
        """Return what an ApiVersions answer says; ranges that are upside down are left out."""
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
        """Return the highest version both sides speak, at most `max_version`; None when there is
        none.
        """
        broker = self.ranges.get(request_type.api_key)
        if broker is None:
            return None
        ours = request_type.versions
        highest = min(ours.max, broker[1])
        if max_version is not None:
            highest = min(highest, max_version)
        return highest if highest >= max(ours.min, broker[0]) else None

    def pick(self, request_type: type[ApiMessage], max_version: int | None = None) -> int:
        """Return the version to send `request_type` in: the highest both sides speak, at most
        `max_version`.

        Raises:
            UnsupportedVersionError: there is none; nothing was sent. Source: `kafka-clients`,
            NodeApiVersions.
        """
        version = self.max_version(request_type, max_version)
        if version is None:
            raise UnsupportedVersionError(self._why_not(request_type, max_version))
        return version

    def finalized_level(self, feature: str) -> int:
        """Return the level of a feature that is in force, 0 when it is off or not known."""
        level = self.finalized_features.get(feature)
        return 0 if level is None or self.finalized_features_epoch < 0 else level.max

    def _why_not(self, request_type: type[ApiMessage], max_version: int | None) -> str:
        from aiokafka_lite.protocol.api_registry import api_name  # noqa: PLC0415  all messages

        name = api_name(request_type.api_key)
        ours = f"versions {request_type.versions} of {name} are spoken here"
        if max_version is not None:
            ours += f" (for this call up to {max_version})"
        broker = self.ranges.get(request_type.api_key)
        if broker is None:
            return f"the broker does not have {name}; {ours}. Use a broker that has it"
        return (
            f"the broker speaks versions {VersionRange(*broker)} of {name}, but {ours}. "
            "Use a broker from 2.1 to the newest, or a newer aiokafka-lite"
        )


__all__ = ["NodeApiVersions"]
