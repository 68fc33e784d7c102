"""Compiled functions of the messages in `leave_group.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.codec.writer import unsigned_varint_bytes as uvarint
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupResponse as LeaveGroupResponse_21
from aiokafka_lite.protocol.messages.leave_group import MemberResponse as MemberResponse_23
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ABSENT as _LIST
from aiokafka_lite.schema.wire_helpers import array_overrun
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

new = object.__new__
unpack_from_ihB = Struct('>ihB').unpack_from
unpack_from_hB = Struct('>hB').unpack_from


def init_LeaveGroupRequest(self, *, group_id='', member_id='', members=_LIST):
    self.group_id = group_id
    self.member_id = member_id
    self.members = [] if members is _LIST else members


def init_MemberIdentity(self, *, member_id='', group_instance_id=None, reason=None):
    self.member_id = member_id
    self.group_instance_id = group_instance_id
    self.reason = reason


def encode_LeaveGroupRequest_v5(message):
    parts = []
    out = []
    try:
        value_1 = message.group_id
        value_1 = value_1.encode()
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        if message.member_id != '':
            raise unsupported('LeaveGroupRequest v5', 'member_id', '')
        items_2 = message.members
        n = len(items_2) + 1
        out.append(ONE_BYTE[n] if n < 128 else uvarint(n))
        for item_3 in items_2:
            value_4 = item_3.member_id
            value_4 = value_4.encode()
            n = len(value_4) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_4)
            value_5 = item_3.group_instance_id
            if value_5 is None:
                value_5 = b''
                n = 0
            else:
                value_5 = value_5.encode()
                n = len(value_5) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_5)
            value_6 = item_3.reason
            if value_6 is None:
                value_6 = b''
                n = 0
            else:
                value_6 = value_6.encode()
                n = len(value_6) + 1
            out.append(ONE_BYTE[n] if n < 128 else string_length(n))
            out.append(value_6)
            out.append(b'\x00')
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'LeaveGroupRequest v5', 5, error) from error


def decode_LeaveGroupResponse_v5(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(LeaveGroupResponse_21)
        message.throttle_time_ms, message.error_code, n = unpack_from_ihB(buf, pos)
        pos += 7
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 5 > size - pos:
                raise array_overrun('LeaveGroupResponse v5', 'members', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(MemberResponse_23)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('LeaveGroupResponse v5', 'members.member_id', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('LeaveGroupResponse v5', 'members.member_id', end - pos, size - pos)
                    item_2.member_id = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('LeaveGroupResponse v5', 'members.member_id', -1)
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('LeaveGroupResponse v5', 'members.group_instance_id', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('LeaveGroupResponse v5', 'members.group_instance_id', end - pos, size - pos)
                    item_2.group_instance_id = buf[pos:end].decode()
                    pos = end
                else:
                    item_2.group_instance_id = None
                item_2.error_code, n = unpack_from_hB(buf, pos)
                pos += 3
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.members = items_1
        elif n == 1:
            message.members = []
        else:
            raise refused_length('LeaveGroupResponse v5', 'members', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('LeaveGroupResponse v5', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('LeaveGroupResponse v5', error) from None
    if pos != size:
        raise trailing('LeaveGroupResponse v5', pos, size, message)
    return message


__all__ = [
    "decode_LeaveGroupResponse_v5",
    "encode_LeaveGroupRequest_v5",
    "init_LeaveGroupRequest",
    "init_MemberIdentity",
]
