/* A program with an attention function of its own and an observer slot like flash_ref's: what a library has
 * to do to be watched under a contract of its own. */
#include <flash_ref/observer.h>
#include <stdio.h>

static const char* const names[] = {"another", "my_attention"};
static const char* const roles[] = {"q", "k", "out"};
#include "own_slot.h"

static void tell(flash_ref_call_event* event, uint32_t phase) {
  event->phase = phase;
  for (flash_ref_observer* one = first; one != NULL; one = one->next)
    if ((one->flags & phase) != 0) one->notify(one->context, event);
}

__attribute__((noinline)) static int my_attention(const DLTensor* q, const DLTensor* k, DLTensor* out) {
  const DLTensor* const tensors[] = {q, k, out};
  flash_ref_call_event event = {
      sizeof event, 0, 1, 3, names[1], roles, tensors, NULL, __builtin_return_address(0), 1, 0};
  tell(&event, FLASH_REF_BEFORE);
  tell(&event, FLASH_REF_AFTER);
  return 1;
}

int main(void) {
  int64_t shape[] = {1, 1, 1, 1};
  float storage[4] = {0};
  DLTensor q = {0}, k = {0};
  q.data = k.data = storage;
  q.ndim = k.ndim = 4;
  q.shape = k.shape = shape;
  q.dtype.code = k.dtype.code = 2;
  q.dtype.bits = k.dtype.bits = 16;
  q.dtype.lanes = k.dtype.lanes = 1;
  printf("answer %d\n", my_attention(&q, &k, &q));
  k.dtype.bits = 32;
  printf("answer %d\n", my_attention(&q, &k, &q));
  return 0;
}
