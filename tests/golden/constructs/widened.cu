// Half data that is widened into a buffer which a call takes: the line to edit is the conversion, in whatever
// function it stands. An implicit one is a promotion; an explicit one is the choice of a dtype that the call
// does not take.
#include "descriptors.h"

// A buffer that a kernel fills.
template <class In, class Out>
__global__ void convert(const In* in, Out* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];  // expect: attention-implicit-promotion
}
template <class In, class Out>
__global__ void convert_as_written(const In* in, Out* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<Out>(in[i]);  // expect: attention-mixed-dtypes
}
__global__ void by_name(const __half* in, float* out) {
  out[threadIdx.x] = __half2float(in[threadIdx.x]);  // expect: attention-mixed-dtypes
}
__global__ void as_function(const __half* in, float* out) {
  out[threadIdx.x] = float(in[threadIdx.x]) * 2.0f;  // expect: attention-mixed-dtypes
}
__global__ void in_brackets(const __half* in, float* out) {
  out[threadIdx.x] = (float)in[threadIdx.x];  // expect: attention-mixed-dtypes
}
void bad_template(const __half* h, float* q, int n) {
  convert<<<1, n>>>(h, q, n);
  attend(q, h);
}
void bad_written_template(const __half* h, int n) {
  float* q = nullptr;
  cudaMalloc(&q, n * sizeof(float));
  convert_as_written<__half, float><<<1, n>>>(h, q, n);
  attend(q, h);
}
void bad_by_name(const __half* h, int n) {
  void* memory = nullptr;
  cudaMalloc(&memory, n * sizeof(float));
  auto* q = static_cast<float*>(memory);
  by_name<<<1, n>>>(h, q);
  attend(q, h);
}
void bad_as_function(const __half* h, int n, cudaStream_t stream) {
  float* q = nullptr;
  cudaMallocAsync(&q, n * sizeof(float), stream);
  as_function<<<1, n, 0, stream>>>(h, q);
  attend(q, h);
}
void bad_in_brackets(const __half* h, int n, cudaStream_t stream) {
  float* q = nullptr;
  cudaMallocAsync((void**)&q, n * sizeof(float), stream);
  auto kernel = &in_brackets;
  kernel<<<1, n, 0, stream>>>(h, q);
  attend(q, h);
}
void ok_template(const __half* h, __half* q, int n) {
  convert<<<1, n>>>(h, q, n);
  convert_as_written<__half, __half><<<1, n>>>(h, q, n);
  attend(q, h);
}

// Launches that are calls.
__global__ void launched_by_configuration(const __half* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // expect: attention-implicit-promotion
}
__global__ void launched_by_list(const __half* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];  // expect: attention-implicit-promotion
}
void bad_configuration(const __half* h, float* q, int n) {
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(n);
  cudaLaunchKernelEx(&config, launched_by_configuration, h, q);
  attend(q, h);
}
void bad_list(const __half* h, float* q, int n) {
  void* arguments[] = {&h, &q};
  cudaLaunchKernel((const void*)launched_by_list, dim3(1), dim3(n), arguments, 0, 0);
  attend(q, h);
}

// Helpers on the host.
template <class In, class Out>
void convert_here(const In* in, Out* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<Out>(in[i]);  // expect: attention-mixed-dtypes
}
static float as_float(__half value) {
  return __half2float(value);  // expect: attention-mixed-dtypes
}
struct Tile {
  __half values[4];
};
void bad_helper(const __half* h, int n) {
  std::vector<float> q(n);
  convert_here(h, q.data(), n);
  attend(q.data(), h);
}
void bad_function(const __half* h, int n) {
  std::vector<float> q(n);
  for (int i = 0; i < n; ++i) q[i] = as_float(h[i]);
  attend(q.data(), h);
}
// Of a field nothing is known but its type.
void bad_field(const Tile* tiles, const __half* h, int n) {
  std::vector<float> q(n);
  for (int i = 0; i < n; ++i) q[i] = tiles[i / 4].values[i % 4];  // expect: attention-implicit-promotion
  attend(q.data(), h);
}
void bad_parameter(__half value, const __half* h, int n) {
  std::vector<float> q(n);
  q[0] = value;  // expect: attention-implicit-promotion
  attend(q.data(), h);
}
void bad_reference(__half value, const __half* h, int n) {
  std::vector<float> q(n);
  for (float& each : q) each = value;  // expect: attention-implicit-promotion
  attend(q.data(), h);
}
void bad_through_double(const __half* h, int n) {
  std::vector<double> q(n);
  for (int i = 0; i < n; ++i)
    q[i] = static_cast<double>(static_cast<float>(h[i]));  // expect: attention-mixed-dtypes
  attend(q.data(), h);
}
void ok_rounded_back(const __half* h, int n) {
  std::vector<__half> q(n);
  std::vector<float> sums(n);
  for (int i = 0; i < n; ++i) {
    sums[i] = static_cast<float>(h[i]);
    q[i] = __float2half(sums[i] * as_float(h[i]));
  }
  attend(q.data(), h);
}

// What became of the number on the way.
void bad_functions(const __half* h, int n) {
  std::vector<float> q(n);
  for (int i = 0; i < n; ++i) {
    float value = h[i];  // expect: attention-implicit-promotion
    value = fmaxf(value, 0.0f);
    q[i] = sqrtf(value) + 1.0f;
  }
  attend(q.data(), h);
}
__global__ void through_shared(const __half* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = __half2float(in[threadIdx.x]);  // expect: attention-mixed-dtypes
  __syncthreads();
  out[threadIdx.x] = __shfl_xor_sync(0xffffffff, tile[threadIdx.x], 1);
}
void bad_shared(const __half* h, float* q, int n) {
  through_shared<<<1, n>>>(h, q);
  attend(q, h);
}
__global__ void by_cache(const __half* in, float* out) {
  __half value = __ldg(in + threadIdx.x);
  atomicAdd(out + threadIdx.x, __half2float(value));  // expect: attention-mixed-dtypes
}
void bad_cache(const __half* h, float* q, int n) {
  by_cache<<<1, n>>>(h, q);
  attend(q, h);
}

// Copies of what was widened.
void bad_copied(const __half* h, int n) {
  std::vector<float> wide(n);
  for (int i = 0; i < n; ++i) wide[i] = h[i];  // expect: attention-implicit-promotion
  float* q = nullptr;
  cudaMalloc(&q, n * sizeof(float));
  cudaMemcpy(q, wide.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  attend(q, h);
}
void ok_copied(const __half* h, int n) {
  std::vector<__half> same(n);
  std::memcpy(same.data(), h, n * sizeof(__half));
  __half* q = nullptr;
  cudaMalloc(&q, n * sizeof(__half));
  cudaMemcpyAsync(q, same.data(), n * sizeof(__half), cudaMemcpyHostToDevice, 0);
  attend(q, h);
}

// Short vectors.
__global__ void in_pairs(const __half2* in, float2* out) {
  out[threadIdx.x] = __half22float2(in[threadIdx.x]);  // expect: attention-mixed-dtypes
}
__global__ void in_made_pairs(const __half* in, float* out) {
  float2 pair = make_float2(__half2float(in[0]),  // expect: attention-mixed-dtypes
                            __half2float(in[1]));
  *reinterpret_cast<float2*>(out) = pair;
}
__global__ void by_half(const __nv_bfloat162* in, float* out) {
  out[threadIdx.x] = __low2float(in[threadIdx.x]);  // expect: attention-mixed-dtypes
}
__global__ void by_part(const __half2* in, float2* out) {
  out[threadIdx.x].x = in[threadIdx.x].x;  // expect: attention-implicit-promotion
}
void bad_pairs(const __half* h, float* q, int n) {
  in_pairs<<<1, n>>>(reinterpret_cast<const __half2*>(h), reinterpret_cast<float2*>(q));
  attend(q, h);
}
void bad_made_pairs(const __half* h, float* q, int n) {
  in_made_pairs<<<1, n>>>(h, q);
  attend(q, h);
}
void bad_half_of_pair(const __half* h, const __nv_bfloat162* b, float* q, int n) {
  by_half<<<1, n>>>(b, q);
  attend(q, h);
}
void bad_part(const __half* h, float* q, int n) {
  by_part<<<1, n>>>(reinterpret_cast<const __half2*>(h), reinterpret_cast<float2*>(q));
  attend(q, h);
}
// Bytes are moved by whatever type is wide enough: nothing is converted.
__global__ void move(const __half* in, __half* out) {
  reinterpret_cast<float4*>(out)[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x];
  *reinterpret_cast<float2*>(out) = make_float2(0.0f, 0.0f);
}
__global__ void round_pairs(const __half2* in, __half2* out) {
  float2 pair = __half22float2(in[threadIdx.x]);
  pair.x *= 2.0f;
  out[threadIdx.x] = __floats2half2_rn(pair.x, pair.y);
}
void ok_moved(const __half* h, __half* q, int n) {
  move<<<1, n>>>(h, q);
  attend(q, h);
}
void ok_pairs(const __half* h, __half* q, int n) {
  round_pairs<<<1, n>>>(reinterpret_cast<const __half2*>(h), reinterpret_cast<__half2*>(q));
  attend(q, h);
}
void ok_vector_memory(const __half* h, int n) {
  float4* memory = nullptr;
  cudaMalloc(&memory, n * sizeof(__half));
  auto* q = reinterpret_cast<__half*>(memory);
  move<<<1, n>>>(h, q);
  attend(q, h);
}
