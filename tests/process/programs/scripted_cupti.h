/* A libcupti that tests drive: it has one place for a subscriber, and "launches" kernels by calling back for
 * what is enabled, as CUPTI does. SCRIPTED_HOLDER=NAME: the place is taken. SCRIPTED_FAIL=FUNCTION:N: the
 * N-th call of that function fails, and every one with N = 0. */
#pragma once

#include <stddef.h>

/* The functions of CUPTI itself have CUPTI's names; these are the script's. */
void scripted_launch(const char* kernel); /* by the runtime, which enters the driver; NULL launches a graph */
void scripted_enter(const char* kernel);  /* the same in two halves */
void scripted_leave(const char* kernel);
int scripted_subscriptions(void);

/* What a function handle of the scripted driver points to: sizes of the kernel's parameters, 0 behind the
 * last. */
struct scripted_function {
  size_t sizes[8];
};
enum scripted_way { SCRIPTED_RUNTIME, SCRIPTED_DRIVER, SCRIPTED_DRIVER_EX, SCRIPTED_RUNTIME_ALONE };
struct scripted_call {
  const char* kernel;
  struct scripted_function* function;
  void** arguments; /* or NULL, with */
  void** extra;
  void* stream;
  void* context;
  enum scripted_way way; /* the last one calls nothing back in the driver */
  void* captured_into;   /* a graph that gets a node, or NULL */
};
void scripted_launch_call(const struct scripted_call* call);
void scripted_instantiate(void* executable, void* graph);
void scripted_graph_launch(void* executable, void* stream, void* context);
/* SCRIPTED_FAIL: 0, or the failure that this call of `function` is to give. */
int scripted_failure(const char* function, int failure);
