"""The lines of server.properties for every real Kafka of the tests, as a process or a container.

Does not wait.

Processes and containers share these lines and `broker_probe`, so a test means the same with both.
"""


def server_properties(nodes: int, *, has_kraft: bool = True) -> dict[str, str]:
    """Return what a cluster of `nodes` (1 or 3) needs besides its ids, addresses and folders.

    Kafka's own topics get one replica per node and few partitions, so that they exist at once.
    Kafka's default is 3 replicas, which a single node can never have.
    """
    replicas = str(nodes)
    in_sync = "2" if nodes == 3 else "1"
    of_kraft = {
        "process.roles": "broker,controller",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
    }
    of_zookeeper = {
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT",
        "zookeeper.session.timeout.ms": "3000",
    }
    return {
        "inter.broker.listener.name": "PLAINTEXT",
        "default.replication.factor": replicas,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": replicas,
        "offsets.topic.num.partitions": "5",
        "transaction.state.log.replication.factor": replicas,
        "transaction.state.log.min.isr": in_sync,
        "transaction.state.log.num.partitions": "5",
        "share.coordinator.state.topic.replication.factor": replicas,
        "share.coordinator.state.topic.min.isr": in_sync,
        "group.initial.rebalance.delay.ms": "0",
        **(of_kraft if has_kraft else of_zookeeper),
    }


__all__ = ["server_properties"]
