"""The numbers and names of all APIs, which cost no import of messages."""

import subprocess
import sys

from aiokafka_lite.protocol.api_key import ApiKey, api_name
from aiokafka_lite.protocol.api_registry import API_BY_KEY

PROGRAM = """
import sys
from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.versions import NodeApiVersions
try:
    NodeApiVersions({}).pick(FetchRequest)
except UnsupportedVersionError as error:
    print(error)
print(sorted(name for name in sys.modules if "protocol.messages." in name))
"""


def test_every_key_has_a_name_for_logs() -> None:
    assert api_name(ApiKey.LIST_OFFSETS) == "ListOffsets"
    assert api_name(ApiKey.SHARE_FETCH) == "ShareFetch"
    assert api_name(999) == "API 999"


def test_the_names_are_those_of_the_messages() -> None:
    for api in API_BY_KEY.values():
        assert api_name(api.key) == api.name


def test_an_error_names_an_api_without_the_messages_of_others() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    text, loaded = done.stdout.splitlines()
    assert "the broker does not have Fetch" in text
    assert "messages.fetch" in loaded
    assert "messages.create_topics" not in loaded
