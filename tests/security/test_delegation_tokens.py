"""Delegation tokens of a real Kafka (KIP-48): made by Java's tool, used by our clients."""

import asyncio
from pathlib import Path

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.errors import KafkaError
from tests.support.secured_kafka import USER, SecuredKafka, Way
from tests.support.topics import create_topic

DELEGATION_TOKENS = "org.apache.kafka.tools.DelegationTokenCommand"
WAY = Way("SASL_SSL", "SASL_SSL", "SCRAM-SHA-256")

pytestmark = [pytest.mark.real_kafka, pytest.mark.asyncio(loop_factories=["asyncio"])]


def new_token(lab: SecuredKafka, folder: Path) -> tuple[str, str]:
    """Return the id and the HMAC of a new token of `USER`."""
    printed = lab.kafka.run_tool(
        DELEGATION_TOKENS,
        *("--create", "--max-life-time-period", "-1"),
        *("--command-config", str(lab.java(WAY, folder))),
        listener=WAY.listener,
    )
    token_id, hmac, owner, *_ = printed.splitlines()[-1].split()
    assert owner == f"User:{USER}"
    return token_id, hmac


async def test_a_token_stands_for_its_owner(
    lab: SecuredKafka, topic_name: str, tmp_path: Path
) -> None:
    token_id, hmac = await asyncio.to_thread(new_token, lab, tmp_path)
    await create_topic(lab.kafka.servers("PLAINTEXT"), topic_name, partitions=1)
    options = lab.ours(WAY) | {
        "sasl_plain_username": token_id,
        "sasl_plain_password": hmac,
        "sasl_scram_tokenauth": True,
    }
    async with AIOKafkaProducer(**options) as producer:
        await producer.send_and_wait(topic_name, b"by a token")
    async with AIOKafkaConsumer(auto_offset_reset="earliest", **options) as consumer:
        consumer.assign([TopicPartition(topic_name, 0)])
        assert (await consumer.getone()).value == b"by a token"
    # Without the extension the same pair is taken for a user, which does not exist.
    as_a_user = AIOKafkaProducer(**options | {"sasl_scram_tokenauth": False})
    with pytest.raises(KafkaError, match="invalid credentials"):
        await as_a_user.start()
    await as_a_user.stop()
