/* Whether a class or an instance has replaced a method, told without a look-up by its name. */
#ifndef AIOKAFKA_LITE_OWN_METHODS_H
#define AIOKAFKA_LITE_OWN_METHODS_H

#include <Python.h>

/* Return a number that changes when an attribute of the class or of a base is set; 0: none. */
static inline unsigned int alk_class_version(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
#if defined(Py_GIL_DISABLED)
    return 0;
#elif PY_VERSION_HEX >= 0x030D0000 /* nothing sets the flag any more; no version is 0 */
    return type->tp_version_tag;
#else
    return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
#endif
}

/* Return the dictionary of an instance, as it is now; NULL: none. */
static inline PyObject *alk_dictionary(PyObject *self) {
    Py_ssize_t offset = Py_TYPE(self)->tp_dictoffset;
    PyObject **own = offset > 0 ? (PyObject **)((char *)self + offset)
                                : _PyObject_GetDictPtr(self);
    return own == NULL ? NULL : *own;
}

static inline int alk_in_instance(PyObject *self, PyObject *name) {
    PyObject *own = alk_dictionary(self);
    return own == NULL ? 0 : PyDict_Contains(own, name);
}

#endif
