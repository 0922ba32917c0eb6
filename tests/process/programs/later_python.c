/* What the recorder asks of CPython, as its release 3.15 has it, in a program with wrong calls
 * (linked_calls.c): no interpreter of that release can be had everywhere. */
extern const unsigned long Py_Version;
const unsigned long Py_Version = 0x030f00f0;

void* PyGILState_GetThisThreadState(void);
void* PyGILState_GetThisThreadState(void) { return 0; }
