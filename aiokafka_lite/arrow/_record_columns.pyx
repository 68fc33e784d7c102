# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Records as Arrow columns, decoded from a batch's bytes straight into C memory.

The native twin of `_record_columns_py`, with the same promises. It reads no byte outside of its
input, whatever the lengths in the input say.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from aiokafka_lite.arrow.record_schema import ALL_FIELDS
from aiokafka_lite.errors import CorruptRecordException


cdef extern from "arrow_columns.h" nogil:
    struct ArrowSchema:
        void (*release)(ArrowSchema *) noexcept

    struct ArrowArray:
        void (*release)(ArrowArray *) noexcept

    struct ArrowArrayStream:
        void (*release)(ArrowArrayStream *) noexcept

    enum:
        ALK_KEY
        ALK_VALUE
        ALK_HEADERS

    ctypedef struct alk_bytes:
        char *data
        int64_t size
        int64_t capacity

    ctypedef struct alk_columns:
        long references
        int fields
        int64_t rows, headers, row_capacity, header_capacity
        int32_t *key_offsets
        int32_t *value_offsets
        int32_t *header_offsets
        int32_t *header_key_offsets
        int32_t *header_value_offsets
        int64_t *offsets
        int64_t *timestamps
        uint8_t *timestamp_validity
        uint8_t *key_validity
        uint8_t *value_validity
        uint8_t *header_value_validity
        int64_t timestamp_nulls, key_nulls, value_nulls, header_value_nulls
        alk_bytes topics, keys, values, header_keys, header_values

    alk_columns *alk_new(int fields, int64_t rows)
    void alk_drop(alk_columns *columns)
    void alk_trim(alk_bytes *column)
    int alk_reserve_rows(alk_columns *columns, int64_t more)
    int alk_reserve_headers(alk_columns *columns, int64_t wanted)
    int alk_reserve_bytes(alk_bytes *column, int64_t wanted)
    int alk_set_valid(uint8_t **bitmap, int64_t index, int64_t capacity, int is_valid)
    int alk_append_rows(
        alk_columns *columns, int64_t count, const char *topic, int64_t topic_size,
        int32_t partition, int32_t timestamp_type,
    )
    int alk_export_schema(int fields, ArrowSchema *out)
    int alk_export_array(alk_columns *columns, ArrowArray *out)
    int alk_export_stream(alk_columns *columns, ArrowArrayStream *out)


cdef enum Fault:
    NO_FAULT = 0
    BEYOND  # a field goes on beyond the end of the bytes
    TOO_LONG  # a varint has too many bytes
    BAD_KEY
    BAD_VALUE
    BAD_HEADER_COUNT
    BAD_HEADER_NAME
    BAD_HEADER_VALUE
    BAD_END
    BAD_ORDER
    BEHIND_LAST
    NO_MEMORY
    IS_FULL

cdef dict _FAULTS = {
    BEYOND: "a record ends beyond its batch",
    TOO_LONG: "a varint is longer than {0} bytes",
    BAD_KEY: "a key of {0:,} bytes",
    BAD_VALUE: "a value of {0:,} bytes",
    BAD_HEADER_COUNT: "{0:,} headers in fewer bytes than they take",
    BAD_HEADER_NAME: "a header name of {0:,} bytes",
    BAD_HEADER_VALUE: "a header value of {0:,} bytes",
    BAD_END: "a record's fields do not end where it does",
    BAD_ORDER: "a record of offset {0} behind a later one",
    BEHIND_LAST: "a record lies behind its batch's last offset",
}

cdef int64_t _FIRST_ROWS = 512
cdef int64_t _MAX_ROWS = 8_000_000  # one column holds this many topic names of 249 bytes


cdef inline Fault read_varint(
    const uint8_t **at, const uint8_t *end, int max_bytes, int64_t *value
) noexcept nogil:
    """Read a zigzag number of up to `max_bytes` bytes, 5 or 10; drop bits beyond 64."""
    cdef const uint8_t *position = at[0]
    cdef uint64_t raw
    cdef uint8_t byte
    cdef int shift
    if position < end and position[0] < 0x80:
        raw = position[0]
        position += 1
    else:
        raw = 0
        shift = 0
        while True:
            if shift == 7 * max_bytes:
                value[0] = max_bytes
                return TOO_LONG
            if position >= end:
                return BEYOND
            byte = position[0]
            position += 1
            raw |= <uint64_t> (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
    at[0] = position
    value[0] = <int64_t> (raw >> 1) ^ -<int64_t> (raw & 1)
    return NO_FAULT


cdef inline const uint8_t *content_of(bytes content) noexcept:
    if content is None:
        return NULL
    return <const uint8_t *> PyBytes_AS_STRING(content)


cdef inline int64_t size_of(bytes content) noexcept:
    return -1 if content is None else PyBytes_GET_SIZE(content)


cdef inline bint is_ascii(const uint8_t *text, int64_t size) noexcept nogil:
    cdef uint8_t bits = 0
    cdef int64_t i
    for i in range(size):
        bits |= text[i]
    return bits < 0x80


cdef class RecordColumnsBuilder:
    """Columns for up to `max_records` records and about `max_bytes` bytes.

    A single record of any size fits. `fields` is a mask of the wanted columns. `max_column_bytes`
    is the range of a column's 32-bit offsets; only tests pass less. Call `begin` before the records
    of each partition, and `finish` once at the end.
    """

    cdef alk_columns *_columns
    cdef int64_t _max_records, _max_bytes, _max_column_bytes
    cdef bytes _topic
    cdef int32_t _partition
    cdef bint _has_no_room
    cdef readonly int64_t size_in_bytes
    """Bytes of the records in their batches, decompressed."""
    cdef readonly int64_t position
    """The position behind the last record that `decode` has read, without a bad one."""
    cdef readonly int64_t records_read
    """How many records `decode` has read, with those before the wanted offset."""
    cdef readonly int64_t next_offset
    """The offset behind the last row."""

    def __cinit__(
        self,
        int64_t max_records,
        max_bytes=None,
        *,
        int fields=ALL_FIELDS,
        int64_t max_column_bytes=2**31 - 1,
    ):
        self._max_records = min(max_records, _MAX_ROWS)
        self._max_bytes = 2**63 - 1 if max_bytes is None else min(max_bytes, 2**63 - 1)
        self._max_column_bytes = max_column_bytes
        self._topic = b""
        self._columns = alk_new(
            fields, _FIRST_ROWS if self._max_records > _FIRST_ROWS else self._max_records
        )
        if self._columns == NULL:
            raise MemoryError

    def __dealloc__(self):
        alk_drop(self._columns)

    def __len__(self):
        """Rows so far."""
        return self._unfinished().rows

    cdef alk_columns *_unfinished(self) except NULL:
        if self._columns == NULL:
            raise ValueError("the columns are finished")
        return self._columns

    @property
    def is_full(self):
        """Whether the columns take no more records."""
        cdef int64_t rows = self._unfinished().rows
        return rows >= self._max_records or rows > 0 and (
            self.size_in_bytes >= self._max_bytes or self._has_no_room
        )

    def begin(self, str topic, int32_t partition):
        """Set the topic and partition of the records that follow."""
        self._topic = topic.encode()
        self._partition = partition

    def decode(
        self,
        data,
        Py_ssize_t position,
        int64_t count,
        int64_t base_offset,
        int64_t last_offset,
        int64_t base_timestamp,
        int timestamp_type,
        int64_t max_timestamp,
        int64_t fetch_offset,
        Py_ssize_t end=-1,
    ):
        """Append records of a batch's decompressed `data` until the columns are full; return how
        many.

        `count` records lie between `position` and `end`; -1 means the end of the data. Records
        before `fetch_offset` are skipped. Afterwards `position`, `records_read` and `next_offset`
        say how far it read.

        Raises: CorruptRecordException at a bad record. The rows before that record are appended.
        """
        cdef Py_buffer view
        cdef int64_t fault_value = 0, skipped_bytes = 0, before = self._unfinished().rows
        cdef const uint8_t *at
        cdef Fault fault
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            if end == -1:
                end = view.len
            if not 0 <= position <= end <= view.len:
                raise IndexError("position is outside of the data")
            at = <const uint8_t *> view.buf + position
            self.records_read = 0
            self.next_offset = fetch_offset
            fault = self._decode(
                &at, <const uint8_t *> view.buf + end, count, base_offset, last_offset,
                base_timestamp, timestamp_type, max_timestamp, &skipped_bytes, &fault_value,
            )
            self.size_in_bytes += at - <const uint8_t *> view.buf - position - skipped_bytes
            self.position = at - <const uint8_t *> view.buf
        finally:
            PyBuffer_Release(&view)
        if fault == NO_MEMORY:
            raise MemoryError
        if fault == IS_FULL:
            self._has_no_room = True
        elif fault != NO_FAULT:
            raise CorruptRecordException(_FAULTS[fault].format(fault_value))
        return self._columns.rows - before

    cdef Fault _decode(
        self,
        const uint8_t **position,
        const uint8_t *end,
        int64_t count,
        int64_t base_offset,
        int64_t last_offset,
        int64_t base_timestamp,
        int timestamp_type,
        int64_t max_timestamp,
        int64_t *skipped_bytes,
        int64_t *fault_value,
    ) except? NO_MEMORY:
        """Append rows until full or `count` records are read; move `position` behind them."""
        cdef alk_columns *columns = self._columns
        cdef const uint8_t *at = position[0]
        cdef const uint8_t *record_end
        cdef const uint8_t *stop
        cdef const uint8_t *key
        cdef const uint8_t *value
        cdef int64_t size, timestamp, offset, key_size, value_size, headers, row, rows, read
        cdef int64_t next_offset = self.next_offset, limit = self._max_column_bytes
        cdef int64_t first_row = columns.rows, room = self._max_records - first_row
        cdef int64_t byte_room = self._max_bytes - self.size_in_bytes
        cdef Fault fault = NO_FAULT
        cdef bint has_key = columns.fields & ALK_KEY, has_value = columns.fields & ALK_VALUE
        if room > count:
            room = count
        if room > (end - at) // 7 + 1:  # a record has at least seven bytes
            room = (end - at) // 7 + 1
        if room <= 0:
            return NO_FAULT
        if alk_reserve_rows(columns, room):
            return NO_MEMORY
        if has_value:
            # Values are most of a batch. So these bytes hold nearly all of the remaining ones.
            size = min((end - at) // count * room, byte_room, limit - columns.values.size)
            if alk_reserve_bytes(&columns.values, columns.values.size + size):
                return NO_MEMORY
        if end - at > byte_room:
            stop = at + (byte_room if byte_room > 0 else 1)
        else:
            stop = end
        rows = 0
        read = 0
        while read < count and rows < room:
            # A record consists of its length, attributes (unused), timestamp delta, offset delta,
            # key, value and headers. The lengths and deltas are zigzag varints.
            fault = read_varint(&at, end, 5, &size)
            if fault != NO_FAULT:
                break
            if size < 1 or size > end - at:
                fault = BAD_END if size < 1 else BEYOND
                break
            record_end = at + size
            at += 1
            fault = read_varint(&at, record_end, 10, &timestamp)
            if fault != NO_FAULT:
                break
            fault = read_varint(&at, record_end, 5, &offset)
            if fault != NO_FAULT:
                break
            fault = read_varint(&at, record_end, 5, &key_size)
            if fault != NO_FAULT:
                break
            key = at
            if key_size > 0:
                if key_size > record_end - at:
                    fault = BEYOND
                    break
                at += key_size
            elif key_size < -1:
                fault_value[0] = key_size
                fault = BAD_KEY
                break
            fault = read_varint(&at, record_end, 5, &value_size)
            if fault != NO_FAULT:
                break
            value = at
            if value_size > 0:
                if value_size > record_end - at:
                    fault = BEYOND
                    break
                at += value_size
            elif value_size < -1:
                fault_value[0] = value_size
                fault = BAD_VALUE
                break
            row = first_row + rows
            columns.header_offsets[row + 1] = <int32_t> columns.headers
            if at < record_end and at[0] == 0:
                at += 1
                headers = 0
            else:
                fault = self._decode_headers(&at, record_end, row, &headers, fault_value)
                if fault != NO_FAULT:
                    break
            if at != record_end:
                fault = BAD_END
                break
            if offset < 0 or offset > last_offset - base_offset:
                fault_value[0] = offset
                fault = BEHIND_LAST if offset > 0 else BAD_ORDER
                break
            offset += base_offset
            if offset < next_offset:
                if rows:
                    fault_value[0] = offset
                    fault = BAD_ORDER
                    break
                read += 1
                size = at - position[0]
                skipped_bytes[0] += size
                stop = stop + size if size < end - stop else end
                position[0] = at
                continue
            fault = self._append_fields(
                row, has_key, key, key_size, has_value, value, value_size, limit
            )
            if fault != NO_FAULT:
                break
            self._keep_headers(row, headers)
            columns.offsets[row] = offset
            columns.timestamps[row] = <int64_t> (<uint64_t> base_timestamp + <uint64_t> timestamp)
            next_offset = offset + 1
            rows += 1
            read += 1
            position[0] = at
            if at >= stop:
                break
        self.records_read = read
        self.next_offset = next_offset
        if timestamp_type == 1:
            for row in range(first_row, first_row + rows):
                columns.timestamps[row] = max_timestamp
        return self._keep_rows(rows, timestamp_type, fault)

    cdef inline Fault _append_fields(
        self,
        int64_t row,
        bint has_key,
        const uint8_t *key,
        int64_t key_size,
        bint has_value,
        const uint8_t *value,
        int64_t value_size,
        int64_t limit,
    ) noexcept:
        """Write key and value of a row. Without room for them, write nothing and return IS_FULL."""
        cdef alk_columns *columns = self._columns
        cdef int64_t keys = columns.keys.size, values = columns.values.size
        if has_key and key_size > 0:
            keys += key_size
            if keys > limit and row:
                return IS_FULL
            if alk_reserve_bytes(&columns.keys, keys):
                return NO_MEMORY
        if has_value and value_size > 0:
            values += value_size
            if values > limit and row:
                return IS_FULL
            if alk_reserve_bytes(&columns.values, values):
                return NO_MEMORY
            memcpy(columns.values.data + columns.values.size, value, value_size)
        if has_key and key_size > 0:
            memcpy(columns.keys.data + columns.keys.size, key, key_size)
        if key_size < 0 and has_key:
            if alk_set_valid(&columns.key_validity, row, columns.row_capacity, 0):
                return NO_MEMORY
            columns.key_nulls += 1
        if value_size < 0 and has_value:
            if alk_set_valid(&columns.value_validity, row, columns.row_capacity, 0):
                return NO_MEMORY
            columns.value_nulls += 1
        columns.keys.size = keys
        columns.values.size = values
        columns.key_offsets[row + 1] = <int32_t> keys
        columns.value_offsets[row + 1] = <int32_t> values
        return NO_FAULT

    cdef Fault _keep_rows(self, int64_t rows, int timestamp_type, Fault fault) noexcept:
        """Count `rows` written rows. Return `fault`, or the fault for a lack of memory."""
        if rows and alk_append_rows(
            self._columns, rows, PyBytes_AS_STRING(self._topic), PyBytes_GET_SIZE(self._topic),
            self._partition, timestamp_type,
        ):
            return NO_MEMORY
        return fault

    # Headers…

    cdef Fault _decode_headers(
        self,
        const uint8_t **position,
        const uint8_t *end,
        int64_t row,
        int64_t *kept,
        int64_t *fault_value,
    ) except? NO_MEMORY:
        """Read a record's headers and write them behind the counted ones; `kept`: how many.

        Without room for them, leave `position` unchanged and return IS_FULL.
        """
        cdef alk_columns *columns = self._columns
        cdef const uint8_t *at = position[0]
        cdef const uint8_t *name
        cdef int64_t count, i, name_size, value_size
        cdef int64_t names = columns.header_keys.size, values = columns.header_values.size
        cdef bint is_wanted = columns.fields & ALK_HEADERS
        cdef Fault fault = read_varint(&at, end, 5, &count)
        kept[0] = 0
        if fault != NO_FAULT:
            return fault
        if not 0 <= count <= (end - at) // 2:
            fault_value[0] = count
            return BAD_HEADER_COUNT
        if is_wanted and columns.headers + count > self._max_column_bytes and row:
            return IS_FULL
        if is_wanted and alk_reserve_headers(columns, columns.headers + count):
            return NO_MEMORY
        for i in range(count):
            fault = read_varint(&at, end, 5, &name_size)
            if fault != NO_FAULT:
                return fault
            if name_size < 0:
                fault_value[0] = name_size
                return BAD_HEADER_NAME
            if name_size > end - at:
                return BEYOND
            name = at
            at += name_size
            fault = read_varint(&at, end, 5, &value_size)
            if fault != NO_FAULT:
                return fault
            if value_size < -1:
                fault_value[0] = value_size
                return BAD_HEADER_VALUE
            if value_size > end - at:
                return BEYOND
            if is_wanted:
                fault = self._write_header(
                    row, columns.headers + i, &names, name, name_size, &values, at, value_size
                )
                if fault != NO_FAULT:
                    return fault
            if value_size > 0:
                at += value_size
        if is_wanted:
            kept[0] = count
        position[0] = at
        return NO_FAULT

    cdef Fault _write_header(
        self,
        int64_t row,
        int64_t index,
        int64_t *names,
        const uint8_t *name,
        int64_t name_size,
        int64_t *values,
        const uint8_t *value,
        int64_t value_size,
    ) except? NO_MEMORY:
        cdef alk_columns *columns = self._columns
        cdef int64_t limit = self._max_column_bytes
        cdef bytes replaced
        if not is_ascii(name, name_size):
            # As Java's client: a name that is not UTF-8 is useless, but its record is useful.
            replaced = name[:name_size].decode("utf-8", "replace").encode()
            name = content_of(replaced)
            name_size = size_of(replaced)
        if row and (names[0] + name_size > limit or values[0] + value_size > limit):
            return IS_FULL
        if alk_reserve_bytes(&columns.header_keys, names[0] + name_size):
            return NO_MEMORY
        memcpy(columns.header_keys.data + names[0], name, name_size)
        names[0] += name_size
        if value_size > 0:
            if alk_reserve_bytes(&columns.header_values, values[0] + value_size):
                return NO_MEMORY
            memcpy(columns.header_values.data + values[0], value, value_size)
            values[0] += value_size
        if alk_set_valid(
            &columns.header_value_validity, index, columns.header_capacity, value_size >= 0
        ):
            return NO_MEMORY
        columns.header_key_offsets[index + 1] = <int32_t> names[0]
        columns.header_value_offsets[index + 1] = <int32_t> values[0]
        return NO_FAULT

    cdef inline void _keep_headers(self, int64_t row, int64_t count) noexcept:
        """Count the last `count` written headers as those of `row`."""
        cdef alk_columns *columns = self._columns
        cdef int64_t i
        if count:
            if columns.header_value_validity != NULL:
                for i in range(columns.headers, columns.headers + count):
                    if not columns.header_value_validity[i >> 3] >> (i & 7) & 1:
                        columns.header_value_nulls += 1
            columns.headers += count
            columns.header_keys.size = columns.header_key_offsets[columns.headers]
            columns.header_values.size = columns.header_value_offsets[columns.headers]
        columns.header_offsets[row + 1] = <int32_t> columns.headers

    # Rows one by one…

    def append(
        self,
        int64_t offset,
        int64_t timestamp,
        int timestamp_type,
        bytes key,
        bytes value,
        headers=(),
    ):
        """Append a record that was decoded elsewhere. Return False if a column lacks room for it.

        `timestamp_type` -1 means: the record has no timestamp, and the column gets a null.
        """
        cdef alk_columns *columns = self._unfinished()
        cdef int64_t row = columns.rows, index = columns.headers
        cdef int64_t names = columns.header_keys.size, values = columns.header_values.size
        cdef int64_t key_size = size_of(key)
        cdef int64_t value_size = size_of(value)
        cdef bytes name, content
        cdef Fault fault = NO_FAULT
        if alk_reserve_rows(columns, 1) or alk_reserve_headers(columns, index + len(headers)):
            raise MemoryError
        if columns.fields & ALK_HEADERS:
            for text, content in headers:
                name = text.encode()
                fault = self._write_header(
                    row, index, &names, content_of(name), size_of(name), &values,
                    content_of(content), size_of(content),
                )
                if fault != NO_FAULT:
                    break
                index += 1
        if fault == NO_FAULT:
            fault = self._append_fields(
                row,
                columns.fields & ALK_KEY,
                content_of(key),
                key_size,
                columns.fields & ALK_VALUE,
                content_of(value),
                value_size,
                self._max_column_bytes,
            )
        if fault == IS_FULL:
            self._has_no_room = True
            return False
        if fault != NO_FAULT:
            raise MemoryError
        self._keep_headers(row, index - columns.headers)
        columns.offsets[row] = offset
        columns.timestamps[row] = timestamp
        if timestamp_type < 0:
            columns.timestamp_nulls += 1
        if alk_set_valid(
            &columns.timestamp_validity, row, columns.row_capacity, timestamp_type >= 0
        ):
            raise MemoryError
        if self._keep_rows(1, timestamp_type, NO_FAULT) != NO_FAULT:
            raise MemoryError
        self.size_in_bytes += 7 + max(key_size, 0) + max(value_size, 0)
        self.next_offset = offset + 1
        return True

    def finish(self):
        """Return the columns. Nothing can be appended after that."""
        cdef RecordColumns finished = RecordColumns.__new__(RecordColumns)
        cdef alk_columns *columns = self._unfinished()
        alk_trim(&columns.topics)
        alk_trim(&columns.keys)
        alk_trim(&columns.values)
        alk_trim(&columns.header_keys)
        alk_trim(&columns.header_values)
        finished._columns = columns
        self._columns = NULL
        return finished


cdef class RecordColumns:
    """Records as columns, for any library that imports Arrow data by the PyCapsule interface.

    pyarrow.record_batch(columns), polars.DataFrame(columns) and others take the memory over without
    a copy. What they imported stays valid without this object.
    """

    cdef alk_columns *_columns

    def __init__(self):
        raise TypeError("RecordColumns are made by RecordColumnsBuilder.finish()")

    def __dealloc__(self):
        alk_drop(self._columns)

    cdef alk_columns *_content(self) except NULL:
        if self._columns == NULL:
            raise TypeError("RecordColumns are made by RecordColumnsBuilder.finish()")
        return self._columns

    def __len__(self):
        """The number of records."""
        return self._content().rows

    def __repr__(self):
        return f"<RecordColumns {len(self):,} records, {self.nbytes:,} bytes>"

    @property
    def nbytes(self):
        """The bytes of topics, keys, values and headers."""
        cdef alk_columns *columns = self._content()
        return (
            columns.topics.size + columns.keys.size + columns.values.size
            + columns.header_keys.size + columns.header_values.size
        )

    def __arrow_c_schema__(self):
        """Return the schema, as an "arrow_schema" capsule."""
        return _schema_capsule(self._content().fields)

    def __arrow_c_array__(self, requested_schema=None):
        """Return schema and rows, as capsules; `requested_schema` is ignored."""
        return _schema_capsule(self._content().fields), _array_capsule(self._content())

    def __arrow_c_stream__(self, requested_schema=None):
        """Return a stream of one batch, as a capsule; `requested_schema` is ignored."""
        cdef alk_columns *columns = self._content()
        cdef ArrowArrayStream *stream = <ArrowArrayStream *> malloc(sizeof(ArrowArrayStream))
        if stream == NULL or alk_export_stream(columns, stream):
            free(stream)
            raise MemoryError
        return PyCapsule_New(stream, "arrow_array_stream", _free_stream)

    def to_pyarrow(self):
        """Return a pyarrow.RecordBatch that shares the memory.

        Raises: ImportError without pyarrow.
        """
        from aiokafka_lite.arrow.record_schema import import_record_batch

        cdef alk_columns *columns = self._content()
        cdef ArrowArray array
        if alk_export_array(columns, &array):
            raise MemoryError
        try:
            return import_record_batch(<uintptr_t> &array, columns.fields)
        finally:
            if array.release != NULL:
                array.release(&array)


cdef object _schema_capsule(int fields):
    cdef ArrowSchema *schema = <ArrowSchema *> malloc(sizeof(ArrowSchema))
    if schema == NULL or alk_export_schema(fields, schema):
        free(schema)
        raise MemoryError
    return PyCapsule_New(schema, "arrow_schema", _free_schema)


cdef object _array_capsule(alk_columns *columns):
    cdef ArrowArray *array = <ArrowArray *> malloc(sizeof(ArrowArray))
    if array == NULL or alk_export_array(columns, array):
        free(array)
        raise MemoryError
    return PyCapsule_New(array, "arrow_array", _free_array)


# An importer moves the content away and leaves a struct without `release`. Otherwise the content is
# released here.

cdef void _free_schema(object capsule) noexcept:
    cdef ArrowSchema *schema = <ArrowSchema *> PyCapsule_GetPointer(capsule, "arrow_schema")
    if schema.release != NULL:
        schema.release(schema)
    free(schema)


cdef void _free_array(object capsule) noexcept:
    cdef ArrowArray *array = <ArrowArray *> PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:
        array.release(array)
    free(array)


cdef void _free_stream(object capsule) noexcept:
    cdef ArrowArrayStream *stream = <ArrowArrayStream *> PyCapsule_GetPointer(
        capsule, "arrow_array_stream"
    )
    if stream.release != NULL:
        stream.release(stream)
    free(stream)
