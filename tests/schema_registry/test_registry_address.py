"""Addresses and credentials that cannot be right."""

import pytest

from aiokafka_lite.schema_registry.registry_address import address_faults, credential_faults


@pytest.mark.parametrize(
    ("urls", "said"),
    [
        ([], "address of the schema registry is missing"),
        (["h:8081"], "h:8081 is not the address of a schema registry"),
        (["file:///etc/passwd"], "not the address of a schema registry"),
        (["http://me:hunter2@h"], "at h has a user or a password in it"),
        (["me:hunter2@h"], "one of the addresses is not"),
    ],
)
def test_a_wrong_address_is_named_without_its_password(urls: list[str], said: str) -> None:
    (fault,) = address_faults(urls)
    assert said in fault
    assert "hunter2" not in fault


def test_right_addresses_have_no_fault() -> None:
    assert not list(address_faults(["http://h:8081", "https://h/path/"]))


@pytest.mark.parametrize(
    ("user", "password", "token", "said"),
    [
        (True, False, False, "go together"),
        (False, True, False, "go together"),
        (True, True, True, "not both"),
    ],
)
def test_credentials_that_contradict_each_other(
    user: bool, password: bool, token: bool, said: str
) -> None:
    (fault,) = credential_faults(has_user=user, has_password=password, has_token=token)
    assert said in fault
