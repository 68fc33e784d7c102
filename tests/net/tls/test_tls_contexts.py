"""Connections share a context until a file changes; then the next one gets a new context."""

import asyncio
import logging
import os
import ssl
from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.net.tls.tls_contexts import FixedContext, TlsContexts
from aiokafka_lite.net.tls.tls_settings import TlsSettings
from tests.support.certificates import Authority, Issued

WARNED = "new connections go on with what was read before"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


def replace(path: Path, text: str) -> Path:
    """Put a new file in the place of the old one, as Kubernetes does."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    return fresh.replace(path)


def names(context: ssl.SSLContext) -> list[object]:
    return [each["serialNumber"] for each in context.get_ca_certs()]


async def test_connections_share_a_context_while_nothing_changes(
    authority: Authority, tmp_path: Path
) -> None:
    contexts = TlsContexts(TlsSettings(cafile=authority.write(tmp_path / "ca.pem")))
    first, second = await asyncio.gather(contexts.next_context(), contexts.next_context())
    assert first is second is await contexts.next_context()


async def test_a_file_that_was_replaced_is_used_by_the_next_connection(
    authority: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "aiokafka_lite")
    path = authority.write(tmp_path / "ca.pem")
    contexts = TlsContexts(TlsSettings(cafile=path))
    before = await contexts.next_context()
    heir = Authority()
    replace(path, heir.pem)
    after = await contexts.next_context()
    assert names(after) == names(heir.trusted()) != names(before)
    assert "a certificate or key has changed" in caplog.text


async def test_a_file_that_was_written_in_place_is_used_by_the_next_connection(
    authority: Authority, tmp_path: Path
) -> None:
    path = authority.write(tmp_path / "ca.pem")
    contexts = TlsContexts(TlsSettings(cafile=path))
    await contexts.next_context()
    heir = Authority()
    path.write_text(heir.pem)
    os.utime(path, ns=(0, 0))
    assert names(await contexts.next_context()) == names(heir.trusted())


async def test_a_pair_that_is_replaced_in_two_steps_is_used_when_both_are_there(
    authority: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def issued() -> Issued:
        return authority.issue("client@example.org")

    old, new = issued(), issued()
    certfile, keyfile = tmp_path / "cert.pem", tmp_path / "key.pem"
    certfile.write_text(old.certificate_pem)
    keyfile.write_text(old.key_pem)
    contexts = TlsContexts(TlsSettings(cadata=authority.pem, certfile=certfile, keyfile=keyfile))
    before = await contexts.next_context()
    replace(certfile, new.certificate_pem)
    assert await contexts.next_context() is before
    assert await contexts.next_context() is before
    assert caplog.text.count(WARNED) == 1  # not at each connection
    assert "ssl_keyfile='" in caplog.text
    replace(keyfile, new.key_pem)
    assert await contexts.next_context() is not before


async def test_a_file_that_is_away_leaves_the_old_context_in_use(
    authority: Authority, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = authority.write(tmp_path / "ca.pem")
    contexts = TlsContexts(TlsSettings(cafile=path))
    before = await contexts.next_context()
    path.unlink()
    assert await contexts.next_context() is before
    assert WARNED in caplog.text


async def test_files_that_cannot_be_used_at_first_are_an_error_each_time(tmp_path: Path) -> None:
    contexts = TlsContexts(TlsSettings(cafile=tmp_path / "ca.pem"))
    for _ in range(2):
        with pytest.raises(KafkaConfigurationError, match="cannot be read"):
            await contexts.next_context()
    Authority().write(tmp_path / "ca.pem")
    assert len((await contexts.next_context()).get_ca_certs()) == 1


async def test_a_context_of_the_user_is_used_as_it_is() -> None:
    given = ssl.create_default_context()
    assert await FixedContext(given).next_context() is given
