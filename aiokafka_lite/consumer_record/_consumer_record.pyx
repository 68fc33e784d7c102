# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
# cython: preliminary_late_includes_cy28=True
"""The record that consumers return, in 80 bytes: the native twin of `_consumer_record_py`.

To the user it is that dataclass. Topic, partition and timestamp type, which most records share, are
in one object, the `RecordOrigin`. Offset, timestamp and sizes are C integers. Headers stay
undecoded bytes until they are read. The `__dict__` is made when an attribute is set that is not a
field.

A record from the reader refers to nothing that could refer back. So the garbage collector does not
track it, and never walks over a million held records. Tracking begins when an attribute is set or
the `__dict__` is read.
"""

cimport cython

from copyreg import __newobj__
from types import GenericAlias

from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject, PyObject_GenericSetAttr, PyTypeObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint8_t

from aiokafka_lite.checks.quoted import record_text
from aiokafka_lite.consumer_record import _consumer_record_py


# Only functions are declared here, because Cython then places the text behind the struct it uses.
cdef extern from *:
    """
    #include <stddef.h>
    #include <structmember.h>
    #include "plain_record.h"
    #include "spare_bytes.h"

    typedef struct __pyx_obj_13aiokafka_lite_15consumer_record_16_consumer_record_ConsumerRecord AlkRecord;

    /* Key and value are read more often than all the rest. As members of the struct the interpreter
     * finds them by their place, which it does for nothing that has a getter. They are set by
     * __setattr__ alone, which has the record tracked: so an untracked one has what it was made with.
     */
    static PyMemberDef alk_key = {
        "key", T_OBJECT_EX, offsetof(AlkRecord, key_), READONLY,
        PyDoc_STR("None without a key.")};
    static PyMemberDef alk_value = {
        "value", T_OBJECT_EX, offsetof(AlkRecord, value_), READONLY,
        PyDoc_STR("None without a value.")};

    /* Freed records wait here for the next ones: a consumer lets go about as many as it takes. Their
     * key and value wait with the first ones, where `alk_keeps` says so. A field without one is NULL,
     * or it is None as the headers are: most records of a topic have no key, or all have one.
     * Guarded by the interpreter's lock; where there is none, nothing waits. */
    #define ALK_SPARE_MAX 1024
    #define ALK_SPARE_FULL_MAX 512
    #define ALK_DYING INT32_MIN /* the size of no key */
    static PyObject *alk_spare[ALK_SPARE_MAX];
    static int alk_spares;
    static PyTypeObject *alk_record_type;

    /* What PyObject_GC_IsTracked returns. The call takes as long as to free the record. */
    static inline int alk_is_tracked(PyObject *self) {
    #if defined(Py_GIL_DISABLED) || PY_VERSION_HEX >= 0x030F0000
        return PyObject_GC_IsTracked(self);
    #else
        return ((uintptr_t *)self)[-2] != 0; /* the first word of the collector's head */
    #endif
    }

    /* Let a field of an untracked record wait with it, or empty the field. */
    static void alk_leave(PyObject **field, int keeps) {
        PyObject *value = *field;
        if (value != Py_None && !(keeps && alk_keeps(value))) {
            *field = NULL;
            alk_let_go(value);
        }
    }

    /* Empty a record, and free it or let it wait. */
    static void alk_end_record(PyObject *self, int was_tracked) {
        AlkRecord *record = (AlkRecord *)self;
        PyTypeObject *type = Py_TYPE(self);
        int waits = type == alk_record_type && alk_spares < ALK_SPARE_MAX;
        if (was_tracked) {
            Py_CLEAR(record->key_);
            Py_CLEAR(record->value_);
        } else {
            int keeps = waits && alk_spares < ALK_SPARE_FULL_MAX;
            alk_leave(&record->key_, keeps);
            alk_leave(&record->value_, keeps);
        }
        if (record->headers_ != Py_None)
            Py_XSETREF(record->headers_, Py_NewRef(Py_None));
        Py_XDECREF((PyObject *)record->origin);
        Py_CLEAR(record->__dict__);
        if (waits && alk_spares < ALK_SPARE_MAX) { /* what was dropped may have freed others */
            alk_spare[alk_spares++] = self;
        } else {
            Py_CLEAR(record->key_);
            Py_CLEAR(record->value_);
            Py_CLEAR(record->headers_);
            type->tp_free(self);
        }
    }

    static void alk_free_record(PyObject *self);

    /* Free a record of any kind. A tracked one may refer to another, and that to the next. So many
     * calls in each other would use up the stack: beyond a few, the interpreter calls this again for
     * each, later. The collector does not know of such a record any more, so its size tells. */
    Py_NO_INLINE static void alk_free_any_record(PyObject *self) {
        AlkRecord *record = (AlkRecord *)self;
        if (!alk_is_tracked(self) && record->key_size != ALK_DYING) {
            alk_end_record(self, 0);
            return;
        }
        PyObject_GC_UnTrack(self);
        record->key_size = ALK_DYING;
        if (record->headers_ == Py_None)
            Py_CLEAR(record->headers_); /* so that it does not count as one that waits as it is */
        Py_TRASHCAN_BEGIN(self, alk_free_record)
        alk_end_record(self, 1);
        Py_TRASHCAN_END
    }

    /* Tell whether a record waits just as it is. */
    static inline int alk_waits(AlkRecord *record) {
        if (Py_TYPE(record) != alk_record_type || alk_spares >= ALK_SPARE_FULL_MAX)
            return 0;
        if (alk_is_tracked((PyObject *)record) || record->headers_ != Py_None)
            return 0;
        if (record->key_ != Py_None && !alk_keeps(record->key_))
            return 0;
        return record->value_ == Py_None || alk_keeps(record->value_);
    }

    /* Free a record. Most wait as they are, and that takes no call, so there are no registers to
     * save. */
    static void alk_free_record(PyObject *self) {
        AlkRecord *record = (AlkRecord *)self;
        if (!alk_waits(record) || Py_REFCNT(record->origin) == 1) {
            alk_free_any_record(self);
            return;
        }
        Py_SET_REFCNT(record->origin, Py_REFCNT(record->origin) - 1);
        alk_spare[alk_spares++] = self;
    }

    /* Tell whether bare records can be made: not where the interpreter has no lock, or where Cython
     * made a type on the heap. Then records are made as those of any class. */
    static int alk_set_up(PyObject *type) {
        PyTypeObject *record_type = (PyTypeObject *)type;
    #ifdef Py_GIL_DISABLED
        return 0;
    #else
        if (record_type->tp_flags & Py_TPFLAGS_HEAPTYPE)
            return 0;
        alk_record_type = record_type;
        record_type->tp_dealloc = alk_free_record;
        record_type->tp_name = "aiokafka_lite.model.ConsumerRecord";
        return 1;
    #endif
    }

    /* Take the newest record that waits. */
    static inline AlkRecord *alk_revived(void) {
        PyObject *spare = alk_spare[--alk_spares];
    #ifdef Py_REF_DEBUG
        PyObject_Init(spare, alk_record_type);
    #else
        Py_SET_REFCNT(spare, 1); /* it has kept its type, which is no object of the heap */
    #endif
        return (AlkRecord *)spare;
    }

    /* Return a record that the collector does not know of, with fields as one that has waited. */
    static AlkRecord *alk_new_record(void) {
        AlkRecord *made = PyObject_GC_New(AlkRecord, alk_record_type);
        if (made != NULL) {
            made->key_ = made->value_ = NULL;
            made->headers_ = Py_NewRef(Py_None);
            made->__dict__ = NULL;
        }
        return made;
    }

    /* Put a `bytes` of that content into a field, where one may wait; None if the size is negative. */
    static inline int alk_fill(PyObject **field, const uint8_t *content, int32_t size) {
        PyObject *waiting = *field;
        if (size < 0) {
            if (waiting == Py_None)
                return 0;
            *field = Py_NewRef(Py_None);
        } else {
            if (waiting != NULL && waiting != Py_None && alk_fits(waiting, size)) {
                alk_rewrite(waiting, content, size);
                return 0;
            }
            *field = alk_bytes(content, size);
        }
        if (waiting != NULL)
            alk_let_go(waiting);
        return *field == NULL ? -1 : 0;
    }

    /* Fill a bare record. Drop it if there is no memory. */
    static inline int alk_fill_record(
            AlkRecord *record, PyObject *origin, int64_t offset, int64_t timestamp,
            const uint8_t *key, int32_t key_size, const uint8_t *value, int32_t value_size) {
        record->origin = (void *)Py_NewRef(origin);
        record->offset_ = offset;
        record->timestamp_ = timestamp;
        record->key_size = key_size;
        record->value_size = value_size;
        if (alk_fill(&record->key_, key, key_size) < 0 ||
                alk_fill(&record->value_, value, value_size) < 0) {
            if (record->key_ == NULL)
                record->key_ = Py_NewRef(Py_None);
            if (record->value_ == NULL)
                record->value_ = Py_NewRef(Py_None);
            Py_DECREF((PyObject *)record);
            return -1;
        }
        return 0;
    }

    static PyObject *alk_make_record(
            PyObject *origin, int64_t offset, int64_t timestamp, const uint8_t *key,
            int32_t key_size, const uint8_t *value, int32_t value_size, PyObject *headers) {
        AlkRecord *record = alk_spares > 0 ? alk_revived() : alk_new_record();
        if (record == NULL ||
                alk_fill_record(record, origin, offset, timestamp, key, key_size, value,
                                value_size) < 0)
            return NULL;
        if (headers != Py_None)
            Py_SETREF(record->headers_, Py_NewRef(headers));
        return (PyObject *)record;
    }

    /* Make the next `count` records while they are plain, and put each where `slot` points. There is
     * a slot for each, and a spare if `has_spares`. Return how many were made, and whether it failed. */
    static inline Py_ssize_t alk_make_some(
            PyObject *origin, AlkPlainRun *run, PyObject **slot, Py_ssize_t count,
            const int has_spares, int *failed) {
        const int64_t base_offset = run->base_offset, first_offset = run->first_offset;
        const int64_t timestamp_mask = run->timestamp_mask;
        const uint8_t *at = run->at, *const end = run->end, *near_end = end - ALK_PLAIN_NUMBERS;
        PyObject **const first = slot, **const last = slot + count;
        Py_ssize_t made;
        AlkRawRecord raw;
        if (near_end >= run->stop)
            near_end = run->stop - 1;
        while (slot < last && at <= near_end && alk_read_plain_record(at, end, &raw)) {
            AlkRecord *record;
            int64_t offset = base_offset + raw.offset_delta;
            if (offset < first_offset)
                break;
            record = has_spares ? alk_revived() : alk_new_record();
            /* A timestamp wraps around like a long in Java. */
            if (record == NULL ||
                    alk_fill_record(
                        record, origin, offset,
                        (int64_t)((uint64_t)run->base_timestamp +
                                  (uint64_t)(raw.timestamp_delta & timestamp_mask)),
                        raw.key, (int32_t)raw.key_size, raw.value, (int32_t)raw.value_size) < 0) {
                *failed = -1;
                break;
            }
            *slot++ = (PyObject *)record;
            at = raw.end;
        }
        made = slot - first;
        run->at = at;
        run->left -= made;
        return made;
    }

    /* Append the next records to a list while they are plain. What a batch has in common stays in
     * registers. A call for each record costs a quarter more. */
    static int alk_make_plain_records(PyObject *origin, AlkPlainRun *run, PyObject *records) {
        int failed = 0;
    #ifndef Py_GIL_DISABLED
        PyListObject *list = (PyListObject *)records;
        Py_ssize_t size, count, made;
        do {
            size = PyList_GET_SIZE(records);
            count = Py_MIN(run->left, list->allocated - size);
            if (alk_spares > 0) {
                count = Py_MIN(count, alk_spares);
                made = alk_make_some(origin, run, list->ob_item + size, count, 1, &failed);
                Py_SET_SIZE(list, size + made);
            } else {
                /* A new record may set off a collection, which may free others. */
                PyObject *record = NULL;
                count = Py_MIN(count, 1);
                made = alk_make_some(origin, run, &record, count, 0, &failed);
                if (made > 0) {
                    failed = PyList_Append(records, record);
                    Py_DECREF(record);
                }
            }
        } while (count > 0 && made == count && !failed);
    #endif
        return failed;
    }

    /* Make room for that many items in a list that has none. */
    static int alk_make_room(PyObject *records, Py_ssize_t count) {
    #ifndef Py_GIL_DISABLED
        PyListObject *list = (PyListObject *)records;
        if (list->ob_item == NULL && count > 0 && count <= PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(PyObject *)) {
            list->ob_item = PyMem_New(PyObject *, count);
            if (list->ob_item == NULL) {
                PyErr_NoMemory();
                return -1;
            }
            list->allocated = count;
        }
    #endif
        return 0;
    }

    static void alk_track(PyObject *self) {
        if (!PyObject_GC_IsTracked(self))
            PyObject_GC_Track(self);
    }

    static int alk_has_dict(PyObject *self) {
        return ((AlkRecord *)self)->__dict__ != NULL;
    }

    static int alk_delete(PyObject *self, PyObject *name) {
        return PyObject_GenericSetAttr(self, name, NULL);
    }

    static int alk_add_members(PyObject *type, PyObject *own) {
        PyTypeObject *record_type = (PyTypeObject *)type;
        PyMemberDef *members[] = {&alk_key, &alk_value};
        for (int i = 0; i < 2; i++) {
            PyObject *member = PyDescr_NewMember(record_type, members[i]);
            if (member == NULL)
                return -1;
            int failed = PyDict_SetItemString(own, members[i]->name, member);
            Py_DECREF(member);
            if (failed)
                return -1;
        }
        return 0;
    }
    """
    bint alk_set_up(object record_type)
    object alk_make_record(
        object origin, int64_t offset, int64_t timestamp, const uint8_t *key, int32_t key_size,
        const uint8_t *value, int32_t value_size, object headers
    )
    int alk_make_plain_records(object origin, PlainRun *run, object records) except -1
    int alk_make_room(object records, Py_ssize_t count) except -1
    void alk_track(object record)
    int alk_add_members(object record_type, object own) except -1
    bint alk_has_dict(object record)
    int alk_delete(object record, object name) except -1
    object PyObject_GenericGetDict(object of, void *context)
    void PyType_Modified(PyTypeObject *record_type)
    int Py_ReprEnter(object of) except -1
    void Py_ReprLeave(object of)


cdef extern from "varint.h":
    int alk_read_varint(const uint8_t **at, const uint8_t *end, int max_bytes, int64_t *value)


@cython.auto_pickle(False)
cdef class RecordOrigin:
    """The common fields of a batch's records, and field values that their C types cannot hold.

    `odd` is None without such values, and then the getters stop there.
    """



cdef RecordOrigin make_origin(object topic, object partition, object timestamp_type):
    cdef RecordOrigin origin = RecordOrigin.__new__(RecordOrigin)
    origin.topic, origin.partition, origin.timestamp_type = topic, partition, timestamp_type
    return origin


# Without methods, because they would cost every record a pointer to their table.


cdef object odd_or(ConsumerRecord record, str field, object value):
    """Return a field's value in a record with odd values: the odd value, or else `value`."""
    if record.origin is UNSET:
        raise AttributeError(f"a record without its {field}: it was made without __init__")
    return record.origin.odd.get(field, value)


cdef RecordOrigin own(ConsumerRecord record):
    """Return an origin that no other record has."""
    cdef RecordOrigin before = record.origin
    cdef RecordOrigin origin = make_origin(before.topic, before.partition, before.timestamp_type)
    origin.checksum, origin.delivery_count = before.checksum, before.delivery_count
    if before is not UNSET and before.odd is not None:
        origin.odd = before.odd.copy()
    record.origin = origin
    return origin


cdef int keep_odd(ConsumerRecord record, str field, object value) except -1:
    cdef RecordOrigin origin = own(record)
    if origin.odd is None:
        origin.odd = {}
    origin.odd[field] = value
    return 0


cdef bint is_int64(ConsumerRecord record, str field, object value, int64_t *number) except -1:
    """Return whether the C field holds the value from now on; store it as odd otherwise."""
    cdef int overflow = 0
    if PyLong_CheckExact(value):
        number[0] = PyLong_AsLongLongAndOverflow(value, &overflow)
        if not overflow:
            if record.origin.odd is not None and own(record).odd is not None:
                record.origin.odd.pop(field, None)
            return True
    keep_odd(record, field, value)
    return False


cdef bint is_int32(ConsumerRecord record, str field, object value, int32_t *number) except -1:
    cdef int64_t wide = 0
    if not is_int64(record, field, value, &wide):
        return False
    if not INT32_MIN <= wide <= INT32_MAX:
        keep_odd(record, field, value)
        return False
    number[0] = <int32_t>wide
    return True


cdef tuple fields(ConsumerRecord record):
    return (
        record.topic,
        record.partition,
        record.offset,
        record.timestamp,
        record.timestamp_type,
        record.key_,
        record.value_,
        record.checksum,
        record.serialized_key_size,
        record.serialized_value_size,
        record.headers,
    )


@cython.auto_pickle(False)
cdef class ConsumerRecord:

    def __cinit__(self, *_, **__):
        self.origin = UNSET

    def __init__(
        self,
        topic,
        partition,
        offset,
        timestamp,
        timestamp_type,
        key,
        value,
        checksum,
        serialized_key_size,
        serialized_value_size,
        headers,
    ):
        cdef RecordOrigin origin = make_origin(topic, partition, timestamp_type)
        alk_track(self)  # it has other objects from now on
        origin.checksum = checksum
        self.origin = origin
        self.key_ = key
        self.value_ = value
        self.offset = offset
        self.timestamp = timestamp
        self.serialized_key_size = serialized_key_size
        self.serialized_value_size = serialized_value_size
        self.headers = headers

    # Shared fields…

    @property
    def topic(self):
        if self.origin.odd is not None:
            return odd_or(self, "topic", self.origin.topic)
        return self.origin.topic

    @topic.setter
    def topic(self, topic):
        own(self).topic = topic

    @property
    def partition(self):
        if self.origin.odd is not None:
            return odd_or(self, "partition", self.origin.partition)
        return self.origin.partition

    @partition.setter
    def partition(self, partition):
        own(self).partition = partition

    @property
    def timestamp_type(self):
        """One of `TimestampType`."""
        if self.origin.odd is not None:
            return odd_or(self, "timestamp_type", self.origin.timestamp_type)
        return self.origin.timestamp_type

    @timestamp_type.setter
    def timestamp_type(self, timestamp_type):
        own(self).timestamp_type = timestamp_type

    @property
    def checksum(self):
        """The CRC of a magic 0 or 1 record; None for magic 2."""
        if self.origin.odd is not None:
            return odd_or(self, "checksum", self.origin.checksum)
        return self.origin.checksum

    @checksum.setter
    def checksum(self, checksum):
        own(self).checksum = checksum

    @property
    def delivery_count(self):
        """How often a share group has delivered the record; 0 outside of share groups."""
        return self.origin.delivery_count

    @delivery_count.setter
    def delivery_count(self, count):
        global undelivered, delivered
        cdef RecordOrigin origin = delivered, before = self.origin
        # Records of a batch that came equally often share an origin, as they did before.
        if before is not undelivered or origin.delivery_count != count:
            origin = own(self)
            origin.delivery_count = count
            if HAS_BARE_RECORDS:  # else other threads may be here at the same time
                undelivered, delivered = before, origin
        self.origin = origin

    # Numbers…

    @property
    def offset(self):
        if self.origin.odd is not None:
            return odd_or(self, "offset", self.offset_)
        return self.offset_

    @offset.setter
    def offset(self, offset):
        is_int64(self, "offset", offset, &self.offset_)

    @property
    def timestamp(self):
        """Milliseconds since the epoch; -1 for a record without a timestamp."""
        if self.origin.odd is not None:
            return odd_or(self, "timestamp", self.timestamp_)
        return self.timestamp_

    @timestamp.setter
    def timestamp(self, timestamp):
        is_int64(self, "timestamp", timestamp, &self.timestamp_)

    @property
    def serialized_key_size(self):
        """Bytes; -1 without a key."""
        if self.origin.odd is not None:
            return odd_or(self, "serialized_key_size", self.key_size)
        return self.key_size

    @serialized_key_size.setter
    def serialized_key_size(self, size):
        is_int32(self, "serialized_key_size", size, &self.key_size)

    @property
    def serialized_value_size(self):
        """Bytes; -1 without a value."""
        if self.origin.odd is not None:
            return odd_or(self, "serialized_value_size", self.value_size)
        return self.value_size

    @serialized_value_size.setter
    def serialized_value_size(self, size):
        is_int32(self, "serialized_value_size", size, &self.value_size)

    # Headers…

    @property
    def headers(self):
        """In the producer's order. A name may occur more than once. Parsed when first read."""
        # Without the interpreter's lock, two threads may be the first to read them.
        with cython.critical_section(self):
            headers = self.headers_
            if PyBytes_CheckExact(headers):
                headers = self.headers_ = read_headers(headers)
        if headers is None:
            return ()
        if headers is ODD:
            return odd_or(self, "headers", None)
        return headers

    @headers.setter
    def headers(self, headers):
        # these have another meaning in the field
        if headers is None or PyBytes_CheckExact(headers):
            keep_odd(self, "headers", headers)
            headers = ODD
        self.headers_ = headers

    # As a dataclass…

    def __eq__(self, other):
        if other.__class__ is not self.__class__:
            return NotImplemented
        return fields(self) == fields(other)

    def __ne__(self, other):
        equal = type(self).__eq__(self, other)  # a subclass may define its own
        return equal if equal is NotImplemented else not equal

    def __repr__(self):
        if Py_ReprEnter(self):
            return "..."
        try:
            named = zip(FIELDS, fields(self))
            text = ", ".join([f"{name}={record_text(value)}" for name, value in named])
            return f"{self.__class__.__qualname__}({text})"
        finally:
            Py_ReprLeave(self)

    def __reduce__(self):
        return __newobj__, (self.__class__,), self.__getstate__()

    def __getstate__(self):
        """Return the twin's `__dict__`, so that each twin reads the other's pickles."""
        state = dict(zip(FIELDS, fields(self)))
        if self.origin.delivery_count:
            state["delivery_count"] = self.origin.delivery_count
        if alk_has_dict(self):
            state.update(PyObject_GenericGetDict(self, NULL))
        return state

    def __setstate__(self, state):
        for name, value in state.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name != "delivery_count":
            alk_track(self)
        if name == "value":
            self.value_ = value
        elif name == "key":
            self.key_ = value
        else:
            PyObject_GenericSetAttr(self, name, value)

    def __delattr__(self, name):
        if name in FIELDS:
            raise AttributeError(f"a record keeps its {name}; set it to None instead")
        alk_track(self)
        alk_delete(self, name)


def own_attributes(ConsumerRecord record):
    """The attributes that are not fields, as a mutable dict."""
    alk_track(record)
    return PyObject_GenericGetDict(record, NULL)


cdef tuple read_headers(bytes section):
    """Return the headers in a section that the reader has checked."""
    cdef const uint8_t *at = <const uint8_t *>PyBytes_AS_STRING(section)
    cdef const uint8_t *end = at + PyBytes_GET_SIZE(section)
    cdef int64_t count = 0, size = 0
    cdef int fault = alk_read_varint(&at, end, 5, &count)
    cdef list headers = []
    while count > 0 and not fault:
        count -= 1
        fault = alk_read_varint(&at, end, 5, &size)
        if fault or not 0 <= size <= end - at:
            break
        # As Java's client: a name that is not UTF-8 is useless, but its record is useful.
        name = PyUnicode_DecodeUTF8(<const char *>at, size, "replace")
        at += size
        fault = alk_read_varint(&at, end, 5, &size)
        if fault or size > end - at:
            break
        if size < 0:
            headers.append((name, None))
        else:
            headers.append((name, PyBytes_FromStringAndSize(<const char *>at, size)))
            at += size
    return tuple(headers)


cdef object make_record(
    RecordOrigin origin, int64_t offset, int64_t timestamp, const uint8_t *key, int32_t key_size,
    const uint8_t *value, int32_t value_size, object headers
):
    """Return a record; a size of -1 means None. `headers` is None, or the batch's checked section."""
    cdef ConsumerRecord record
    if HAS_BARE_RECORDS:
        return alk_make_record(
            origin, offset, timestamp, key, key_size, value, value_size, headers
        )
    record = ConsumerRecord.__new__(ConsumerRecord)
    record.origin, record.offset_, record.timestamp_ = origin, offset, timestamp
    if key_size >= 0:
        record.key_ = PyBytes_FromStringAndSize(<const char *>key, key_size)
    if value_size >= 0:
        record.value_ = PyBytes_FromStringAndSize(<const char *>value, value_size)
    record.headers_ = headers
    record.key_size, record.value_size = key_size, value_size
    return record


cdef int make_plain_records(RecordOrigin origin, PlainRun *run, list records) except -1:
    """Append records while the next one is plain, and move `run` behind them.

    Nothing is appended where records are made as those of any class.
    """
    if not HAS_BARE_RECORDS:
        return 0
    alk_make_room(records, run.left)
    return alk_make_plain_records(origin, run, records)


cdef void complete_class() except *:
    """Add the parts of the class that Cython cannot express."""
    described = vars(_consumer_record_py.ConsumerRecord)
    cdef dict own = <dict>(<PyTypeObject *>ConsumerRecord).tp_dict
    alk_add_members(ConsumerRecord, own)
    for name in (
        "__doc__",
        "__annotations__",
        "__dataclass_fields__",
        "__dataclass_params__",
        "__match_args__",
        "__replace__",  # from Python 3.13 on
    ):
        if name in described:
            own[name] = described[name]
    own["__class_getitem__"] = classmethod(GenericAlias)
    own["__dict__"] = property(own_attributes)
    PyType_Modified(<PyTypeObject *>ConsumerRecord)


cdef bint HAS_BARE_RECORDS = alk_set_up(ConsumerRecord)
cdef tuple FIELDS = _consumer_record_py.ConsumerRecord.__match_args__
cdef object ODD = object()
cdef RecordOrigin UNSET = make_origin(None, None, None)  # of a record made without __init__
UNSET.odd = {}
cdef RecordOrigin undelivered = None, delivered = None  # the newest pair of `delivery_count`
complete_class()
