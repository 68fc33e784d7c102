"""Compiled functions of the messages in `heartbeat.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatResponse as HeartbeatResponse_23
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from struct import Struct
from struct import error as StructError

pack_iB = Struct('>iB').pack
pack_i = Struct('>i').pack
new = object.__new__
unpack_from_ihB = Struct('>ihB').unpack_from


def init_HeartbeatRequest(self, *, group_id='', generation_id=0, member_id='', group_instance_id=None):
    self.group_id = group_id
    self.generation_id = generation_id
    self.member_id = member_id
    self.group_instance_id = group_instance_id


def encode_HeartbeatRequest_v4(message):
    parts = []
    out = []
    try:
        value_1 = message.group_id
        value_1 = value_1.encode()
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        value_2 = message.member_id
        value_2 = value_2.encode()
        n = len(value_2) + 1
        if n < 128:
            out.append(pack_iB(message.generation_id, n))
        else:
            out.append(pack_i(message.generation_id))
            out.append(string_length(n))
        out.append(value_2)
        value_3 = message.group_instance_id
        if value_3 is None:
            value_3 = b''
            n = 0
        else:
            value_3 = value_3.encode()
            n = len(value_3) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_3)
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'HeartbeatRequest v4', 4, error) from error


def decode_HeartbeatResponse_v4(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(HeartbeatResponse_23)
        message.throttle_time_ms, message.error_code, n = unpack_from_ihB(buf, pos)
        pos += 7
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('HeartbeatResponse v4', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('HeartbeatResponse v4', error) from None
    if pos != size:
        raise trailing('HeartbeatResponse v4', pos, size, message)
    return message


__all__ = [
    "decode_HeartbeatResponse_v4",
    "encode_HeartbeatRequest_v4",
    "init_HeartbeatRequest",
]
