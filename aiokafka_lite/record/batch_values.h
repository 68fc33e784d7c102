/* Writes a run of values into a batch. Needs Python.h. */

#ifndef AIOKAFKA_LITE_BATCH_VALUES_H
#define AIOKAFKA_LITE_BATCH_VALUES_H

#include <Python.h>
#include <stdint.h>
#include <string.h>

#include "batch_memory.h"

#define ALK_VALUE_OVERHEAD 8 /* what a record counts for its sticky partition, beyond its value */

#if defined(__GNUC__) /* called for each number of a record */
__attribute__((always_inline))
#endif
static inline char *alk_put_varint(char *at, uint64_t raw)
{
    if (raw > 0x7F) {
        *at++ = (char)(raw | 0x80);
        for (raw >>= 7; raw > 0x7F; raw >>= 7)
            *at++ = (char)(raw | 0x80);
    }
    *at = (char)raw;
    return at + 1;
}

/* As RecordBatchBuilder.add_values, which says what it does. `*item` is an owned reference.
 * `iterator` is that of a list or tuple: it runs no other code. */
static Py_ssize_t alk_add_values(char *data, Py_ssize_t *position, Py_ssize_t limit,
                                 Py_ssize_t most_copied, int32_t count, uint64_t raw_delta,
                                 PyObject *iterator, PyObject **item, Py_ssize_t *left_bytes)
{
    iternextfunc next = Py_TYPE(iterator)->tp_iternext;
    PyObject *value = *item;
    Py_ssize_t end = *position, left = *left_bytes, added = 0;
    char stamp[1 + 10]; /* attributes and the timestamp's delta */
    stamp[0] = 0;
    const Py_ssize_t stamp_size = alk_put_varint(stamp + 1, raw_delta) - stamp;
    while (value != NULL && PyBytes_CheckExact(value) && left > 0 && count != INT32_MAX) {
        const Py_ssize_t length = PyBytes_GET_SIZE(value);
        const uint64_t raw_count = (uint64_t)(uint32_t)count << 1, raw_length = (uint64_t)length << 1;
        Py_ssize_t size = stamp_size + alk_varint_bytes(raw_count) + 1 +
                          alk_varint_bytes(raw_length) + length + 1;
        Py_ssize_t after = end + alk_varint_bytes((uint64_t)size << 1) + size;
        if (length > most_copied || after > limit)
            break;
        char *at = alk_put_varint(data + end, (uint64_t)size << 1);
        for (Py_ssize_t index = 0; index < stamp_size; index++)
            *at++ = stamp[index];
        at = alk_put_varint(at, raw_count);
        *at++ = 1; /* no key */
        at = alk_put_varint(at, raw_length);
        memcpy(at, PyBytes_AS_STRING(value), (size_t)length);
        at[length] = 0; /* no headers */
        end = after;
        left -= length + ALK_VALUE_OVERHEAD;
        count++;
        added++;
        Py_DECREF(value);
        value = next(iterator);
    }
    *item = value;
    *position = end;
    *left_bytes = left;
    return added;
}

#endif
