"""Compiled functions of the messages in `find_coordinator.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorResponse as FindCoordinatorResponse_22
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from aiokafka_lite.schema.wire_helpers import unsupported
from struct import Struct
from struct import error as StructError

pack_bx = Struct('>bx').pack
new = object.__new__
unpack_from_ihB = Struct('>ihB').unpack_from
unpack_from_iB = Struct('>iB').unpack_from


def init_FindCoordinatorRequest(self, *, key='', key_type=0, coordinator_keys=_LIST):
    self.key = key
    self.key_type = key_type
    self.coordinator_keys = [] if coordinator_keys is _LIST else coordinator_keys


def encode_FindCoordinatorRequest_v3(message):
    parts = []
    out = []
    try:
        value_1 = message.key
        value_1 = value_1.encode()
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        if message.coordinator_keys:
            raise unsupported('FindCoordinatorRequest v3', 'coordinator_keys', '')
        out.append(pack_bx(message.key_type))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'FindCoordinatorRequest v3', 3, error) from error


def decode_FindCoordinatorResponse_v3(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(FindCoordinatorResponse_22)
        message.throttle_time_ms, message.error_code, n = unpack_from_ihB(buf, pos)
        pos += 7
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('FindCoordinatorResponse v3', 'error_message', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('FindCoordinatorResponse v3', 'error_message', end - pos, size - pos)
            message.error_message = buf[pos:end].decode()
            pos = end
        else:
            message.error_message = None
        message.node_id, n = unpack_from_iB(buf, pos)
        pos += 5
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('FindCoordinatorResponse v3', 'host', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('FindCoordinatorResponse v3', 'host', end - pos, size - pos)
            message.host = buf[pos:end].decode()
            pos = end
        else:
            raise refused_length('FindCoordinatorResponse v3', 'host', -1)
        message.coordinators = []
        message.port, n = unpack_from_iB(buf, pos)
        pos += 5
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('FindCoordinatorResponse v3', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('FindCoordinatorResponse v3', error) from None
    if pos != size:
        raise trailing('FindCoordinatorResponse v3', pos, size, message)
    return message


__all__ = [
    "decode_FindCoordinatorResponse_v3",
    "encode_FindCoordinatorRequest_v3",
    "init_FindCoordinatorRequest",
]
