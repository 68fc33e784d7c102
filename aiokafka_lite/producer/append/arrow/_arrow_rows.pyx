# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rows of Arrow data as records to send, read in place: the native twin of `_arrow_rows_py`.

The code trusts an Arrow array as much as the library that made it. It checks the types of the
columns, and that each record fits into the batch. Does not wait.
"""

from array import array as _new_array

from cpython.array cimport array, resize_smart
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport (
    int8_t,
    int16_t,
    int32_t,
    int64_t,
    uint8_t,
    uint16_t,
    uint32_t,
    uint64_t,
)
from libc.string cimport memcmp, memcpy, memset

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.producer.append.arrow.arrow_column_faults import (
    check_columns,
    no_arrow,
    no_batch,
    no_utf8,
    null_in,
    wrong_type,
)

from aiokafka_lite.record._batch_builder cimport RecordBatchBuilder


cdef extern from "aiokafka_lite/arrow/arrow_c_data.h" nogil:
    struct ArrowSchema:
        const char *format
        const char *name
        int64_t n_children
        ArrowSchema **children
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept

    struct ArrowArray:
        int64_t length
        int64_t null_count
        int64_t offset
        int64_t n_buffers
        int64_t n_children
        const void **buffers
        ArrowArray **children
        void (*release)(ArrowArray *) noexcept nogil

    struct ArrowArrayStream:
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept nogil
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept nogil
        const char *(*get_last_error)(ArrowArrayStream *) noexcept
        void (*release)(ArrowArrayStream *) noexcept


cdef extern from "aiokafka_lite/producer/key_hash/murmur2.h" nogil:
    uint32_t alk_murmur2(const uint8_t *data, size_t n)


cdef enum Kind:
    ABSENT = 0  # no such column, or all its values are null
    BYTES_32
    BYTES_64
    VIEWS
    INT_8
    UINT_8
    INT_16
    UINT_16
    INT_32
    UINT_32
    INT_64
    UINT_64
    LIST_32
    LIST_64

cdef enum:
    MAX_RECORDS = 0x7FFFFFFF
    MAX_RECORD_BYTES = 0x7FFFFFFF

cdef int64_t MAX_TIMESTAMP = 0x7FFFFFFFFFFFFFFF
cdef int64_t NO_TIMESTAMP = -1  # in Kafka, both of times and of their types
cdef int64_t NO_INT64 = -MAX_TIMESTAMP - 1
cdef int64_t MAX_SECONDS = MAX_TIMESTAMP // 1000

cdef struct Column:
    Kind kind
    int64_t offset
    const uint8_t *validity
    const void *values  # of fixed size, or offsets, or views
    const uint8_t *data
    const void **buffers  # of views, beginning with the first data buffer
    int64_t multiply, divide  # from ticks of a timestamp to milliseconds
    const uint8_t *rows_validity  # of whole rows: all fields of a null row are null
    int64_t rows_offset

cdef dict _TEXT_KINDS = {"u": BYTES_32, "U": BYTES_64, "vu": VIEWS}
cdef dict _BYTES_KINDS = {"z": BYTES_32, "Z": BYTES_64, "vz": VIEWS, **_TEXT_KINDS}
cdef dict _INT_KINDS = {
    "c": INT_8, "C": UINT_8, "s": INT_16, "S": UINT_16, "i": INT_32, "I": UINT_32, "l": INT_64,
    "L": UINT_64,
}
cdef dict _LIST_KINDS = {"+l": LIST_32, "+L": LIST_64, "+m": LIST_32}
cdef dict _TICKS = {"s": (1000, 1), "m": (1, 1), "u": (1, 1000), "n": (1, 1_000_000)}
cdef dict _NAMES = {
    "n": "null", "b": "bool", "c": "int8", "C": "uint8", "s": "int16", "S": "uint16", "i": "int32",
    "I": "uint32", "l": "int64", "L": "uint64", "e": "halffloat", "f": "float", "g": "double",
    "z": "binary", "Z": "large_binary", "vz": "binary_view", "u": "string", "U": "large_string",
    "vu": "string_view", "tdD": "date32", "tdm": "date64", "+s": "struct", "+l": "list",
    "+L": "large_list", "+m": "map",
}


# Fields, read in place…

cdef inline bint is_null(const Column *column, int64_t row) noexcept nogil:
    cdef int64_t at = column.offset + row
    if column.kind == ABSENT:
        return True
    if column.validity != NULL and not column.validity[at >> 3] >> (at & 7) & 1:
        return True
    at = column.rows_offset + row
    return column.rows_validity != NULL and not column.rows_validity[at >> 3] >> (at & 7) & 1


cdef inline const uint8_t *bytes_of(const Column *column, int64_t row, int64_t *size) noexcept nogil:
    """Return the address of a field of bytes and set its `size`; -1 for a null."""
    cdef int64_t at = column.offset + row
    cdef const int32_t *narrow
    cdef const int64_t *wide
    cdef const uint8_t *view
    cdef int32_t parts[4]
    if is_null(column, row):
        size[0] = -1
        return NULL
    if column.kind == BYTES_32:
        narrow = <const int32_t *> column.values
        size[0] = narrow[at + 1] - narrow[at]
        return column.data + narrow[at]
    if column.kind == BYTES_64:
        wide = <const int64_t *> column.values
        size[0] = wide[at + 1] - wide[at]
        return column.data + wide[at]
    view = <const uint8_t *> column.values + 16 * at
    memcpy(parts, view, 16)
    size[0] = parts[0]
    if parts[0] <= 12:
        return view + 4
    return <const uint8_t *> column.buffers[parts[2]] + parts[3]


cdef inline int64_t int_of(const Column *column, int64_t row) noexcept nogil:
    """Return a number. A uint64 that is too large for int64 becomes negative."""
    cdef int64_t at = column.offset + row
    if column.kind == INT_64 or column.kind == UINT_64:
        return (<const int64_t *> column.values)[at]
    if column.kind == INT_32:
        return (<const int32_t *> column.values)[at]
    if column.kind == INT_8:
        return (<const int8_t *> column.values)[at]
    if column.kind == UINT_8:
        return (<const uint8_t *> column.values)[at]
    if column.kind == INT_16:
        return (<const int16_t *> column.values)[at]
    if column.kind == UINT_16:
        return (<const uint16_t *> column.values)[at]
    return (<const uint32_t *> column.values)[at]


cdef object number_of(const Column *column, int64_t row):
    """Return a number as a Python int, also a large uint64."""
    cdef int64_t number = int_of(column, row)
    return <uint64_t> number if column.kind == UINT_64 else number


cdef inline int64_t milliseconds_of(const Column *column, int64_t row) noexcept nogil:
    """Return a timestamp in ms; NO_INT64 for one that does not fit 64 bits, or is that very time."""
    cdef int64_t ticks = int_of(column, row), time_ms
    if column.multiply > 1 and not -MAX_SECONDS <= ticks <= MAX_SECONDS:
        return NO_INT64
    if column.divide == 1:
        return ticks * column.multiply
    time_ms = ticks // column.divide
    return time_ms - 1 if ticks < 0 and time_ms * column.divide != ticks else time_ms


cdef inline void list_of(const Column *column, int64_t row, int64_t *start, int64_t *stop) noexcept nogil:
    """Set where the entries of a list start and stop; a null has none."""
    cdef int64_t at = column.offset + row
    start[0] = stop[0] = 0
    if is_null(column, row):
        return
    if column.kind == LIST_32:
        start[0] = (<const int32_t *> column.values)[at]
        stop[0] = (<const int32_t *> column.values)[at + 1]
    else:
        start[0] = (<const int64_t *> column.values)[at]
        stop[0] = (<const int64_t *> column.values)[at + 1]


cdef str to_text(const Column *column, int64_t at, name, int64_t row):
    """Return a field of text; None for a null. Raises: SerializationError unless it is UTF-8."""
    text = to_bytes(column, at)
    try:
        return None if text is None else (<bytes> text).decode()
    except UnicodeDecodeError:
        raise no_utf8(name, row) from None


cdef bint is_utf8(const uint8_t *text, int64_t size) noexcept:
    cdef int64_t i
    for i in range(size):
        if text[i] > 0x7F:
            try:
                PyUnicode_DecodeUTF8(<char *> text, size, NULL)
            except UnicodeDecodeError:
                return False
            return True
    return True


cdef object to_bytes(const Column *column, int64_t row):
    cdef int64_t size
    cdef const uint8_t *at = bytes_of(column, row, &size)
    return None if size < 0 else PyBytes_FromStringAndSize(<const char *> at, size)


# Fields, written in a record's format…

cdef inline int varint_size(int64_t number) noexcept nogil:
    cdef uint64_t raw = (<uint64_t> number << 1) ^ <uint64_t> (number >> 63)
    cdef int size = 1
    while raw > 0x7F:
        raw >>= 7
        size += 1
    return size


cdef inline char *put_varint(char *at, int64_t number) noexcept nogil:
    cdef uint64_t raw = (<uint64_t> number << 1) ^ <uint64_t> (number >> 63)
    while raw > 0x7F:
        at[0] = <char> (raw & 0x7F | 0x80)
        raw >>= 7
        at += 1
    at[0] = <char> raw
    return at + 1


cdef inline int64_t field_size(int64_t size) noexcept nogil:
    return 1 if size < 0 else varint_size(size) + size


cdef inline char *put_field(char *at, const uint8_t *field, int64_t size) noexcept nogil:
    at = put_varint(at, size)  # -1: a null, which has no bytes
    if size > 0:
        memcpy(at, field, size)
        at += size
    return at


cdef inline int push(array numbers, uint32_t number) except -1:
    cdef Py_ssize_t size = len(numbers)
    resize_smart(numbers, size + 1)
    numbers.data.as_uints[size] = number
    return 0


cdef class ArrowRows:
    """As the twin."""

    cdef ArrowArray _array
    cdef Column _topics, _partitions, _timestamps, _timestamp_types, _keys, _values
    cdef Column _headers, _entries, _names, _contents
    cdef readonly bint has_topics, has_partitions, has_timestamps

    def __cinit__(self):
        memset(&self._array, 0, sizeof(self._array))

    def __init__(self):
        raise TypeError("ArrowRows are made by arrow_batches()")

    def __dealloc__(self):
        if self._array.release != NULL:
            self._array.release(&self._array)

    def __len__(self):
        """As the twin."""
        return self._array.length

    cdef int _read_columns(self, ArrowSchema *schema) except -1:
        """Find the columns in the array. `check_schema` has checked their types."""
        cdef int64_t i
        cdef ArrowSchema *field
        cdef ArrowArray *column
        cdef ArrowArray *entries
        cdef dict places = {}
        for i in range(schema.n_children):
            field = schema.children[i]
            column = self._array.children[i]
            name = name_of(field)
            kind = (<bytes> field.format).decode()
            if name == "topic":
                set_column(&self._topics, _TEXT_KINDS.get(kind), column, self._array.offset)
                self.has_topics = True
            elif name == "partition":
                set_column(&self._partitions, _INT_KINDS.get(kind), column, self._array.offset)
                self.has_partitions = True
            elif name == "timestamp":
                set_column(
                    &self._timestamps, None if kind == "n" else INT_64, column, self._array.offset
                )
                self._timestamps.multiply, self._timestamps.divide = (
                    _TICKS[kind[2]] if kind[0] == "t" else (1, 1)
                )
                self.has_timestamps = True
            elif name == "timestamp_type":
                set_column(
                    &self._timestamp_types, _INT_KINDS.get(kind), column, self._array.offset
                )
            elif name == "key":
                set_column(&self._keys, _BYTES_KINDS.get(kind), column, self._array.offset)
            elif name == "value":
                set_column(&self._values, _BYTES_KINDS.get(kind), column, self._array.offset)
            elif name == "headers" and kind != "n":
                set_column(&self._headers, _LIST_KINDS[kind], column, self._array.offset)
                field = field.children[0]
                entries = column.children[0]
                set_column(&self._entries, LIST_32, entries, 0)
                set_column(
                    &self._names, _TEXT_KINDS[(<bytes> field.children[0].format).decode()],
                    entries.children[0], entries.offset,
                )
                set_column(
                    &self._contents, _BYTES_KINDS[(<bytes> field.children[1].format).decode()],
                    entries.children[1], entries.offset,
                )
        self._read_null_rows()
        return 0

    cdef void _read_null_rows(self) noexcept:
        """Make all fields of a null row null."""
        cdef const uint8_t *validity
        if self._array.null_count == 0 or self._array.n_buffers < 1:
            return
        validity = <const uint8_t *> self._array.buffers[0]
        set_rows(&self._topics, validity, self._array.offset)
        set_rows(&self._partitions, validity, self._array.offset)
        set_rows(&self._timestamps, validity, self._array.offset)
        set_rows(&self._timestamp_types, validity, self._array.offset)
        set_rows(&self._keys, validity, self._array.offset)
        set_rows(&self._values, validity, self._array.offset)
        set_rows(&self._headers, validity, self._array.offset)

    # Rows one by one…

    def topic(self, int64_t row):
        """As the twin."""
        topic = to_text(&self._topics, self._checked(row), "topic", row)
        if topic is None:
            raise null_in("topic", row)
        return topic

    def partition(self, int64_t row):
        """As the twin."""
        row = self._checked(row)
        return None if is_null(&self._partitions, row) else number_of(&self._partitions, row)

    def timestamp_ms(self, int64_t row):
        """As the twin."""
        row = self._checked(row)
        if is_null(&self._timestamps, row):
            return NO_TIMESTAMP if self._has_none(row) else None
        ticks = int_of(&self._timestamps, row)  # as a Python int, which cannot overflow
        return ticks * self._timestamps.multiply // self._timestamps.divide

    def timestamps_ms(self, array rows not None, int64_t default_ms):
        """As the twin."""
        cdef Py_ssize_t count = self._checked_rows(rows), i
        cdef array times = _new_array("q", bytes(8 * count))
        cdef uint32_t row
        for i in range(count):
            row = rows.data.as_uints[i]
            times.data.as_longlongs[i] = self._time_of(row, default_ms)
        return times

    cdef bint _has_none(self, int64_t row) noexcept:
        """Whether the row is a consumed record of a format without timestamps."""
        return (
            not is_null(&self._timestamp_types, row)
            and int_of(&self._timestamp_types, row) == NO_TIMESTAMP
        )

    cdef inline int64_t _time_of(self, int64_t row, int64_t default_ms) noexcept:
        if not is_null(&self._timestamps, row):
            return milliseconds_of(&self._timestamps, row)
        return NO_TIMESTAMP if self._has_none(row) else default_ms

    def key(self, int64_t row):
        """As the twin."""
        return to_bytes(&self._keys, self._checked(row))

    def value(self, int64_t row):
        """As the twin."""
        return to_bytes(&self._values, self._checked(row))

    def headers(self, int64_t row):
        """As the twin."""
        cdef int64_t start, stop, i
        list_of(&self._headers, self._checked(row), &start, &stop)
        headers = []
        for i in range(start, stop):
            name = None
            if not is_null(&self._entries, i):
                name = to_text(&self._names, i, "headers", row)
            if name is None:
                raise null_in("headers", row)
            headers.append((name, to_bytes(&self._contents, i)))
        return tuple(headers)

    cdef int64_t _checked(self, int64_t row) except -1:
        if not 0 <= row < self._array.length:
            raise IndexError(f"there is no row {row}")
        return row

    cdef Py_ssize_t _checked_rows(self, array rows) except -1:
        """Return the length of an array("I") of row numbers, after checking that all exist."""
        cdef Py_ssize_t i
        if rows.ob_descr.typecode != c"I":
            raise TypeError("rows are an array of type I")
        for i in range(len(rows)):
            if rows.data.as_uints[i] >= <uint64_t> self._array.length:
                raise IndexError(f"there is no row {rows.data.as_uints[i]}")
        return len(rows)

    # Sorting…

    def numbers(self, uint32_t start, uint32_t stop):
        """As the twin."""
        cdef array rows = _new_array("I", bytes(4 * (stop - start) if start < stop else 0))
        cdef uint32_t row
        for row in range(start, stop):
            rows.data.as_uints[row - start] = row
        return rows

    def by_topic(self, int64_t start, int64_t stop):
        """As the twin."""
        cdef dict parts = {}
        cdef array part = None
        cdef int64_t row, size, last_size = -1
        cdef const uint8_t *topic
        cdef const uint8_t *last = NULL
        for row in range(start, stop):
            topic = bytes_of(&self._topics, self._checked(row), &size)
            if size < 0 or size != last_size or memcmp(topic, last, size):
                name = self.topic(row)
                part = parts.get(name)
                if part is None:
                    part = parts[name] = _new_array("I")
                last = topic
                last_size = size
            push(part, <uint32_t> row)
        return list(parts.items())

    def by_partition(self, array rows not None, int64_t count, *, bint by_key, bint by_column):
        """As the twin."""
        cdef list parts = [None] * (count + 1)  # the last part is for rows without a partition
        cdef dict others = {}
        cdef array part
        cdef Py_ssize_t i
        cdef int64_t partition, size
        cdef uint32_t row
        cdef const uint8_t *key
        for i in range(self._checked_rows(rows)):
            row = rows.data.as_uints[i]
            partition = count
            if by_column and not is_null(&self._partitions, row):
                partition = int_of(&self._partitions, row)
                if not 0 <= partition < count:
                    number = number_of(&self._partitions, row)
                    if number not in others:
                        others[number] = _new_array("I")
                    push(others[number], row)
                    continue
            elif by_key:
                key = bytes_of(&self._keys, row, &size)
                if size >= 0:
                    partition = (alk_murmur2(key, <size_t> size) & 0x7FFFFFFF) % count
            part = parts[partition]
            if part is None:
                part = parts[partition] = _new_array("I")
            push(part, row)
        return [
            (None if i == count else i, part) for i, part in enumerate(parts) if part is not None
        ] + list(others.items())

    # Into batches…

    def append_to(
        self,
        builder not None,
        array rows not None,
        Py_ssize_t start,
        int64_t timestamp_ms,
        *,
        bint use_timestamps,
    ):
        """As the twin."""
        cdef Py_ssize_t count = len(rows), at
        cdef uint32_t row
        cdef int64_t time_ms
        if rows.ob_descr.typecode != c"I" or start < 0:
            raise TypeError("rows are an array of type I, of which none comes before the first")
        if not isinstance(builder, RecordBatchBuilder):
            return self._append_to_any(builder, rows, start, timestamp_ms, use_timestamps)
        for at in range(start, count):
            row = rows.data.as_uints[at]
            self._checked(row)
            time_ms = self._time_of(row, timestamp_ms) if use_timestamps else timestamp_ms
            if time_ms == NO_INT64 or not self._append(<RecordBatchBuilder> builder, row, time_ms):
                return at - start
        return max(count - start, 0)

    cdef bint _append(self, RecordBatchBuilder builder, int64_t row, int64_t time_ms) noexcept:
        """Append a row; return False without room for it, or if it cannot be sent."""
        cdef int64_t key_size, value_size, name_size, content_size, first, behind, i, size, end
        cdef int64_t delta = 0
        cdef const uint8_t *key = bytes_of(&self._keys, row, &key_size)
        cdef const uint8_t *value = bytes_of(&self._values, row, &value_size)
        cdef const uint8_t *name
        cdef const uint8_t *content
        cdef int32_t count = builder._count
        cdef char *at
        if key_size < 0 and value_size < 0:
            return False
        if count:
            delta = <int64_t> (<uint64_t> time_ms - <uint64_t> builder._base_timestamp)
        size = 1 + varint_size(delta) + varint_size(count)
        size += field_size(key_size) + field_size(value_size)
        list_of(&self._headers, row, &first, &behind)
        size += varint_size(behind - first)
        for i in range(first, behind):
            name = bytes_of(&self._names, i, &name_size)
            if name_size < 0 or is_null(&self._entries, i) or not is_utf8(name, name_size):
                return False
            bytes_of(&self._contents, i, &content_size)
            size += field_size(name_size) + field_size(content_size)
        end = builder._position + varint_size(size) + size
        if end > builder._limit or count == MAX_RECORDS or size > MAX_RECORD_BYTES:
            return False
        if not count:
            builder._have_pages()
        at = put_varint(builder._data + builder._position, size)
        at[0] = 0  # attributes
        at = put_varint(at + 1, delta)
        at = put_varint(at, count)
        at = put_field(at, key, key_size)
        at = put_field(at, value, value_size)
        at = put_varint(at, behind - first)
        for i in range(first, behind):
            name = bytes_of(&self._names, i, &name_size)
            at = put_field(at, name, name_size)
            content = bytes_of(&self._contents, i, &content_size)
            at = put_field(at, content, content_size)
        builder._position = end
        builder._count = count + 1
        if not count:
            builder._base_timestamp = builder._max_timestamp = time_ms
        elif time_ms > builder._max_timestamp:
            builder._max_timestamp = time_ms
        return True

    cdef object _append_to_any(
        self, builder, array rows, Py_ssize_t start, int64_t timestamp_ms, bint use_timestamps
    ):
        """Do the same as `append_to` for a builder in Python."""
        cdef Py_ssize_t at
        for at in range(start, len(rows)):
            row = rows[at]
            key, value = self.key(row), self.value(row)
            time_ms = self.timestamp_ms(row) if use_timestamps else None
            if time_ms is None:
                time_ms = timestamp_ms
            try:
                headers = self.headers(row)
            except SerializationError:
                return at - start
            if (key is None and value is None) or not 0 <= time_ms <= MAX_TIMESTAMP:
                return at - start
            if builder.append(time_ms, key, value, headers) is None:
                return at - start
        return max(len(rows) - start, 0)


cdef void set_column(Column *column, kind, ArrowArray *array, int64_t offset) noexcept:
    """Store the address of a column. `kind` None: all its values are null. `offset`: the parent's.
    """
    if kind is None:
        column.kind = ABSENT
        return
    column.kind = kind
    column.offset = array.offset + offset
    column.validity = <const uint8_t *> array.buffers[0] if array.null_count != 0 else NULL
    if array.n_buffers > 1:
        column.values = array.buffers[1]
    if array.n_buffers > 2:
        column.data = <const uint8_t *> array.buffers[2]
        column.buffers = array.buffers + 2


# Where the rows come from…

def arrow_batches(data):
    """As the twin."""
    if hasattr(data, "__arrow_c_array__"):
        return iter((_only_batch(data),))
    if hasattr(data, "__arrow_c_stream__"):
        return _ArrowStream(data.__arrow_c_stream__())
    raise no_arrow(data)


cdef ArrowRows _only_batch(data):
    cdef ArrowSchema *schema
    cdef ArrowArray *moved
    cdef ArrowRows rows = ArrowRows.__new__(ArrowRows)
    schema_capsule, array_capsule = data.__arrow_c_array__()
    schema = <ArrowSchema *> PyCapsule_GetPointer(schema_capsule, "arrow_schema")
    moved = <ArrowArray *> PyCapsule_GetPointer(array_capsule, "arrow_array")
    check_schema(schema)
    rows._array = moved[0]
    moved.release = NULL  # `rows` releases the array from now on
    rows._read_columns(schema)
    return rows


cdef class _ArrowStream:
    """The batches of a stream."""

    cdef object _capsule
    cdef ArrowSchema _schema

    def __cinit__(self, capsule):
        cdef ArrowArrayStream *stream
        memset(&self._schema, 0, sizeof(self._schema))
        self._capsule = capsule
        stream = <ArrowArrayStream *> PyCapsule_GetPointer(capsule, "arrow_array_stream")
        check_stream(stream, stream.get_schema(stream, &self._schema))
        check_schema(&self._schema)

    def __dealloc__(self):
        if self._schema.release != NULL:
            self._schema.release(&self._schema)

    def __iter__(self):
        return self

    def __next__(self):
        cdef ArrowRows rows = ArrowRows.__new__(ArrowRows)
        cdef ArrowArrayStream *stream = <ArrowArrayStream *> PyCapsule_GetPointer(
            self._capsule, "arrow_array_stream"
        )
        cdef int code
        with nogil:  # the stream may read a file, or wait for a thread that runs Python code
            code = stream.get_next(stream, &rows._array)
        check_stream(stream, code)
        if rows._array.release == NULL:
            raise StopIteration
        rows._read_columns(&self._schema)
        return rows


cdef int check_stream(ArrowArrayStream *stream, int code) except -1:
    """Raise OSError if a stream reported an error."""
    cdef const char *said
    if code:
        said = stream.get_last_error(stream)
        words = "the Arrow stream failed" if said == NULL else (<bytes> said).decode("utf-8", "replace")
        raise OSError(code, words)
    return 0


cdef inline void set_rows(Column *column, const uint8_t *validity, int64_t offset) noexcept:
    column.rows_validity = validity
    column.rows_offset = offset


cdef str name_of(ArrowSchema *field):
    """Return the name of a column; "" if it has none."""
    return "" if field.name == NULL else (<bytes> field.name).decode("utf-8", "replace")


cdef int check_schema(ArrowSchema *schema) except -1:
    """Raise SerializationError for an unknown column, or for a column of a wrong type."""
    cdef int64_t i
    cdef ArrowSchema *field
    if schema.format[0] != c"+" or schema.format[1] != c"s":
        raise no_batch()
    check_columns([name_of(schema.children[i]) for i in range(schema.n_children)])
    for i in range(schema.n_children):
        field = schema.children[i]
        name = name_of(field)
        kind = (<bytes> field.format).decode()
        if field.dictionary != NULL or not is_taken(name, kind, field):
            what = "dictionary" if field.dictionary != NULL else _NAMES.get(kind, repr(kind))
            raise wrong_type(name, what)
    return 0


cdef bint is_taken(name, kind, ArrowSchema *field) except *:
    cdef ArrowSchema *entry
    if name == "topic":
        return kind in _TEXT_KINDS
    if name in ("offset", "timestamp_type") or kind == "n":
        return True
    if name == "partition":
        return kind in _INT_KINDS
    if name == "timestamp":
        return kind == "l" or (kind.startswith("ts") and kind[2] in _TICKS)
    if name in ("key", "value"):
        return kind in _BYTES_KINDS
    if kind not in _LIST_KINDS:
        return False
    entry = field.children[0]
    if entry.format[0] != c"+" or entry.format[1] != c"s" or entry.n_children != 2:
        return False
    if entry.children[0].dictionary != NULL or entry.children[1].dictionary != NULL:
        return False
    return (
        (<bytes> entry.children[0].format).decode() in _TEXT_KINDS
        and (<bytes> entry.children[1].format).decode() in _BYTES_KINDS
    )


__all__ = ["ArrowRows", "arrow_batches"]
