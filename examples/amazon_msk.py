"""Writes a record to Amazon MSK with IAM: `python examples/amazon_msk.py BOOTSTRAP [REGION]`.

BOOTSTRAP is the cluster's address for IAM, with the port 9098. The AWS credentials are those of the
environment, a profile or a role. It needs `pip install 'aiokafka-lite[msk]'`.
"""

import asyncio
import sys

from aiokafka_lite import AIOKafkaProducer, MskIamTokenProvider


async def write(bootstrap_servers: str, region: str) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap_servers,
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        # The first token imports AWS's library, which takes seconds on a small machine.
        sasl_oauth_token_provider=MskIamTokenProvider(region, timeout_s=8),
        sasl_provider_timeout_ms=9_000,
    )
    async with producer:
        metadata = await producer.send_and_wait("greetings", b"hello MSK")
    print("written at offset", metadata.offset)


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], *(sys.argv[2:] or ["eu-central-1"])))
