"""The options of a client that shares the connections of another one: those of the connections are
the other's. Does not wait.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.light_dataclass import fields_by_name

if TYPE_CHECKING:
    from aiokafka_lite.cluster.kafka_client import KafkaClient


class SharedClient(Protocol):
    """A client whose connections others may share: AIOKafkaClient."""

    def host_of(
        self, client: object, options: dict[str, Any]
    ) -> "tuple[KafkaClient, dict[str, Any]]":
        """Return what has the connections, and the options of `client` with theirs."""


OF_EACH_CLIENT = frozenset(
    {
        "client_id",
        "default_api_timeout_ms",
        "enable_metrics_push",
        "metadata_max_age_ms",
        "observer",
        "retry_backoff_max_ms",
        "retry_backoff_ms",
    }
)
"""The options that each client may have of its own. The others describe the connections."""


def with_shared_options(
    shared: ClientConfig, options: Mapping[str, Any], client: str
) -> dict[str, Any]:
    """Return `options` and those of the connections. `shared`: the options of the client that has
    them; `client`: what the class of the other one is called.

    Raises: KafkaConfigurationError naming the options that describe connections.
    """
    names = [
        name
        for name, declared in fields_by_name(ClientConfig).items()
        if declared.init and name not in OF_EACH_CLIENT
    ]
    if wrong := [name for name in names if name in options]:
        raise KafkaConfigurationError(
            f"{client}: {', '.join(wrong)} cannot be set together with client, which has made its "
            f"connections already; set them at the AIOKafkaClient, or leave out client"
        )
    return {**{name: getattr(shared, name) for name in names}, **options}


def host_and_options(
    owner: object, client: SharedClient | None, options: Any
) -> "tuple[KafkaClient | None, dict[str, Any]]":
    """Return what has the connections that `owner` shares, and its options with theirs. Without a
    `client` to share: None, and the options as they are.

    Raises: KafkaConfigurationError for options that describe connections, and unless `client` has
    connections to share.
    """
    if client is None:
        return None, options
    if not hasattr(client, "host_of"):
        raise KafkaConfigurationError(
            f"client={quoted(client)} is of type {type(client).__name__}; set it to "
            "an AIOKafkaClient"
        )
    return client.host_of(owner, options)


__all__ = ["OF_EACH_CLIENT", "SharedClient", "host_and_options", "with_shared_options"]
