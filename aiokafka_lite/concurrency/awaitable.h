/* What the awaitables among the native leaves share: handing over a value, slots, spare objects.
 *
 * A value is handed to an awaiter by StopIteration.
 * To raise one costs more than all the rest of an await. Up to 3.11 the interpreter asks `am_send`,
 * which needs none; asyncio's tasks do so in every version. From 3.12 on `await` raises one: here it
 * is one object over and over. The interpreter's lock guards it; where there is none, each is new.
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
/* The one exception object; its value goes when the awaitable that set it goes. */
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

/* Raise StopIteration with that value, whose reference is stolen. Return whether it is the one
 * object, which keeps the value until alk_forget_value. */
static inline int alk_raise_stop_iteration(PyObject *value)
{
#if ALK_ONE_STOP_ITERATION
    /* Somebody who caught it may hold it still: then it is theirs. */
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

/* Give the type these slots, and keep here the ones it had: a second swap undoes the first. */
static inline void alk_swap_slots(PyTypeObject *type, alk_slots *slots)
{
    alk_slots had = {type->tp_as_async->am_send, type->tp_iternext, type->tp_dealloc};
    type->tp_as_async->am_send = slots->am_send;
    type->tp_iternext = slots->tp_iternext;
    type->tp_dealloc = slots->tp_dealloc;
    *slots = had;
    PyType_Modified(type);
}

/* How many objects that were let go are kept for the next ones. */
#ifdef Py_GIL_DISABLED
#define ALK_SPARES 0 /* threads would take the same one */
#else
#define ALK_SPARES 16
#endif

static inline PyObject *alk_live_again(PyObject *spare)
{
    _Py_NewReference(spare);
    return spare;
}

#endif
