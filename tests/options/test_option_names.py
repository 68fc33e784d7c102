"""An option that a client does not have is refused with the name of the one that was meant."""

import inspect
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.options.option_names import OTHER_NAMES, meant_option


@pytest.mark.parametrize(
    ("client", "given", "meant"),
    [
        (AIOKafkaConsumer, "bootstrap_server", "bootstrap_servers"),
        (AIOKafkaConsumer, "bootstrap.servers", "bootstrap_servers"),
        (AIOKafkaConsumer, "group.id", "group_id"),
        (AIOKafkaConsumer, "auto_offset_rest", "auto_offset_reset"),
        (AIOKafkaConsumer, "ssl.truststore.location", "ssl_cafile"),
        (AIOKafkaProducer, "batch_size", "max_batch_size"),
        (AIOKafkaProducer, "batch.size", "max_batch_size"),
        (AIOKafkaProducer, "buffer.memory", "buffer_memory"),
        (AIOKafkaProducer, "interceptor.classes", "interceptors"),
        (AIOKafkaProducer, "compresion_type", "compression_type"),
    ],
)
def test_a_name_of_java_or_a_slip_is_answered_with_the_name_here(
    client: Any, given: str, meant: str
) -> None:
    says = rf"^{client.__name__}\(\) got an unexpected keyword argument '{given}'; did you mean"
    with pytest.raises(TypeError, match=rf"{says} '{meant}'\?$"):
        client(**{given: "x"})


@pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])
def test_a_name_that_is_like_no_other_is_refused_without_a_guess(client: Any) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'colour'$"):
        client(colour="red")


@pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])
def test_subclasses_have_options_of_their_own_and_signatures_stay_readable(client: Any) -> None:
    class Named(client):  # type: ignore[misc]
        def __init__(self, *, name: str, **options: Any) -> None:
            super().__init__(**options)
            self.name = name

    assert Named(name="n", client_id="c").name == "n"
    with pytest.raises(TypeError, match="'client_id'"):
        Named(name="n", clientid="c")
    assert "bootstrap_servers" in inspect.signature(client).parameters


def test_other_names_lead_to_options_there_are() -> None:
    known = {
        *inspect.signature(AIOKafkaConsumer).parameters,
        *inspect.signature(AIOKafkaProducer).parameters,
    }
    assert set(OTHER_NAMES.values()) <= known
    assert not set(OTHER_NAMES) & known
    assert meant_option("clientid", ClientConfig.__dataclass_fields__) == "client_id"
