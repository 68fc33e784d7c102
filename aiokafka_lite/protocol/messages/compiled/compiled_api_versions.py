"""Compiled functions of the messages in `api_versions.py`. Does not wait.

Made by `make messages`: change the declarations there.
"""

from aiokafka_lite.codec.reader import unsigned_varint_at as uvarint_at
from aiokafka_lite.codec.writer import ONE_BYTE_VARINTS as ONE_BYTE
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.messages.api_versions import ApiVersion as ApiVersion_23
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsResponse as ApiVersionsResponse_21
from aiokafka_lite.protocol.messages.api_versions import FinalizedFeatureKey as FinalizedFeatureKey_29
from aiokafka_lite.protocol.messages.api_versions import SupportedFeatureKey as SupportedFeatureKey_26
from aiokafka_lite.schema.encode_faults import unencodable
from aiokafka_lite.schema.wire_helpers import array_overrun
from aiokafka_lite.schema.wire_helpers import labelled
from aiokafka_lite.schema.wire_helpers import malformed
from aiokafka_lite.schema.wire_helpers import overlong_string
from aiokafka_lite.schema.wire_helpers import overrun
from aiokafka_lite.schema.wire_helpers import refused_length
from aiokafka_lite.schema.wire_helpers import skip_tagged_fields
from aiokafka_lite.schema.wire_helpers import string_length
from aiokafka_lite.schema.wire_helpers import trailing
from aiokafka_lite.schema.wire_helpers import uneven_tag
from struct import Struct
from struct import error as StructError

new = object.__new__
unpack_from_hB = Struct('>hB').unpack_from
unpack_from_hhhB = Struct('>hhhB').unpack_from
unpack_from_iB = Struct('>iB').unpack_from
unpack_from_hhB = Struct('>hhB').unpack_from
unpack_from_q = Struct('>q').unpack_from
unpack_from__bool_ = Struct('>?').unpack_from
pack_ix = Struct('>ix').pack


def init_ApiVersionsRequest(self, *, client_software_name='', client_software_version='', cluster_id=None, node_id=-1):
    self.client_software_name = client_software_name
    self.client_software_version = client_software_version
    self.cluster_id = cluster_id
    self.node_id = node_id


def encode_ApiVersionsRequest_v4(message):
    parts = []
    out = []
    try:
        value_1 = message.client_software_name
        value_1 = value_1.encode()
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        value_2 = message.client_software_version
        value_2 = value_2.encode()
        n = len(value_2) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_2)
        out.append(b'\x00')
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ApiVersionsRequest v4', 4, error) from error


def decode_ApiVersionsResponse_v4(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ApiVersionsResponse_21)
        message.error_code, n = unpack_from_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 7 > size - pos:
                raise array_overrun('ApiVersionsResponse v4', 'api_keys', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(ApiVersion_23)
                item_2.api_key, item_2.min_version, item_2.max_version, n = unpack_from_hhhB(buf, pos)
                pos += 7
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.api_keys = items_1
        elif n == 1:
            message.api_keys = []
        else:
            raise refused_length('ApiVersionsResponse v4', 'api_keys', -1)
        message.supported_features = []
        message.finalized_features_epoch = -1
        message.finalized_features = []
        message.zk_migration_ready = False
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n:
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            for _ in range(n):
                tag_3, pos = uvarint_at(buf, pos)
                n, pos = uvarint_at(buf, pos)
                if n > size - pos:
                    raise overrun('ApiVersionsResponse v4', f'tag {tag_3}', n, size - pos)
                stop_4 = pos + n
                if tag_3 == 0:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 6 > size - pos:
                            raise array_overrun('ApiVersionsResponse v4', 'supported_features', n, size - pos)
                        items_5 = []
                        for _ in range(n):
                            item_6 = new(SupportedFeatureKey_26)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ApiVersionsResponse v4', 'supported_features.name', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ApiVersionsResponse v4', 'supported_features.name', end - pos, size - pos)
                                item_6.name = buf[pos:end].decode()
                                pos = end
                            else:
                                raise refused_length('ApiVersionsResponse v4', 'supported_features.name', -1)
                            item_6.min_version, item_6.max_version, n = unpack_from_hhB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_5.append(item_6)
                        message.supported_features = items_5
                    elif n == 1:
                        message.supported_features = []
                    else:
                        raise refused_length('ApiVersionsResponse v4', 'supported_features', -1)
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v4', tag_3, stop_4, pos)
                if tag_3 == 1:
                    message.finalized_features_epoch = unpack_from_q(buf, pos)[0]
                    pos += 8
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v4', tag_3, stop_4, pos)
                if tag_3 == 2:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 6 > size - pos:
                            raise array_overrun('ApiVersionsResponse v4', 'finalized_features', n, size - pos)
                        items_7 = []
                        for _ in range(n):
                            item_8 = new(FinalizedFeatureKey_29)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ApiVersionsResponse v4', 'finalized_features.name', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ApiVersionsResponse v4', 'finalized_features.name', end - pos, size - pos)
                                item_8.name = buf[pos:end].decode()
                                pos = end
                            else:
                                raise refused_length('ApiVersionsResponse v4', 'finalized_features.name', -1)
                            item_8.max_version_level, item_8.min_version_level, n = unpack_from_hhB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_7.append(item_8)
                        message.finalized_features = items_7
                    elif n == 1:
                        message.finalized_features = []
                    else:
                        raise refused_length('ApiVersionsResponse v4', 'finalized_features', -1)
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v4', tag_3, stop_4, pos)
                if tag_3 == 3:
                    message.zk_migration_ready = unpack_from__bool_(buf, pos)[0]
                    pos += 1
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v4', tag_3, stop_4, pos)
                pos = stop_4
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ApiVersionsResponse v4', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ApiVersionsResponse v4', error) from None
    if pos != size:
        raise trailing('ApiVersionsResponse v4', pos, size, message)
    return message


def encode_ApiVersionsRequest_v5(message):
    parts = []
    out = []
    try:
        value_1 = message.client_software_name
        value_1 = value_1.encode()
        n = len(value_1) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_1)
        value_2 = message.client_software_version
        value_2 = value_2.encode()
        n = len(value_2) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_2)
        value_3 = message.cluster_id
        if value_3 is None:
            value_3 = b''
            n = 0
        else:
            value_3 = value_3.encode()
            n = len(value_3) + 1
        out.append(ONE_BYTE[n] if n < 128 else string_length(n))
        out.append(value_3)
        out.append(pack_ix(message.node_id))
        if out:
            parts.append(b''.join(out))
        return parts
    except (StructError, AttributeError, TypeError, ValueError) as error:
        raise unencodable(message, 'ApiVersionsRequest v5', 5, error) from error


def decode_ApiVersionsResponse_v5(view):
    buf = bytes(view)
    size = len(buf)
    pos = 0
    try:
        message = new(ApiVersionsResponse_21)
        message.error_code, n = unpack_from_hB(buf, pos)
        pos += 3
        if n > 127:
            n, pos = uvarint_at(buf, pos - 1)
        if n > 1:
            n -= 1
            if n * 7 > size - pos:
                raise array_overrun('ApiVersionsResponse v5', 'api_keys', n, size - pos)
            items_1 = []
            for _ in range(n):
                item_2 = new(ApiVersion_23)
                item_2.api_key, item_2.min_version, item_2.max_version, n = unpack_from_hhhB(buf, pos)
                pos += 7
                if n:
                    pos = skip_tagged_fields(buf, pos - 1, size)
                items_1.append(item_2)
            message.api_keys = items_1
        elif n == 1:
            message.api_keys = []
        else:
            raise refused_length('ApiVersionsResponse v5', 'api_keys', -1)
        message.supported_features = []
        message.finalized_features_epoch = -1
        message.finalized_features = []
        message.zk_migration_ready = False
        message.throttle_time_ms, n = unpack_from_iB(buf, pos)
        pos += 5
        if n:
            if n > 127:
                n, pos = uvarint_at(buf, pos - 1)
            for _ in range(n):
                tag_3, pos = uvarint_at(buf, pos)
                n, pos = uvarint_at(buf, pos)
                if n > size - pos:
                    raise overrun('ApiVersionsResponse v5', f'tag {tag_3}', n, size - pos)
                stop_4 = pos + n
                if tag_3 == 0:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 6 > size - pos:
                            raise array_overrun('ApiVersionsResponse v5', 'supported_features', n, size - pos)
                        items_5 = []
                        for _ in range(n):
                            item_6 = new(SupportedFeatureKey_26)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ApiVersionsResponse v5', 'supported_features.name', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ApiVersionsResponse v5', 'supported_features.name', end - pos, size - pos)
                                item_6.name = buf[pos:end].decode()
                                pos = end
                            else:
                                raise refused_length('ApiVersionsResponse v5', 'supported_features.name', -1)
                            item_6.min_version, item_6.max_version, n = unpack_from_hhB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_5.append(item_6)
                        message.supported_features = items_5
                    elif n == 1:
                        message.supported_features = []
                    else:
                        raise refused_length('ApiVersionsResponse v5', 'supported_features', -1)
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v5', tag_3, stop_4, pos)
                if tag_3 == 1:
                    message.finalized_features_epoch = unpack_from_q(buf, pos)[0]
                    pos += 8
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v5', tag_3, stop_4, pos)
                if tag_3 == 2:
                    n = buf[pos]
                    pos += 1
                    if n > 127:
                        n, pos = uvarint_at(buf, pos - 1)
                    if n > 1:
                        n -= 1
                        if n * 6 > size - pos:
                            raise array_overrun('ApiVersionsResponse v5', 'finalized_features', n, size - pos)
                        items_7 = []
                        for _ in range(n):
                            item_8 = new(FinalizedFeatureKey_29)
                            n = buf[pos]
                            pos += 1
                            if n > 127:
                                n, pos = uvarint_at(buf, pos - 1)
                            if n > 32768:
                                raise overlong_string('ApiVersionsResponse v5', 'finalized_features.name', n - 1)
                            if n:
                                end = pos + n - 1
                                if end > size:
                                    raise overrun('ApiVersionsResponse v5', 'finalized_features.name', end - pos, size - pos)
                                item_8.name = buf[pos:end].decode()
                                pos = end
                            else:
                                raise refused_length('ApiVersionsResponse v5', 'finalized_features.name', -1)
                            item_8.max_version_level, item_8.min_version_level, n = unpack_from_hhB(buf, pos)
                            pos += 5
                            if n:
                                pos = skip_tagged_fields(buf, pos - 1, size)
                            items_7.append(item_8)
                        message.finalized_features = items_7
                    elif n == 1:
                        message.finalized_features = []
                    else:
                        raise refused_length('ApiVersionsResponse v5', 'finalized_features', -1)
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v5', tag_3, stop_4, pos)
                if tag_3 == 3:
                    message.zk_migration_ready = unpack_from__bool_(buf, pos)[0]
                    pos += 1
                    if pos != stop_4:
                        raise uneven_tag('ApiVersionsResponse v5', tag_3, stop_4, pos)
                pos = stop_4
    except (StructError, IndexError, UnicodeDecodeError) as error:
        raise malformed('ApiVersionsResponse v5', pos, size, error) from error
    except ProtocolDecodeError as error:
        raise labelled('ApiVersionsResponse v5', error) from None
    if pos != size:
        raise trailing('ApiVersionsResponse v5', pos, size, message)
    return message


__all__ = [
    "decode_ApiVersionsResponse_v4",
    "decode_ApiVersionsResponse_v5",
    "encode_ApiVersionsRequest_v4",
    "encode_ApiVersionsRequest_v5",
    "init_ApiVersionsRequest",
]
