"""Both clients with the context of `create_ssl_context`, as programs for aiokafka make it: an
authority, a certificate, and a key that a password opens, in files.
"""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.helpers import create_ssl_context
from aiokafka_lite.testing.broker import ClientCertificate, EmbeddedBroker
from aiokafka_lite.testing.secure_listeners import MUTUAL_TLS
from tests.support.secured_kafka import SecuredKafka

KEY_PASSWORD = "123123"


def write_files(folder: Path, ca_pem: str, shown: ClientCertificate) -> None:
    key = serialization.load_pem_private_key(shown.key_pem.encode(), None)
    encrypted = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(KEY_PASSWORD.encode()),
    )
    (folder / "ca-cert").write_text(ca_pem)
    (folder / "cert-signed").write_text(shown.certificate_pem)
    (folder / "cert-key").write_bytes(encrypted)


async def pass_a_record(servers: str, topic: str, folder: Path) -> None:
    context = create_ssl_context(
        cafile=str(folder / "ca-cert"),
        certfile=str(folder / "cert-signed"),
        keyfile=str(folder / "cert-key"),
        password=KEY_PASSWORD,
    )
    producer = AIOKafkaProducer(
        bootstrap_servers=servers, security_protocol="SSL", ssl_context=context
    )
    await producer.start()
    try:
        written = await producer.send_and_wait(topic, b"Super Message", partition=0)
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=servers, security_protocol="SSL", ssl_context=context
    )
    await consumer.start()
    try:
        consumer.seek(TopicPartition(topic, 0), written.offset)
        assert (await consumer.getone()).value == b"Super Message"
    finally:
        await consumer.stop()


async def test_a_record_passes_the_embedded_broker(topic_name: str, tmp_path: Path) -> None:
    with EmbeddedBroker.threaded(security="SSL", ssl_client_auth="required") as broker:
        write_files(tmp_path, broker.ca_pem, broker.client_certificate("alice"))
        await pass_a_record(broker.bootstrap_servers, topic_name, tmp_path)


@pytest.mark.real_kafka
async def test_a_record_passes_a_real_kafka(
    lab: SecuredKafka, topic_name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, lab.kafka.ca_pem, lab.client)
    await pass_a_record(lab.kafka.servers(MUTUAL_TLS), topic_name, tmp_path)
