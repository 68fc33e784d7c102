"""An admin client is made of what a consumer or producer has, as far as it has that, too."""

from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.spark.options.admin_arguments import admin_arguments
from aiokafka_lite.spark.options.kafka_keys import SINK_KEYS


def test_options_of_every_client_stay_and_those_of_a_producer_go() -> None:
    given = {
        "kafka.bootstrap.servers": "h:1",
        "kafka.acks": "all",
        "kafka.client.id": "me",
        "kafka.security.protocol": "SSL",
    }
    client, faults = SINK_KEYS.arguments(given)
    arguments = admin_arguments(client)
    assert faults == []
    assert arguments["bootstrap_servers"] == "h:1"
    assert arguments["client_id"] == "me"
    assert arguments["security_protocol"] == "SSL"
    assert "acks" not in arguments
    AdminConfig(**arguments)
