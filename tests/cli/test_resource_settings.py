"""Changes of settings, as several commands read them."""

import pytest
import typer

from aiokafka_lite.admin.config_resource import AlterConfigOp
from aiokafka_lite.cli.resource_settings import changes_of


def test_set_and_delete_become_changes() -> None:
    assert changes_of(None, None) == {}
    assert changes_of(["a=1"], ["b"]) == {
        "a": (AlterConfigOp.SET, "1"),
        "b": (AlterConfigOp.DELETE, None),
    }
    with pytest.raises(typer.BadParameter, match="key=value"):
        changes_of(["a"], None)
