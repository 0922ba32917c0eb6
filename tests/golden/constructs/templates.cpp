// Templates, ranges of types, AT_DISPATCH, and tensors as raw memory.
#include <ATen/DLConvertor.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/dlpack.h>

#include <type_traits>

#include "attention.h"

using at::Tensor;

extern "C" int flash_ref_attention_fwd(const DLTensor* q, const DLTensor* k, const DLTensor* v, DLTensor* out,
                                       DLTensor* lse, const void* options);

// Instantiations are told apart.
template <class T>
Tensor ramp(const Tensor& like) {
  return torch::arange(8, c10::CppTypeToScalarType<T>::value) * torch::ones({8}, torch::dtype<T>());
}
void bad_instantiation(const Tensor& x) {
  Tensor q = x * ramp<float>(x);  // expect: attention-implicit-promotion
  attend(q, x, x);
}
static void ok_instantiation(const Tensor& x) {
  Tensor q = x * ramp<at::Half>(x);
  attend(q, x, x);
}
// One body for several dtypes: wrong with one of them, and right with each when the table is of the
// template's.
template <class T>
void scaled_by_table(const Tensor& x) {
  const Tensor half = x.to(at::kHalf), table = torch::ones({8}, c10::CppTypeToScalarType<T>::value);
  attend(half * table, half, half);  // expect: attention-implicit-promotion
}
void bad_one_of_several_dtypes(const Tensor& x) {
  scaled_by_table<at::Half>(x);
  scaled_by_table<float>(x);
}
template <class T>
void scaled_in_its_dtype(const Tensor& x) {
  const Tensor own = x.to(c10::CppTypeToScalarType<T>::value);
  attend(own * torch::ones({8}, torch::dtype<T>()), own, own);
}
void ok_each_of_several_dtypes(const Tensor& x) {
  scaled_in_its_dtype<at::Half>(x);
  scaled_in_its_dtype<at::BFloat16>(x);
}
template <bool kCastBack>
Tensor rotated(const Tensor& x) {
  Tensor out = x * torch::ones({8});  // expect: attention-implicit-promotion
  if constexpr (kCastBack) {
    return out.to(x.scalar_type());
  } else {
    return out;
  }
}
void bad_constexpr(const Tensor& x) { attend(rotated<false>(x), x, x); }
void ok_constexpr(const Tensor& x) { attend(rotated<true>(x), x, x); }

template <class Scale>
struct Scaler {
  Scale scale;
  template <class T>
  T operator()(const T& x) const {
    return x * scale;  // expect: attention-implicit-promotion
  }
};
void bad_class_template(const Tensor& x) {
  Scaler<Tensor> by_tensor{torch::ones({8})};
  attend(by_tensor(x), x, x);
}
void ok_class_template(const Tensor& x) {
  Scaler<double> by_number{2.0};
  attend(by_number(x), x, x);
}
template <class... Ts>
std::vector<Tensor> widened(const Ts&... each) {
  return {(each * torch::ones({8}))...};  // expect: attention-implicit-promotion
}
void bad_pack(const Tensor& x) { attend(widened(x, x)[0], x, x); }

// What a dispatch on the dtype does with it.
void ok_dispatch(const Tensor& x) {
  Tensor out = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "scale", [&] {
    const scalar_t* from = x.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    at::parallel_for(0, x.numel(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = static_cast<scalar_t>(static_cast<float>(from[i]) * 2.0f);
    });
  });
  attend(out, x, x);
}
void bad_dispatch(const Tensor& x) {
  Tensor out;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scale", [&] {
    out = x * torch::ones({8}, at::kFloat);  // expect: attention-implicit-promotion
  });
  attend(out, x, x);
}

// Descriptors.
void bad_dlpack(const Tensor& x) {
  Tensor wide = x * torch::ones({8});  // expect: attention-implicit-promotion
  DLManagedTensor *q = at::toDLPack(wide), *k = at::toDLPack(x);
  flash_ref_attention_fwd(&q->dl_tensor, &k->dl_tensor, &k->dl_tensor, &k->dl_tensor, nullptr, nullptr);
}
static DLTensor described(void* data, DLDataType dtype) {
  DLTensor out;
  out.data = data;
  out.dtype = dtype;  // expect: dlpack-dtype-mismatch
  return out;
}
void bad_typed_pointer(const Tensor& x) {
  Tensor wide = x * torch::ones({8});  // expect: attention-implicit-promotion
  DLTensor q = described(wide.data_ptr<float>(), {kDLFloat, 32, 1});
  DLTensor k = described(x.data_ptr<at::Half>(), {kDLFloat, 16, 1});
  flash_ref_attention_fwd(&q, &k, &k, &k, nullptr, nullptr);
}
void bad_descriptor_says_half(const Tensor& x) {
  Tensor wide = x * torch::ones({8});
  DLTensor q = described(wide.data_ptr(), {kDLFloat, 16, 1});
  flash_ref_attention_fwd(&q, &q, &q, &q, nullptr, nullptr);
}
void ok_dlpack(const Tensor& x) {
  Tensor wide = x * torch::ones({8});
  DLManagedTensor *q = at::toDLPack(wide.to(x.scalar_type())), *k = at::toDLPack(x);
  flash_ref_attention_fwd(&q->dl_tensor, &k->dl_tensor, &k->dl_tensor, &k->dl_tensor, nullptr, nullptr);
}
