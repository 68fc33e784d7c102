"""Compiled functions of the messages in `init_producer_id.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdResponse as InitProducerIdResponse_22
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from struct import Struct
from struct import error as StructError

pack_iqhx = Struct('>iqhx').pack
new = object.__new__
unpack_from_ihqhB = Struct('>ihqhB').unpack_from


def init_InitProducerIdRequest(self, *, transactional_id='', transaction_timeout_ms=0, producer_id=-1, producer_epoch=-1):
    self.transactional_id = transactional_id
    self.transaction_timeout_ms = transaction_timeout_ms
    self.producer_id = producer_id
    self.producer_epoch = producer_epoch


def encode_InitProducerIdRequest_v5(message):
    parts = []
    out = []
    try:
        value_1 = message.transactional_id
        if value_1 is None:
            value_1 = b''
            n = 0
        else:
            value_1 = value_1.encode()
            n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        out.append(pack_iqhx(message.transaction_timeout_ms, message.producer_id, message.producer_epoch))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'InitProducerIdRequest v5', 5, error) from error


def decode_InitProducerIdResponse_v5(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(InitProducerIdResponse_22)
        message.throttle_time_ms, message.error_code, message.producer_id, message.producer_epoch, n = unpack_from_ihqhB(buf, pos)
        pos += 17
        if n:
            pos = skip_tagged_fields(buf, pos - 1, size)
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('InitProducerIdResponse v5', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('InitProducerIdResponse v5', error) from None
    if pos != size:
        raise trailing('InitProducerIdResponse v5', pos, size, message)
    return message


__all__ = [
    "decode_InitProducerIdResponse_v5",
    "encode_InitProducerIdRequest_v5",
    "init_InitProducerIdRequest",
]
