"""A command makes one call of an admin client."""

import pytest
import typer

from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.cli.admin_call import admin_call
from aiokafka_lite.cli.connection import connection
from aiokafka_lite.testing.broker import EmbeddedBroker


def test_the_answer_is_returned_and_an_error_ends_the_command(
    broker: EmbeddedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    client = connection(broker.bootstrap_servers, config=AdminConfig)
    broker.create_topic("t")
    assert admin_call(client, lambda admin: admin.list_topics()) == ["t"]
    with pytest.raises(typer.Exit) as ended:
        admin_call(client, lambda admin: admin.list_consumer_groups([7]))
    assert ended.value.exit_code == 1
    assert "broker 7 is not in the cluster" in capsys.readouterr().err
