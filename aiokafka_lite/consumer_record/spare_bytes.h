/* Keys and values of freed records wait here for the next records: `bytes` that nobody else sees.
 *
 * A consumer lets go about as many values as it takes. To make and free one of 1 KB costs more than
 * all the rest of its record, because such a block comes from the C library. A value that only its
 * record refers to is kept, with that one reference, and written anew for a later record. Values in
 * which somebody else still has a part are never kept.
 *
 * A value of a common size waits with its freed record. The next record made of that takes it without
 * a search, if the sizes need blocks of the same size. Other values wait by their sizes, at most
 * ALK_SPARE_BYTES of them. Guarded by the interpreter's lock; where there is none, nothing is kept.
 */
#ifndef AIOKAFKA_LITE_SPARE_BYTES_H
#define AIOKAFKA_LITE_SPARE_BYTES_H

#include <Python.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ALK_SPARE_BYTES (1 << 20)
#define ALK_SPARE_VALUE_MAX 4096       /* above that, copying costs more than the block */
#define ALK_SPARE_WITH_RECORD_MAX 1056 /* with 512 records: half a megabyte */
#define ALK_SPARE_STEP 16              /* blocks differ by this much, as those of the interpreter do */

/* What a `bytes` has beside its content: its head, and the zero behind the content. */
#define ALK_BYTES_OVERHEAD (offsetof(PyBytesObject, ob_sval) + 1)
/* The number of steps that a `bytes` of that size needs. */
#define ALK_SPARE_STEPS(size) (ALK_SPARE_END(size) / ALK_SPARE_STEP)
#define ALK_SPARE_END(size) ((size_t)(size) + ALK_BYTES_OVERHEAD + ALK_SPARE_STEP - 1)

/* The kept ones by their steps; the content of each begins with the address of the next. */
static PyObject *alk_spare_values[ALK_SPARE_STEPS(ALK_SPARE_VALUE_MAX) + 1];
static size_t alk_spare_value_bytes;

static inline PyObject *alk_pop_spare(size_t steps)
{
    PyObject *spare = alk_spare_values[steps];
    memcpy(&alk_spare_values[steps], PyBytes_AS_STRING(spare), sizeof(PyObject *));
    alk_spare_value_bytes -= steps * ALK_SPARE_STEP;
    return spare;
}

/* Sizes have changed, and what is kept fits nothing any more. */
static void alk_drop_spare_values(void)
{
    for (size_t steps = 0; steps <= ALK_SPARE_STEPS(ALK_SPARE_VALUE_MAX); steps++)
        while (alk_spare_values[steps] != NULL)
            Py_DECREF(alk_pop_spare(steps));
}

/* Make a `bytes` that alk_let_go may keep: of that size, in a block of whole steps. */
static PyObject *alk_stepped_bytes(Py_ssize_t size, size_t steps)
{
    if (alk_spare_value_bytes > ALK_SPARE_BYTES - ALK_SPARE_VALUE_MAX)
        alk_drop_spare_values();
    PyObject *made = PyBytes_FromStringAndSize(
        NULL, (Py_ssize_t)(steps * ALK_SPARE_STEP - ALK_BYTES_OVERHEAD));
    if (made != NULL)
        Py_SET_SIZE(made, size);
    return made;
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* ob_shash has no other name */
#endif

/* Make a kept `bytes` one of that content, which must not need more steps. */
static inline void alk_rewrite(PyObject *kept, const uint8_t *content, Py_ssize_t size)
{
    char *into = PyBytes_AS_STRING(kept);
    Py_SET_SIZE(kept, size);
    ((PyBytesObject *)kept)->ob_shash = -1;
    if (size <= 16) { /* two moves that overlap; a kept one has eight bytes or more */
        uint64_t first, last;
        memcpy(&first, content, sizeof first);
        memcpy(&last, content + size - sizeof last, sizeof last);
        memcpy(into, &first, sizeof first);
        memcpy(into + size - sizeof last, &last, sizeof last);
    } else {
        memcpy(into, content, (size_t)size);
    }
    into[size] = 0;
}

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Return a `bytes` of that content, for a record that gives it to alk_let_go. */
static PyObject *alk_bytes(const uint8_t *content, Py_ssize_t size)
{
    if (size < (Py_ssize_t)sizeof(PyObject *) || size > ALK_SPARE_VALUE_MAX)
        return PyBytes_FromStringAndSize((const char *)content, size);
    size_t steps = ALK_SPARE_STEPS(size);
    PyObject *made =
        alk_spare_values[steps] != NULL ? alk_pop_spare(steps) : alk_stepped_bytes(size, steps);
    if (made != NULL)
        alk_rewrite(made, content, size);
    return made;
}

/* Tell whether nobody but its record refers to a value of a size that is kept. */
static inline int alk_is_kept(PyObject *value, Py_ssize_t most)
{
    return Py_REFCNT(value) == 1 && PyBytes_CheckExact(value) &&
           (size_t)PyBytes_GET_SIZE(value) - sizeof(PyObject *) <= (size_t)most - sizeof(PyObject *);
}

/* Tell whether a value waits with its record, where it is found without a search. */
static inline int alk_keeps(PyObject *value)
{
    return alk_is_kept(value, ALK_SPARE_WITH_RECORD_MAX);
}

/* Tell whether a value that has waited can be written anew as one of that size. */
static inline int alk_fits(PyObject *kept, Py_ssize_t size)
{
    return size >= (Py_ssize_t)sizeof(PyObject *) &&
           (ALK_SPARE_END(size) ^ ALK_SPARE_END(PyBytes_GET_SIZE(kept))) < ALK_SPARE_STEP;
}

/* Drop a reference to what alk_bytes has returned, or to None. */
static void alk_let_go(PyObject *value)
{
    if (alk_is_kept(value, ALK_SPARE_VALUE_MAX)) {
        size_t steps = ALK_SPARE_STEPS(PyBytes_GET_SIZE(value));
        if (alk_spare_value_bytes + steps * ALK_SPARE_STEP <= ALK_SPARE_BYTES) {
            memcpy(PyBytes_AS_STRING(value), &alk_spare_values[steps], sizeof(PyObject *));
            alk_spare_values[steps] = value;
            alk_spare_value_bytes += steps * ALK_SPARE_STEP;
            return;
        }
    }
    Py_DECREF(value);
}

#endif
