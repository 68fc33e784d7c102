"""Every API of this library, by key: its name, request, response and versions. Does not wait.

The registry finds an API by the stem of its file: `messages/list_offsets.py` declares
`ListOffsetsRequest`. A new file is a new API, and there is no list to edit. A file whose name
begins with `_` declares structs that several messages share. The folder `compiled` has functions of
messages.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.protocol import messages
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.schema.message import Request, Response
from aiokafka_lite.schema.version_range import VersionRange


@dataclass(frozen=True, slots=True)
class Api:
    """One API, in the versions of this library."""

    key: ApiKey
    name: str
    """Kafka's name, such as "ListOffsets"."""
    request: type[Request[Any]]
    response: type[Response]
    versions: VersionRange


def _api(stem: str) -> Api:
    name = "".join(word.title() for word in stem.split("_"))
    module = import_module(f"{messages.__name__}.{stem}")
    request: type[Request[Any]] = getattr(module, f"{name}Request")
    return Api(
        key=ApiKey(request.api_key),
        name=name,
        request=request,
        response=request.response_type,
        versions=request.versions,
    )


_APIS = [
    _api(file.name)
    for file in iter_modules(messages.__path__)
    if file.name[0] != "_" and not file.ispkg
]

API_BY_KEY: dict[int, Api] = {api.key: api for api in sorted(_APIS, key=lambda api: api.key)}
"""API key -> API, for every API of this library."""

__all__ = ["API_BY_KEY", "Api"]
