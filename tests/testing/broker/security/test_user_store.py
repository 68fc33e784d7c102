"""What a cluster stores of its users."""

from aiokafka_lite.testing.broker.security.scram_server import ScramCredential
from aiokafka_lite.testing.broker.security.user_store import UserStore


def test_passwords_are_for_the_mechanisms_of_the_listeners() -> None:
    store = UserStore({"alice": "secret"}, mechanisms=["PLAIN", "SCRAM-SHA-512"])
    assert store.iterations("alice") == {2: 4096}
    store.set_password("bob", "secret")
    assert store.scram_names() == ["alice", "bob"]
    store.remove("alice")
    assert store.scram_names() == ["bob"]
    assert store.iterations("alice") == {}


def test_a_client_may_give_any_mechanism_a_credential() -> None:
    store = UserStore()
    credential = ScramCredential.of_salted("sha256", bytes(32), b"salt", 5000)
    store.scram["SCRAM-SHA-256"].put("carol", credential)
    assert store.iterations("carol") == {1: 5000}
