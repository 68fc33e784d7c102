"""The entity of a quota is a key of dicts, and equal to a dict of its items."""

import pytest

from aiokafka_lite.admin import ClientQuotaEntity


def test_an_entity_is_a_key_and_equal_to_its_items() -> None:
    entity = ClientQuotaEntity({"user": "alice", "client-id": None})
    assert entity == {"client-id": None, "user": "alice"}
    assert {entity: 1}[ClientQuotaEntity({"client-id": None, "user": "alice"})] == 1
    assert entity != ClientQuotaEntity({"user": "alice"})
    assert repr(entity) == "ClientQuotaEntity({'client-id': None, 'user': 'alice'})"
    with pytest.raises(TypeError):
        entity["user"] = "bob"  # type: ignore[index]
