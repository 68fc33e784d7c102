import pytest

from aiokafka_lite.protocol.api_registry import API_BY_KEY, ApiKey, api_name


def test_versions_are_those_promised() -> None:
    assert {api.name: str(api.versions) for api in API_BY_KEY.values()} == {
        "Produce": "3-13",
        "Fetch": "4-18",
        "ListOffsets": "1-11",
        "Metadata": "1-13",
        "FindCoordinator": "0-6",
        "SaslHandshake": "0-1",
        "ApiVersions": "0-4",
        "CreateTopics": "2-7",
        "DeleteTopics": "1-6",
        "InitProducerId": "0-5",
        "OffsetForLeaderEpoch": "2-4",
        "SaslAuthenticate": "0-2",
        "CreatePartitions": "0-3",
        "DescribeCluster": "0-2",
    }


@pytest.mark.parametrize("api", API_BY_KEY.values(), ids=lambda api: api.name)
def test_request_and_response_agree(api) -> None:  # type: ignore[no-untyped-def]
    assert api.request.api_key == api.response.api_key == api.key
    assert api.request.versions == api.response.versions == api.versions
    assert api.request.flexible == api.response.flexible
    assert api.response.__name__ == f"{api.name}Response"
    assert api.request.response_type is api.response


def test_every_key_has_a_name_for_logs() -> None:
    assert api_name(ApiKey.LIST_OFFSETS) == "ListOffsets"
    assert api_name(ApiKey.SHARE_FETCH) == "ShareFetch"
    assert api_name(999) == "API 999"
