/* Instances that have no dictionary until a program sets an attribute of its own.
 *
 * Cython makes a dictionary for each instance at once. From 3.12 on the interpreter keeps the place
 * of a method only where that dictionary is not there yet. Without the place, a call of a method
 * costs 200 instructions more.
 */
#ifndef AIOKAFKA_LITE_LAZY_DICTIONARY_H
#define AIOKAFKA_LITE_LAZY_DICTIONARY_H

#include <Python.h>

/* Drop the empty dictionary of a new instance. Reading `__dict__`, or an attribute that has no place
 * of its own, makes another. */
static inline void alk_drop_dictionary(PyObject *made)
{
    PyObject **own = _PyObject_GetDictPtr(made);
    if (own != NULL)
        Py_CLEAR(*own);
}

#endif
