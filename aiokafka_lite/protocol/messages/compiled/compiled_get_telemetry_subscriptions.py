"""Compiled functions of the messages in `get_telemetry_subscriptions.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import GetTelemetrySubscriptionsResponse as GetTelemetrySubscriptionsResponse_23
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.field_types import ZERO_UUID as DEFAULT_1
from aiokafka_lite.schema.wire_helpers import array_overrun
from aiokafka_lite.schema.wire_helpers import integer_runs
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import trailing
from aiokafka_lite.schema.wire_helpers import uuid_of
from struct import Struct
from struct import error as StructError

pack_16sx = Struct('>16sx').pack
new = object.__new__
unpack_from_ih16siB = Struct('>ih16siB').unpack_from
RUNS_25 = integer_runs('b')
unpack_from_ii_bool_B = Struct('>ii?B').unpack_from


def init_GetTelemetrySubscriptionsRequest(self, *, client_instance_id=DEFAULT_1):
    self.client_instance_id = client_instance_id


def encode_GetTelemetrySubscriptionsRequest_v0(message):
    parts = []
    out = []
    try:
        out.append(pack_16sx(message.client_instance_id.bytes))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'GetTelemetrySubscriptionsRequest v0', 0, error) from error


def decode_GetTelemetrySubscriptionsResponse_v0(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(GetTelemetrySubscriptionsResponse_23)
        message.throttle_time_ms, message.error_code, raw_1, message.subscription_id, n = unpack_from_ih16siB(buf, pos)
        pos += 27
        message.client_instance_id = uuid_of(raw_1)
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n > size - pos:
                raise array_overrun('GetTelemetrySubscriptionsResponse v0', 'accepted_compression_types', n, size - pos)
            message.accepted_compression_types = RUNS_25.unpack(buf, pos, n)
            pos += n
        elif n == 1:
            message.accepted_compression_types = []
        else:
            raise refused_length('GetTelemetrySubscriptionsResponse v0', 'accepted_compression_types', -1)
        message.push_interval_ms, message.telemetry_max_bytes, message.delta_temporality, n = unpack_from_ii_bool_B(buf, pos)
        pos += 10
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n > size - pos:
                raise array_overrun('GetTelemetrySubscriptionsResponse v0', 'requested_metrics', n, size - pos)
            items_2 = []
            for _ in range(n):
                n = buf[pos]
                pos += 1
                if n > 127:
                    n, pos = uvarint_at(buf, pos - 1)
                if n > 32768:
                    raise overlong_string('GetTelemetrySubscriptionsResponse v0', 'requested_metrics', n - 1)
                if n:
                    end = pos + n - 1
                    if end > size:
                        raise overrun('GetTelemetrySubscriptionsResponse v0', 'requested_metrics', end - pos, size - pos)
                    item_3 = buf[pos:end].decode()
                    pos = end
                else:
                    raise refused_length('GetTelemetrySubscriptionsResponse v0', 'requested_metrics', -1)
                items_2.append(item_3)
            message.requested_metrics = items_2
        elif n == 1:
            message.requested_metrics = []
        else:
            raise refused_length('GetTelemetrySubscriptionsResponse v0', 'requested_metrics', -1)
        n = buf[pos]
        pos += 1
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('GetTelemetrySubscriptionsResponse v0', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('GetTelemetrySubscriptionsResponse v0', error) from None
    if pos != size:
        raise trailing('GetTelemetrySubscriptionsResponse v0', pos, size, message)
    return message


__all__ = [
    "decode_GetTelemetrySubscriptionsResponse_v0",
    "encode_GetTelemetrySubscriptionsRequest_v0",
    "init_GetTelemetrySubscriptionsRequest",
]
