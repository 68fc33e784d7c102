"""Compiled functions of the messages in `sync_group.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.sync_group import SyncGroupResponse as SyncGroupResponse_23
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
from struct import Struct
from struct import error as StructError

pack_iB = Struct('>iB').pack
pack_i = Struct('>i').pack
new = object.__new__
unpack_from_ihB = Struct('>ihB').unpack_from


def init_SyncGroupRequest(self, *, group_id='', generation_id=0, member_id='', group_instance_id=None, protocol_type=None, protocol_name=None, assignments=_LIST):
    self.group_id = group_id
    self.generation_id = generation_id
    self.member_id = member_id
    self.group_instance_id = group_instance_id
    self.protocol_type = protocol_type
    self.protocol_name = protocol_name
    self.assignments = [] if assignments is _LIST else assignments


def init_SyncGroupRequestAssignment(self, *, member_id='', assignment=b''):
    self.member_id = member_id
    self.assignment = assignment


def encode_SyncGroupRequest_v5(message):
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
        value_4 = message.protocol_type
        if value_4 is None:
            value_4 = b''
            n = 0
        else:
            value_4 = value_4.encode()
            n = len(value_4) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_4)
        value_5 = message.protocol_name
        if value_5 is None:
            value_5 = b''
            n = 0
        else:
            value_5 = value_5.encode()
            n = len(value_5) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_5)
        items_6 = message.assignments
        n = len(items_6) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_7 in items_6:
            value_8 = item_7.member_id
            value_8 = value_8.encode()
            n = len(value_8) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_8)
            value_9 = item_7.assignment
            n = len(value_9) + 1
            out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
            out.append(value_9)
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'SyncGroupRequest v5', 5, error) from error


def decode_SyncGroupResponse_v5(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(SyncGroupResponse_23)
        message.throttle_time_ms, message.error_code, n = unpack_from_ihB(buf, pos)
        pos += 7
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('SyncGroupResponse v5', 'protocol_type', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('SyncGroupResponse v5', 'protocol_type', end - pos, size - pos)
            message.protocol_type = buf[pos:end].decode()
            pos = end
        else:
            message.protocol_type = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 32768:
            raise overlong_string('SyncGroupResponse v5', 'protocol_name', n - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('SyncGroupResponse v5', 'protocol_name', end - pos, size - pos)
            message.protocol_name = buf[pos:end].decode()
            pos = end
        else:
            message.protocol_name = None
        n = buf[pos]
        pos += 1
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n:
            end = pos + n - 1
            if end > size:
                raise overrun('SyncGroupResponse v5', 'assignment', end - pos, size - pos)
            message.assignment = buf[pos:end]
            pos = end
        else:
            raise refused_length('SyncGroupResponse v5', 'assignment', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('SyncGroupResponse v5', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('SyncGroupResponse v5', error) from None
    if pos != size:
        raise trailing('SyncGroupResponse v5', pos, size, message)
    return message


__all__ = [
    "decode_SyncGroupResponse_v5",
    "encode_SyncGroupRequest_v5",
    "init_SyncGroupRequest",
    "init_SyncGroupRequestAssignment",
]
