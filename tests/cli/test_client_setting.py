"""An option behind -X is hidden from its first line on."""

import pytest
import typer

from aiokafka_lite.cli.client_setting import ClientSetting, parse_setting
from aiokafka_lite.secret import Secret
from tests.cli.conftest import Invoke


def test_the_value_is_all_behind_the_first_sign() -> None:
    assert parse_setting("sasl.jaas.config=a=b;") == ClientSetting(
        "sasl.jaas.config", Secret("a=b;")
    )
    assert "hunter2" not in repr(parse_setting("sasl_plain_password=hunter2"))


@pytest.mark.parametrize("pair", ["hunter2", "=hunter2"])
def test_another_text_is_refused_and_not_shown(pair: str, invoke: Invoke) -> None:
    with pytest.raises(typer.BadParameter) as raised:
        parse_setting(pair)
    assert "name=value" in str(raised.value)
    refused = invoke("topics", "list", "-X", pair)
    assert refused.exit_code == 2
    assert "not of the form name=value" in refused.stderr
    assert "hunter2" not in refused.output
