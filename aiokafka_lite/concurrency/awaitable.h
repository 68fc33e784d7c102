/* What the awaitables of the native leaves share: passing a value, slots, spare objects.
 *
 * An awaitable passes its value to the awaiter by StopIteration, and raising that costs more than all
 * the rest of an await. Up to 3.11 the interpreter calls `am_send`, which needs no exception; asyncio's
 * tasks call it in every version. From 3.12 on `await` needs the exception. The leaves then raise one
 * object again and again, guarded by the interpreter's lock. Without that lock, each one is new.
 */
#ifndef AIOKAFKA_LITE_AWAITABLE_H
#define AIOKAFKA_LITE_AWAITABLE_H

#include <Python.h>

#if PY_VERSION_HEX >= 0x030C0000 && !defined(Py_GIL_DISABLED)
#define ALK_ONE_STOP_ITERATION 1
#else
#define ALK_ONE_STOP_ITERATION 0
#endif

#if ALK_ONE_STOP_ITERATION
/* The one exception object. Its value is dropped with the awaitable that set it. */
static PyObject *alk_stop_iteration;
#endif

static inline void alk_raise_new_stop_iteration(PyObject *value)
{
    PyObject *stop = PyObject_CallOneArg(PyExc_StopIteration, value);
    Py_DECREF(value);
    if (stop != NULL) {
        PyErr_SetObject(PyExc_StopIteration, stop);
        Py_DECREF(stop);
    }
}

/* Raise StopIteration with that value, and steal its reference. Return whether the one object was
 * raised. That object keeps the value until alk_forget_value. */
static inline int alk_raise_stop_iteration(PyObject *value)
{
#if ALK_ONE_STOP_ITERATION
    /* Code that caught the object may still refer to it. Then it belongs to that code. */
    if (alk_stop_iteration != NULL && Py_REFCNT(alk_stop_iteration) == 1) {
        Py_XSETREF(((PyStopIterationObject *)alk_stop_iteration)->value, value);
        PyErr_SetRaisedException(Py_NewRef(alk_stop_iteration));
        return 1;
    }
#endif
    alk_raise_new_stop_iteration(value);
    return 0;
}

static inline void alk_forget_value(void)
{
#if ALK_ONE_STOP_ITERATION
    if (Py_REFCNT(alk_stop_iteration) == 1)
        Py_SETREF(((PyStopIterationObject *)alk_stop_iteration)->value, Py_NewRef(Py_None));
#endif
}

static inline int alk_make_stop_iteration(void)
{
#if ALK_ONE_STOP_ITERATION
    alk_stop_iteration = PyObject_CallNoArgs(PyExc_StopIteration);
    return alk_stop_iteration == NULL ? -1 : 0;
#else
    return 0;
#endif
}

typedef PySendResult (*alk_sendfunc)(PyObject *, PyObject *, PyObject **);

typedef struct {
    alk_sendfunc am_send;
    iternextfunc tp_iternext;
    destructor tp_dealloc;
} alk_slots;

/* Put these slots into the type and its previous ones here: a second swap undoes the first. */
static inline void alk_swap_slots(PyTypeObject *type, alk_slots *slots)
{
    alk_slots had = {type->tp_as_async->am_send, type->tp_iternext, type->tp_dealloc};
    type->tp_as_async->am_send = slots->am_send;
    type->tp_iternext = slots->tp_iternext;
    type->tp_dealloc = slots->tp_dealloc;
    *slots = had;
    PyType_Modified(type);
}

/* Give a type the asynchronous slot that Cython cannot declare. One type of a leaf may have no other
 * asynchronous slots. */
static inline void alk_set_am_send(PyTypeObject *type, alk_sendfunc am_send)
{
    static PyAsyncMethods methods;
    if (type->tp_as_async == NULL)
        type->tp_as_async = &methods;
    type->tp_as_async->am_send = am_send;
    PyType_Modified(type);
}

/* How many freed objects are kept for reuse. */
#ifdef Py_GIL_DISABLED
#define ALK_SPARES 0 /* two threads could take the same one */
#else
#define ALK_SPARES 16
#endif

static inline PyObject *alk_live_again(PyObject *spare)
{
#ifdef Py_REF_DEBUG
    _Py_NewReference(spare);
#else
    Py_SET_REFCNT(spare, 1);
#endif
    return spare;
}

#endif
