#!/usr/bin/env bash
# One would guess: a FastStream handler that takes bytes gets the bytes of the message, whatever they are.
# What happens: a message without the header content-type is parsed as JSON first, and only what is no
# JSON stays bytes. So the handler gets b"abc", but for b"7" or b"true" validation fails: the parsed
# number or bool is no bytes. b'"x"' comes without its quotes. A handler that takes str fares alike.
# Producers other than FastStream seldom set that header.
# What helps: a decoder of one's own, subscriber(..., decoder=...).
# Seen with faststream 0.7.8 (message/utils.py, decode_message).
set -euo pipefail
PACKAGES="faststream[kafka]==0.7.8"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q $PACKAGES

"$work/venv/bin/python" - <<'PYTHON'
import asyncio
import json
from faststream.kafka import KafkaBroker, TestKafkaBroker
from pydantic import ValidationError

broker = KafkaBroker(logger=None)
got = []


@broker.subscriber("bytes")
async def takes_bytes(message: bytes) -> None:
    got.append(message)


@broker.subscriber("str")
async def takes_str(message: str) -> None:
    got.append(message)


async def main():
    async with TestKafkaBroker(broker, connect_only=False) as outside:
        for topic in ("bytes", "str"):
            for value in (b"abc", b"007", b"7", b"true", b'"x"'):
                try:
                    await outside.publish(value, topic)
                except ValidationError as refused:
                    (error,) = refused.errors()
                    told = f"refused: {error['type']}, as it was {error['input']!r}"
                else:
                    told = repr(got[-1])
                print(f"{topic} handler, {value}: {told}")
                seen.append(told)


seen = []
asyncio.run(main())
assert seen == [
    "b'abc'",
    "b'007'",
    "refused: bytes_type, as it was 7",
    "refused: bytes_type, as it was True",
    "b'x'",
    "'abc'",
    "'007'",
    "refused: string_type, as it was 7",
    "refused: string_type, as it was True",
    "'x'",
]
PYTHON
