/* Time of a kernel launch through a scripted libcupti: ns of processor time for each launch of a step.
 *   launches none|empty|ours ROUNDS plain|fed
 * none: no subscriber; empty: a callback that does nothing; ours: the library that
 * CUDA_INJECTION64_PATH names. plain: kernels of a transformer block but its attention; fed: two casts and
 * the attention that reads them. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/process/programs/scripted_cupti.h"

int cuptiSubscribe(void** subscriber, void (*callback)(void*, uint32_t, uint32_t, const void*), void* data);
int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain, uint32_t id);
int cuInit(unsigned flags);

static const char* const plain[] = {
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_"
    "addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_T1_",
    "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIN3c108BFloat16ENS0_7MeanOpsIS4_ffS4_EEjS4_"
    "Li4ELi4EEEEEvT1_",
    "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_16silu_kernel_cudaERNS_"
    "18TensorIteratorBaseEENKUlvE_clEvENKUlvE2_clEvEUlN3c108BFloat16EE_St5arrayIPcLm2EEEEviT0_T1_",
    "_ZN2at6native54_GLOBAL__N__00000000_22_CatArrayBatchedCopy_alignedK_contigILj2ENS0_"
    "10OpaqueTypeILj2EEEjLi128ELi1ELi16ELi16EEEvPT_",
    "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNT",
    "_ZN2at6native27unrolled_elementwise_kernelIZZZNS0_15mul_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_"
    "clEvENKUlvE5_clEvEUlffE_St5arrayIPcLm3EELi4E23TrivialOffsetCalculatorILi2EjES9_ILi1EjENS0_"
    "6memory12LoadWithCastILi2EEENSD_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_",
    "triton_poi_fused__to_copy_add_mul_silu_0",
};
#define CAST                                                                               \
  "_ZN2at6native29vectorized_elementwise_kernelILi8EZNS0_25bfloat16_copy_kernel_cudaERNS_" \
  "18TensorIteratorBaseEEUlfE_St5arrayIPcLm2EEEEviT0_T1_"
#define ATTENTION                                                                                          \
  "_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_"                                               \
  "traitsILi128ELi64ELi64ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi128ELi64ELi64ELi4ES3_" \
  "EELb0ELb1ELb0ELb1ELb0ELb0ELb0ELb0EEEvNS_16Flash_fwd_paramsE"

static void nothing(void* data, uint32_t domain, uint32_t id, const void* call) {
  (void)data, (void)domain, (void)id, (void)call;
}

static void subscribe_nothing(void) {
  void* subscriber = NULL;
  if (cuptiSubscribe(&subscriber, nothing, NULL) != 0) exit(3);
  cuptiEnableCallback(1, subscriber, 1, 307);
  cuptiEnableCallback(1, subscriber, 2, 211);
}

static void inject(void) {
  const char* path = getenv("CUDA_INJECTION64_PATH");
  void* library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  void* address = library != NULL ? dlsym(library, "InitializeInjection") : NULL;
  int (*initialise)(void) = NULL;
  memcpy(&initialise, &address, sizeof address);
  if (initialise == NULL) exit(3);
  initialise();
}

static void launch(const char* kernel, struct scripted_function* function, void** arguments) {
  const struct scripted_call call = {kernel, function,      arguments,        NULL,
                                     NULL,   (void*)&plain, SCRIPTED_RUNTIME, NULL};
  scripted_launch_call(&call);
}

static int plain_step(void) {
  static struct scripted_function function = {{8, 4}};
  void* pointer = &function;
  int count = 1;
  void* arguments[] = {&pointer, &count};
  for (size_t i = 0; i < sizeof plain / sizeof plain[0]; ++i) launch(plain[i], &function, arguments);
  return sizeof plain / sizeof plain[0];
}

static int fed_step(void) {
  static struct scripted_function cast = {{4, 1, 16}}, attention = {{160}};
  static void* q[] = {(void*)0x10000, (void*)0x90000};
  static void* k[] = {(void*)0x20000, (void*)0x90000};
  static void* parameters[20] = {(void*)0x10000, (void*)0x20000, (void*)0x30000};
  int count = 1024;
  char lambda = 0;
  void* cast_q[] = {&count, &lambda, q};
  void* cast_k[] = {&count, &lambda, k};
  void* read[] = {parameters};
  launch(CAST, &cast, cast_q);
  launch(CAST, &cast, cast_k);
  launch(ATTENTION, &attention, read);
  return 3;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  cuInit(0);
  if (strcmp(argv[1], "empty") == 0) subscribe_nothing();
  if (strcmp(argv[1], "ours") == 0) inject();
  if (scripted_subscriptions() != (strcmp(argv[1], "none") != 0)) return 3;
  int (*step)(void) = strcmp(argv[3], "fed") == 0 ? fed_step : plain_step;
  const int rounds = atoi(argv[2]);
  for (int i = 0; i < 100; ++i) step();
  double best = 1e9;
  for (int piece = 0; piece < 10; ++piece) {
    long launches = 0;
    const double start = seconds();
    for (int i = 0; i < rounds / 10; ++i) launches += step();
    const double each = (seconds() - start) / (double)launches * 1e9;
    if (each < best) best = each;
  }
  printf("%f\n", best);
  return 0;
}
