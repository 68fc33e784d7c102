"""A token in a file, as Kubernetes renews it."""

from pathlib import Path

import pytest

from aiokafka_lite.errors import AuthenticationFailedError
from aiokafka_lite.net.sasl.tokens.token_file import MOST_BYTES, FileTokenProvider
from tests.support.token_issuer import unsecured_token


async def test_the_file_is_read_for_each_authentication(tmp_path: Path) -> None:
    path = tmp_path / "token"
    provider = FileTokenProvider(path, extensions={"a": "b"})
    for text in (unsecured_token("alice"), "opaque"):
        path.write_text(f"{text}\n")
        assert await provider.token() == text
    assert provider.extensions() == {"a": "b"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read: No such file"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff", "is not ASCII"),
        (b"x" * (MOST_BYTES + 1), "has more than 65536 bytes"),
        (unsecured_token("alice", -60).encode(), "has a token that expired"),
    ],
    ids=["missing", "empty", "blank", "binary", "large", "expired"],
)
async def test_a_file_without_a_token_is_named(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AuthenticationFailedError, match=says) as caught:
        await FileTokenProvider(str(path)).token()
    assert str(path) in str(caught.value)
