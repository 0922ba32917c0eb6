#include "scripted_cupti.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*callback)(void* user_data, uint32_t domain, uint32_t id, const void* data);
struct parameters {
  size_t size;
  const char* name;
  char* holder;
  size_t holder_size;
};
struct data {
  int site;
  const char* function;
  const void* arguments;
  void* result;
  const char* symbol;
  void* context;
  uint32_t context_id;
  uint64_t* correlation;
  uint32_t correlation_id;
};
struct driver_launch {
  void* function;
  unsigned grid[3], block[3], shared;
  void* stream;
  void** arguments;
  void** extra;
};
struct config {
  unsigned grid[3], block[3], shared;
  void* stream;
};
struct driver_launch_ex {
  const struct config* config;
  void* function;
  void** arguments;
  void** extra;
};
struct graph_launch {
  void *executable, *stream;
};
struct graph_data {
  void *graph, *original, *node, *original_node;
  int type;
  void *dependency, *executable;
};
struct resource_data {
  void *context, *stream;
  const void* descriptor;
};

enum { DRIVER = 1, RUNTIME = 2, RESOURCE = 3, MOST_IDS = 1024 };

static callback subscribed;
static void* subscribed_data;
static char enabled[4][MOST_IDS];

int cuptiUnsubscribe(void* subscriber);
int cuptiSubscribe(void** subscriber, callback function, void* user_data);
int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id);
int cuptiGetResultString(int result, const char** text);

static int take_place(void** subscriber, callback function, void* user_data) {
  if (subscribed != NULL || getenv("SCRIPTED_HOLDER") != NULL) return 39;
  subscribed = function;
  subscribed_data = user_data;
  *subscriber = &subscribed;
  return 0;
}

int cuptiSubscribe(void** subscriber, callback function, void* user_data) {
  const int failure = scripted_failure("cuptiSubscribe", 999);
  return failure != 0 ? failure : take_place(subscriber, function, user_data);
}

#ifndef SCRIPTED_OLD /* before CUDA 13 */
int cuptiSubscribe_v2(void** subscriber, callback function, void* user_data, struct parameters* wanted);
int cuptiSubscribe_v2(void** subscriber, callback function, void* user_data, struct parameters* wanted) {
  const int failure = scripted_failure("cuptiSubscribe_v2", 999);
  if (failure != 0) return failure;
  const char* holder = getenv("SCRIPTED_HOLDER");
  if (holder != NULL && wanted != NULL) strncpy(wanted->holder, holder, wanted->holder_size - 1);
  return take_place(subscriber, function, user_data);
}
#endif

int cuptiUnsubscribe(void* subscriber) {
  (void)subscriber;
  subscribed = NULL;
  memset(enabled, 0, sizeof enabled);
  return scripted_failure("cuptiUnsubscribe", 999);
}

int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id) {
  (void)subscriber;
  const int failure = scripted_failure("cuptiEnableCallback", 999);
  if (failure == 0) enabled[domain % 4][id % MOST_IDS] = enable != 0;
  return failure;
}

int cuptiGetResultString(int result, const char** text) {
  const int failure = scripted_failure("cuptiGetResultString", 1);
  if (failure == 0) *text = result == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OTHER";
  return failure;
}

static void call_back(uint32_t domain, uint32_t id, const void* data) {
  if (subscribed != NULL && enabled[domain][id]) subscribed(subscribed_data, domain, id, data);
}

static void api(uint32_t domain, uint32_t id, int site, const char* kernel, void* context,
                const void* arguments) {
  const struct data data = {site, "launch", arguments, NULL, kernel, context, 1, NULL, 1};
  call_back(domain, id, &data);
}

static uint32_t runtime_id(const char* kernel) { return kernel != NULL ? 211 : 311; }
static uint32_t driver_id(const char* kernel) { return kernel != NULL ? 307 : 514; }

void scripted_enter(const char* kernel) {
  static const struct graph_launch graph = {&subscribed, NULL};
  const void* arguments = kernel == NULL ? &graph : NULL;
  api(RUNTIME, runtime_id(kernel), 0, kernel, NULL, arguments);
  api(DRIVER, driver_id(kernel), 0, kernel, NULL, arguments);
}

void scripted_leave(const char* kernel) {
  api(DRIVER, driver_id(kernel), 1, kernel, NULL, NULL);
  api(RUNTIME, runtime_id(kernel), 1, kernel, NULL, NULL);
}

void scripted_launch(const char* kernel) {
  scripted_enter(kernel);
  scripted_leave(kernel);
}

static void add_node(void* graph) {
  const struct graph_data node = {graph, NULL, graph, NULL, 0, NULL, NULL};
  const struct resource_data data = {NULL, NULL, &node};
  call_back(RESOURCE, 13, &data);
}

void scripted_launch_call(const struct scripted_call* call) {
  const struct config config = {{1, 1, 1}, {1, 1, 1}, 0, call->stream};
  const struct driver_launch plain = {call->function, {1, 1, 1},       {1, 1, 1},  0,
                                      call->stream,   call->arguments, call->extra};
  const struct driver_launch_ex with_config = {&config, call->function, call->arguments, call->extra};
  const int is_ex = call->way == SCRIPTED_DRIVER_EX;
  const void* arguments = is_ex ? (const void*)&with_config : (const void*)&plain;
  const uint32_t id = is_ex ? 652 : 307;
  const int by_runtime = call->way == SCRIPTED_RUNTIME || call->way == SCRIPTED_RUNTIME_ALONE;
  const int in_driver = call->way != SCRIPTED_RUNTIME_ALONE;
  if (by_runtime) api(RUNTIME, 211, 0, call->kernel, call->context, NULL);
  if (in_driver) api(DRIVER, id, 0, call->kernel, call->context, arguments);
  if (call->captured_into != NULL) add_node(call->captured_into);
  if (in_driver) api(DRIVER, id, 1, call->kernel, call->context, arguments);
  if (by_runtime) api(RUNTIME, 211, 1, call->kernel, call->context, NULL);
}

void scripted_instantiate(void* executable, void* graph) {
  const struct graph_data made = {graph, NULL, NULL, NULL, 0, NULL, executable};
  const struct resource_data data = {NULL, NULL, &made};
  call_back(RESOURCE, 18, &data);
}

void scripted_graph_launch(void* executable, void* stream, void* context) {
  const struct graph_launch launch = {executable, stream};
  for (int site = 0; site < 2; ++site) {
    const uint32_t outer = site == 0 ? RUNTIME : DRIVER;
    api(outer, outer == RUNTIME ? 311 : 514, site, NULL, context, &launch);
    api(outer == RUNTIME ? DRIVER : RUNTIME, outer == RUNTIME ? 514 : 311, site, NULL, context, &launch);
  }
}

int scripted_subscriptions(void) { return subscribed != NULL; }
