/* A program that uses CUDA as far as the sanitizer can tell: a scripted driver, which loads what
 * CUDA_INJECTION64_PATH names when it is initialised, and kernels launched through a scripted libcupti with
 * arguments as PyTorch gives them. Its words:
 *
 * - narrow OUT N: a vectorized cast of N float32 to bfloat16 at the address OUT
 * - convert OUT N A B: an unrolled cast from at::ScalarType A to B
 * - attention Q K V: flash attention built for bfloat16 reads q, k and v at these addresses
 * - other: some other kernel
 * - stream S: what follows runs on stream S, a number
 * - way W: how kernels are launched: runtime, driver, ex, alone
 * - extra: arguments as one buffer
 * - capture G, end: kernels between them become nodes of graph G
 * - make E G, replay E: executable E from graph G
 * - call BITS: flash_ref_attention_fwd on operands of BITS bits launches a kernel of its own built for
 * bfloat16
 * - foreign BITS: the same with the attention above
 * - leave: such a call that is left by longjmp
 * - switch ON: dtype_san_switch(ON) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <flash_ref/observer.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scripted_cupti.h"

int cuInit(unsigned flags);

#define CAST                                                                               \
  "_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_cudaERNS_" \
  "18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_"
#define CONVERT                                                                                 \
  "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_23direct_copy_kernel_cudaERNS_"            \
  "18TensorIteratorBaseEENKUlvE1_clEvENKUlvE5_clEvEUlfE_"                                       \
  "St5arrayIPcLm2EELi4E23TrivialOffsetCalculatorILi1EjESB_NS0_6memory12LoadWithCastILi1EEENSC_" \
  "13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_"
#define ATTENTION                                                                                          \
  "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"                                               \
  "traitsILi128ELi64ELi64ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi128ELi64ELi64ELi4ES3_" \
  "EELb0ELb1ELb0ELb1ELb0ELb0ELb0ELb0EEEvNS_16Flash_fwd_paramsE"
#define OWN                                                                                 \
  "_ZN9flash_ref20attention_fwd_kernelI13__nv_bfloat16S1_S1_S1_Li128ELNS_7MaskingE0EEEvNS_" \
  "15AttentionLaunchE"

static const char* const names[] = {"flash_ref_attention_fwd", "my_attention"};
static const char* const roles[] = {"q", "k", "v", "out", "lse"};
#include "own_slot.h"

static void* stream;
static void* graph;
static enum scripted_way way = SCRIPTED_RUNTIME;
static int as_buffer;
static const char* slow_kernel;
static jmp_buf out_of_call;

static void* address(const char* text) { return (void*)strtoul(text, NULL, 16); }

static void launch(const char* kernel, struct scripted_function* function, void** arguments) {
  char buffer[256];
  size_t size = 0;
  for (size_t i = 0; as_buffer && i < 8 && function->sizes[i] != 0; ++i) {
    const size_t one = function->sizes[i];
    const size_t alignment = one % 8 == 0 ? 8 : one % 4 == 0 ? 4 : 1;
    size = (size + alignment - 1) / alignment * alignment;
    memcpy(buffer + size, arguments[i], one);
    size += one;
  }
  void* extra[] = {(void*)1, buffer, (void*)2, &size, NULL};
  const struct scripted_call call = {
      kernel, function, as_buffer ? NULL : arguments, as_buffer ? extra : NULL, stream, &first, way, graph};
  scripted_launch_call(&call);
}

static void cast(char** words, int is_dynamic) {
  static struct scripted_function narrow = {{4, 1, 16}}, dynamic = {{4, 1, 16, 1, 1, 8, 8}};
  int count = atoi(words[1]);
  char lambda = 0;
  void* pointers[] = {address(words[0]), (void*)0x7000000};
  struct {
    uint8_t type;
    uint32_t size;
  } load = {0, 4}, store = {0, 2};
  if (is_dynamic) {
    load.type = (uint8_t)atoi(words[2]);
    store.type = (uint8_t)atoi(words[3]);
    store.size = store.type == 6 ? 4 : 2;
  }
  void* arguments[] = {&count, &lambda, pointers, &lambda, &lambda, &load, &store};
  launch(is_dynamic ? CONVERT : CAST, is_dynamic ? &dynamic : &narrow, arguments);
}

__attribute__((noinline)) static void attention(void* q, void* k, void* v) {
  static struct scripted_function function = {{160}};
  void* parameters[20] = {q, k, v};
  void* arguments[] = {parameters};
  launch(ATTENTION, &function, arguments);  // call: attention
  __asm__ volatile("");
}

static void other(void) {
  static struct scripted_function function = {{8, 4}};
  void* pointer = (void*)0x900000;
  int count = 1;
  void* arguments[] = {&pointer, &count};
  launch("some_other_kernel", &function, arguments);
}

static void tell(flash_ref_call_event* event, uint32_t phase) {
  event->phase = phase;
  for (flash_ref_observer* one = first; one != NULL; one = one->next)
    if ((one->flags & phase) != 0) one->notify(one->context, event);
}

__attribute__((noinline)) static void watched(int api, const DLTensor* const* tensors, int leaves) {
  static struct scripted_function function = {{160}};
  flash_ref_call_event event = {
      sizeof event, 0, (uint32_t)api, 5, names[api], roles, tensors, NULL, __builtin_return_address(0), 0, 0};
  tell(&event, FLASH_REF_BEFORE);
  if (leaves) longjmp(out_of_call, 1);
  if (slow_kernel != NULL) {
    void* parameters[20] = {NULL};
    void* arguments[] = {parameters};
    launch(slow_kernel, &function, arguments);
  } else if (api == 0) {
    void* parameters[20] = {NULL, tensors[0]->data, tensors[1]->data, tensors[2]->data};
    void* arguments[] = {parameters};
    launch(OWN, &function, arguments);
  } else {
    attention(tensors[0]->data, tensors[1]->data, tensors[2]->data);
  }
  tell(&event, FLASH_REF_AFTER);
}

static void call(int api, int bits, int leaves) {
  static int64_t shape[] = {1, 8, 64, 128};
  /* They outlive the call, as a job's do, but not one that is left. */
  static DLTensor operands[4];
  static const DLTensor* kept[5];
  const DLTensor* on_stack[5] = {&operands[0], &operands[1], &operands[2], &operands[3], NULL};
  const DLTensor* const* tensors = leaves ? on_stack : kept;
  memcpy(kept, on_stack, sizeof kept);
  memset(operands, 0, sizeof operands);
  for (size_t i = 0; i < 4; ++i) {
    operands[i].data = (char*)0x10000000 + i * 0x100000;
    operands[i].device.device_type = kDLCUDA;
    operands[i].ndim = 4;
    operands[i].shape = shape;
    /* 16: float16; 17: bfloat16; 32: float32; 8: raw bytes */
    operands[i].dtype.code = (uint8_t)(bits == 17 ? kDLBfloat : bits == 8 ? kDLUInt : kDLFloat);
    operands[i].dtype.bits = (uint8_t)(bits == 17 ? 16 : bits);
    operands[i].dtype.lanes = 1;
  }
  watched(api, tensors, leaves);  // call: watched
  __asm__ volatile("");
}

static void initialise_driver(void) {
  cuInit(0);
  const char* injected = getenv("CUDA_INJECTION64_PATH");
  void* library = injected != NULL ? dlopen(injected, RTLD_NOW) : NULL;
  void* function = library != NULL ? dlsym(library, "InitializeInjection") : NULL;
  int (*initialise)(void) = NULL;
  memcpy(&initialise, &function, sizeof function);
  if (initialise != NULL) initialise();
}

static void switch_watching(int on) {
  void* function = dlsym(RTLD_DEFAULT, "dtype_san_switch");
  int (*change)(int) = NULL;
  memcpy(&change, &function, sizeof function);
  if (change != NULL) change(on);
}

static void wait_for(const char* file, int launches) {
  if (launches) other();
  puts("ready");
  fflush(stdout);
  while (access(file, F_OK) != 0) {
    if (launches) other();
    usleep(1000);
  }
  if (launches) other(); /* a launch after whatever was done before the file came */
}

/* The words that a step takes, itself included. */
static int step(char** words) {
  const char* word = words[0];
#define IS(text) (strcmp(word, text) == 0)
  if (IS("narrow")) return cast(words + 1, 0), 3;
  if (IS("convert")) return cast(words + 1, 1), 5;
  if (IS("attention")) return attention(address(words[1]), address(words[2]), address(words[3])), 4;
  if (IS("other")) return other(), 1;
  if (IS("stream")) return stream = address(words[1]), 2;
  if (IS("extra")) return as_buffer = 1, 1;
  if (IS("capture")) return graph = address(words[1]), 2;
  if (IS("end")) return graph = NULL, 1;
  if (IS("make")) return scripted_instantiate(address(words[1]), address(words[2])), 3;
  if (IS("replay")) return scripted_graph_launch(address(words[1]), stream, &first), 2;
  if (IS("call")) return call(0, atoi(words[1]), 0), 2;
  if (IS("foreign")) return call(1, atoi(words[1]), 0), 2;
  if (IS("slow")) return slow_kernel = words[2], call(0, atoi(words[1]), 0), slow_kernel = NULL, 3;
  if (IS("wait")) return wait_for(words[1], 1), 2;
  if (IS("pause")) return wait_for(words[1], 0), 2;
  if (IS("switch")) return switch_watching(atoi(words[1])), 2;
  if (IS("leave")) {
    if (setjmp(out_of_call) == 0) call(0, 17, 1);
    return 1;
  }
  if (IS("way")) {
    const char* const ways[] = {"runtime", "driver", "ex", "alone"};
    for (int i = 0; i < 4; ++i)
      if (strcmp(words[1], ways[i]) == 0) way = (enum scripted_way)i;
    return 2;
  }
  fprintf(stderr, "unknown step '%s'\n", word);
  exit(2);
}

int main(int argc, char** argv) {
  initialise_driver();
  for (int i = 1; i < argc;) i += step(argv + i);
  printf("subscriptions %d\n", scripted_subscriptions());
  return 0;
}
