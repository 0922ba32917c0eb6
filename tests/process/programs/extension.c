/* Stands in for an extension module of flash-attn, made in one phase, or in two with TWO_PHASES: functions of
   each calling convention, which say what they were given. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject* fwd(PyObject* self, PyObject* arguments, PyObject* keywords) {
  return PyLong_FromSsize_t(PyTuple_Size(arguments) + (keywords != NULL ? 10 * PyDict_Size(keywords) : 0));
}
static PyObject* varlen_fwd(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return PyLong_FromSsize_t(count + (names != NULL ? 10 * PyTuple_Size(names) : 0));
}
static PyObject* bwd(PyObject* self, PyObject* argument) { return Py_NewRef(argument); }
static PyObject* unused(PyObject* self, PyObject* none) { Py_RETURN_NONE; }

static PyMethodDef methods[] = {
    {"fwd", (PyCFunction)(void (*)(void))fwd, METH_VARARGS | METH_KEYWORDS, NULL},
    {"varlen_fwd", (PyCFunction)(void (*)(void))varlen_fwd, METH_FASTCALL | METH_KEYWORDS, NULL},
    {"bwd", bwd, METH_O, NULL},
    {"unused", unused, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

#ifdef TWO_PHASES
static int execute(PyObject* module) { return PyModule_AddFunctions(module, methods); }
static PyModuleDef_Slot slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "flash_attn_2_cuda", NULL, 0, NULL, slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_flash_attn_2_cuda(void) { return PyModuleDef_Init(&definition); }
#else
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "flash_attn_2_cuda", NULL, -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_flash_attn_2_cuda(void) { return PyModule_Create(&definition); }
#endif
