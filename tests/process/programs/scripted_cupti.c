#include "scripted_cupti.h"

#include <stdint.h>
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

static callback subscribed;
static void* subscribed_data;

int cuptiSubscribe_v2(void** subscriber, callback function, void* user_data, struct parameters* wanted);
int cuptiSubscribe(void** subscriber, callback function, void* user_data);
int cuptiUnsubscribe(void* subscriber);
int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id);
int cuptiGetResultString(int result, const char** text);

int cuptiSubscribe(void** subscriber, callback function, void* user_data) {
  if (subscribed != NULL || getenv("SCRIPTED_HOLDER") != NULL) return 39;
  subscribed = function;
  subscribed_data = user_data;
  *subscriber = &subscribed;
  return 0;
}

int cuptiSubscribe_v2(void** subscriber, callback function, void* user_data, struct parameters* wanted) {
  const char* holder = getenv("SCRIPTED_HOLDER");
  if (holder != NULL) strncpy(wanted->holder, holder, wanted->holder_size - 1);
  return cuptiSubscribe(subscriber, function, user_data);
}

int cuptiUnsubscribe(void* subscriber) {
  (void)subscriber;
  subscribed = NULL;
  return 0;
}

int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id) {
  (void)enable, (void)subscriber, (void)domain, (void)id;
  return getenv("SCRIPTED_BROKEN") != NULL ? 999 : 0;
}

int cuptiGetResultString(int result, const char** text) {
  *text = result == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR_OTHER";
  return 0;
}

static void call_back(uint32_t domain, uint32_t id, int site, const char* kernel) {
  struct data data = {site, "launch", NULL, NULL, kernel, NULL, 1, NULL, 1};
  if (subscribed != NULL) subscribed(subscribed_data, domain, id, &data);
}

static uint32_t runtime_id(const char* kernel) { return kernel != NULL ? 211 : 311; }
static uint32_t driver_id(const char* kernel) { return kernel != NULL ? 307 : 514; }

void scripted_enter(const char* kernel) {
  call_back(2, runtime_id(kernel), 0, kernel);
  call_back(1, driver_id(kernel), 0, kernel);
}

void scripted_leave(const char* kernel) {
  call_back(1, driver_id(kernel), 1, kernel);
  call_back(2, runtime_id(kernel), 1, kernel);
}

void scripted_launch(const char* kernel) {
  scripted_enter(kernel);
  scripted_leave(kernel);
}

int scripted_subscriptions(void) { return subscribed != NULL; }
