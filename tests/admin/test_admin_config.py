"""The options of an admin client are those of every client."""

import dataclasses

import pytest

from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.admin.admin_options import AdminOptions
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.errors import KafkaConfigurationError


def test_an_admin_client_has_the_options_of_every_client() -> None:
    names = {each.name for each in dataclasses.fields(AdminConfig)}
    assert names == {each.name for each in dataclasses.fields(ClientConfig)}
    assert names == set(AdminOptions.__annotations__)


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        AdminConfig(request_timeout_ms=0, metadata_max_age_ms=-1)
    assert "request_timeout_ms=0" in str(caught.value)
    assert "metadata_max_age_ms=-1" in str(caught.value)
