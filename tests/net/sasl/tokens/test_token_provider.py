"""The class that token providers derive from."""

import pytest

from aiokafka_lite.net.sasl.tokens.token_provider import AbstractTokenProvider


class Fixed(AbstractTokenProvider):
    async def token(self) -> str:
        return "abc"


async def test_a_provider_has_a_token_and_by_default_no_extensions() -> None:
    assert await Fixed().token() == "abc"
    assert Fixed().extensions() == {}


def test_a_provider_without_a_token_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="token"):
        AbstractTokenProvider()  # type: ignore[abstract]
