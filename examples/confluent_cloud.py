"""Writes a record to Confluent Cloud: `python examples/confluent_cloud.py BOOTSTRAP`.

With an API key in CONFLUENT_API_KEY and CONFLUENT_API_SECRET it authenticates by PLAIN over TLS.
With CONFLUENT_TOKEN_URL it gets a token there for the client CONFLUENT_CLIENT_ID, whose secret is
CONFLUENT_CLIENT_SECRET. Then CONFLUENT_CLUSTER (lkc-…) and CONFLUENT_POOL (pool-…) name the cluster
and the identity pool. That needs `pip install 'aiokafka-lite[oauth]'`.
"""

import asyncio
import os
import sys

from aiokafka_lite import AIOKafkaProducer, OidcTokenProvider


def by_api_key(bootstrap_servers: str) -> AIOKafkaProducer:
    return AIOKafkaProducer(
        bootstrap_servers=bootstrap_servers,
        security_protocol="SASL_SSL",
        sasl_mechanism="PLAIN",
        sasl_plain_username=os.environ["CONFLUENT_API_KEY"],
        sasl_plain_password=os.environ["CONFLUENT_API_SECRET"],
    )


def by_token(bootstrap_servers: str) -> AIOKafkaProducer:
    tokens = OidcTokenProvider(
        os.environ["CONFLUENT_TOKEN_URL"],
        os.environ["CONFLUENT_CLIENT_ID"],
        os.environ["CONFLUENT_CLIENT_SECRET"],
        extensions={
            "logicalCluster": os.environ["CONFLUENT_CLUSTER"],
            "identityPoolId": os.environ["CONFLUENT_POOL"],
        },
    )
    return AIOKafkaProducer(
        bootstrap_servers=bootstrap_servers,
        security_protocol="SASL_SSL",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauth_token_provider=tokens,
    )


async def write(bootstrap_servers: str) -> None:
    make = by_token if "CONFLUENT_TOKEN_URL" in os.environ else by_api_key
    async with make(bootstrap_servers) as producer:
        metadata = await producer.send_and_wait("greetings", b"hello cloud")
    print("written at offset", metadata.offset)


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1]))
