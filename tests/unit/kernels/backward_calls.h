// Right calls of the backward functions, of varlen and of RWKV-7, by role, to be made wrong in one point by a
// test.
#pragma once

#include <map>
#include <memory>

#include "tests/unit/kernels/calls.h"

namespace flash_ref_test {

class RoleArguments {
 public:
  DLTensor& named(const std::string& role) { return tensors_.at(role); }

  Outcome call() {
    std::vector<std::vector<std::uint8_t>> before, after;
    for (const auto& [role, memory] : memory_) before.push_back(memory->memory());
    const int status = run();
    for (const auto& [role, memory] : memory_) after.push_back(memory->memory());
    return {status, flash_ref_last_error(), before != after};
  }

  virtual ~RoleArguments() = default;

 protected:
  void add(const char* role, const std::vector<std::int64_t>& shape, TestDtype dtype) {
    const auto memory = memory_.emplace(role, std::make_unique<TestTensor>(shape, dtype)).first;
    tensors_[role] = memory->second->tensor();
  }
  TestTensor& memory(const char* role) { return *memory_.at(role); }
  DLTensor* at(const char* role) { return &tensors_.at(role); }

  virtual int run() = 0;

 private:
  std::map<std::string, std::unique_ptr<TestTensor>> memory_;
  std::map<std::string, DLTensor> tensors_;
};

// q (2, 5, 4, 16), k and v (2, 7, 2, 16) in float16.
struct AttentionBwdArguments : RoleArguments {
  AttentionBwdArguments() {
    for (const char* role : {"q", "out", "dout", "dq"}) add(role, {2, 5, 4, 16}, kFloat16);
    for (const char* role : {"k", "v", "dk", "dv"}) add(role, {2, 7, 2, 16}, kFloat16);
    add("lse", {2, 4, 5}, kFloat32);
    options.struct_size = sizeof options;
  }
  int run() override {
    return flash_ref_attention_bwd(at("q"), at("k"), at("v"), at("out"), at("lse"), at("dout"), at("dq"),
                                   at("dk"), at("dv"), &options);
  }
  flash_ref_attention_options options{};
};

// The same rows as two sequences.
struct VarlenBwdArguments : RoleArguments {
  VarlenBwdArguments() {
    for (const char* role : {"q", "out", "dout", "dq"}) add(role, {10, 4, 16}, kFloat16);
    for (const char* role : {"k", "v", "dk", "dv"}) add(role, {14, 2, 16}, kFloat16);
    for (const char* role : {"cu_seqlens_q", "cu_seqlens_k"}) add(role, {3}, kInt32);
    add("lse", {4, 10}, kFloat32);
    const std::uint32_t q[] = {0, 5, 10}, k[] = {0, 7, 14};
    for (std::size_t i = 0; i < 3; ++i) {
      memory("cu_seqlens_q").set_bits(i, q[i]);
      memory("cu_seqlens_k").set_bits(i, k[i]);
    }
    options.struct_size = sizeof options;
  }
  int run() override {
    return flash_ref_attention_varlen_bwd(at("q"), at("k"), at("v"), at("cu_seqlens_q"), at("cu_seqlens_k"),
                                          at("out"), at("lse"), at("dout"), at("dq"), at("dk"), at("dv"),
                                          &options);
  }
  flash_ref_attention_options options{};
};

struct VarlenFwdArguments : VarlenBwdArguments {
  int run() override {
    return flash_ref_attention_varlen_fwd(at("q"), at("k"), at("v"), at("cu_seqlens_q"), at("cu_seqlens_k"),
                                          at("out"), at("lse"), &options);
  }
};

// r (2, 5, 3, 8) in bfloat16.
struct Rwkv7FwdArguments : RoleArguments {
  Rwkv7FwdArguments() {
    for (const char* role : {"r", "w", "k", "v", "a", "b", "out"}) add(role, {2, 5, 3, 8}, kBFloat16);
    for (const char* role : {"initial_state", "final_state"}) add(role, {2, 3, 8, 8}, kFloat32);
    memory("w").set(std::vector<double>(2 * 5 * 3 * 8, -0.5));
  }
  int run() override {
    return flash_ref_rwkv7_fwd(at("r"), at("w"), at("k"), at("v"), at("a"), at("b"), at("initial_state"),
                               at("out"), at("final_state"), nullptr);
  }
};

struct Rwkv7BwdArguments : RoleArguments {
  Rwkv7BwdArguments() {
    for (const char* role : {"r", "w", "k", "v", "a", "b", "dout", "dr", "dw", "dk", "dv", "da", "db"})
      add(role, {2, 5, 3, 8}, kBFloat16);
    for (const char* role : {"initial_state", "dfinal_state", "dinitial_state"})
      add(role, {2, 3, 8, 8}, kFloat32);
    memory("w").set(std::vector<double>(2 * 5 * 3 * 8, -0.5));
    options.struct_size = sizeof options;
  }
  int run() override {
    return flash_ref_rwkv7_bwd(at("r"), at("w"), at("k"), at("v"), at("a"), at("b"), at("initial_state"),
                               at("dout"), at("dfinal_state"), at("dr"), at("dw"), at("dk"), at("dv"),
                               at("da"), at("db"), at("dinitial_state"), &options);
  }
  flash_ref_rwkv7_options options{};
};

}  // namespace flash_ref_test
