"""Tokens of AWS's own signer, which signs without asking AWS where it has keys."""

import base64
import sys
import threading
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from aiokafka_lite.errors import AuthenticationFailedError, KafkaConfigurationError
from aiokafka_lite.net.sasl.tokens import msk_iam
from aiokafka_lite.net.sasl.tokens.msk_iam import MskIamTokenProvider


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment with keys, and nothing else that AWS's libraries would ask."""
    pytest.importorskip("aws_msk_iam_sasl_signer")
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "open-sesame",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/nonexistent",
        "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    }.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


async def test_a_signed_url_is_the_token_and_is_kept(aws: pytest.MonkeyPatch) -> None:
    provider = MskIamTokenProvider("eu-central-1", timeout_s=30)
    token = await provider.token()
    assert await provider.token() == token
    url = urlsplit(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode())
    assert url.hostname == "kafka.eu-central-1.amazonaws.com"
    assert parse_qs(url.query)["Action"] == ["kafka-cluster:Connect"]
    assert "sesame" not in url.query


async def test_a_profile_that_is_missing_is_the_cause(aws: pytest.MonkeyPatch) -> None:
    provider = MskIamTokenProvider("eu-central-1", profile="nobody", timeout_s=30)
    with pytest.raises(AuthenticationFailedError, match=r"AWS IAM in eu-central-1 gave no.*nobody"):
        await provider.token()


async def test_missing_credentials_are_named(aws: pytest.MonkeyPatch) -> None:
    aws.delenv("AWS_ACCESS_KEY_ID")
    aws.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(AuthenticationFailedError, match="there are no AWS credentials here"):
        await MskIamTokenProvider("eu-central-1", timeout_s=30).token()


async def test_a_role_is_asked_for_by_its_arn(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(region: str, arn: str) -> tuple[str, int]:
        return f"{region}/{arn}", 0

    signer: Any = SimpleNamespace(generate_auth_token_from_role_arn=signed)
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer", signer)
    monkeypatch.setitem(sys.modules, "aws_msk_iam_sasl_signer.MSKAuthTokenProvider", signer)
    assert await MskIamTokenProvider("here", role_arn="arn:x").token() == "here/arn:x"


async def test_without_the_signer_the_error_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("aws_msk_iam_sasl_signer", "aws_msk_iam_sasl_signer.MSKAuthTokenProvider"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(AuthenticationFailedError, match=r"pip install 'aiokafka-lite\[msk\]'"):
        await MskIamTokenProvider("here").token()


async def test_the_signer_is_imported_in_a_thread_and_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported_in: list[int] = []
    monkeypatch.setattr(msk_iam, "_library", lambda: imported_in.append(threading.get_ident()))
    provider = MskIamTokenProvider("here")
    await provider.prepare()
    await provider.prepare()
    assert len(imported_in) == 1
    assert imported_in != [threading.get_ident()]


def test_a_profile_and_a_role_contradict_each_other() -> None:
    with pytest.raises(KafkaConfigurationError, match="profile and role_arn contradict"):
        MskIamTokenProvider("here", profile="p", role_arn="r")
