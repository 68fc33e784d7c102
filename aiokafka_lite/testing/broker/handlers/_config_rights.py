"""What a client may do with settings. Does not wait. Source: ConfigHelper, KafkaApis.

For settings of brokers and client metrics it needs the right to the cluster.
"""

from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.session import Session
from aiokafka_lite.testing.broker.state.config_resources import GROUP, TOPIC


def check_right(session: Session, operation: Operation, kind: int, name: str) -> None:
    """Raise the error of the kind of resource unless the client may do this with its settings."""
    if kind == TOPIC:
        session.check_topic(operation, name)
    elif kind == GROUP:
        session.check_group(operation, name)
    else:
        session.check_cluster(operation)


__all__ = ["check_right"]
