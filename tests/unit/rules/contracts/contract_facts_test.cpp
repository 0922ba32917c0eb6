// What holds for a role in every contract of a library, said once more: a row that loses its rule is seen
// here.
#include <algorithm>
#include <map>
#include <set>

#include "rules/contracts/contract.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

const DtypeSet kHalf = {Dtype::kFloat16, Dtype::kBFloat16};

std::string operand_of(const Api& api, const Operand& operand) {
  return api.library + " " + api.name + " " + operand.role;
}

bool is_one_of(const std::string& word, const std::set<std::string>& words) { return words.contains(word); }

}  // namespace

TEST_CASE(
    "tables that are demanded in float32, statistics and slopes are so in every contract of the library") {
  // By role, with the libraries that cast such an operand themselves.
  const std::map<std::string, std::set<std::string>> everywhere = {
      {"alibi_slopes", {}}, {"lse", {}},         {"out_partial", {}}, {"initial_state", {}},
      {"final_state", {}},  {"freqs", {"apex"}}, {"k_freqs", {}}};
  for (const Api& api : builtin_contracts().apis) {
    for (const Operand& operand : api.operands) {
      CAPTURE(operand_of(api, operand));
      const bool table = operand.role == "cos_sin" && api.library == "flashinfer";
      if (!table && !everywhere.contains(operand.role)) continue;
      if (!table && everywhere.at(operand.role).contains(api.library)) continue;
      CHECK(operand.accepts == DtypeSet{Dtype::kFloat32});
      CHECK(operand.same_as.empty());
    }
  }
}

TEST_CASE("lengths, tables of blocks and positions are integers") {
  const std::set<std::string> indices = {"cu_seqlens_q",     "cu_seqlens_k",    "seqlens_k",   "seqused_k",
                                         "leftpad_k",        "cache_batch_idx", "block_table", "seqused_q",
                                         "cu_seqlens_k_new", "seqlens_rotary"};
  const std::set<std::string> narrow = {"ggml", "tensorrt_llm"};
  for (const Api& api : builtin_contracts().apis) {
    for (const Operand& operand : api.operands) {
      CAPTURE(operand_of(api, operand));
      if (is_one_of(operand.role, indices)) CHECK(operand.accepts == DtypeSet{Dtype::kInt32});
      if (operand.role == "positions")
        CHECK(operand.accepts == DtypeSet{narrow.contains(api.library) ? Dtype::kInt32 : Dtype::kInt64});
    }
  }
}

TEST_CASE("keys, values, results and their gradients are like the query where the library says so") {
  const std::set<std::string> like_q = {"k",   "v",          "k_new",       "v_new",    "qv",      "dq",
                                        "dk",  "dv",         "dout",        "k_cache",  "v_cache", "kv",
                                        "out", "qkv_weight", "proj_weight", "proj_bias"};
  // Those whose own rule is another: quantized operands, caches of bytes, kernels without a check.
  const std::set<std::string> excused = {
      "xformers memory_efficient_attention k",
      "xformers memory_efficient_attention v",
      "torch flex_attention k",
      "torch flex_attention v",
      "torch _scaled_dot_product_attention_math k",
      "torch _scaled_dot_product_attention_math v",
      "flash_attn_3 flash_attn_3.fwd_combine out",
  };
  std::size_t asked = 0;
  for (const Api& api : builtin_contracts().apis) {
    const std::set<std::string> strict = {"flash_attn", "flash_attn_3", "flash_ref",
                                          "torch",      "natten",       "transformer_engine"};
    const bool sage = api.name.starts_with("sageattention.sageattn");
    if ((!strict.contains(api.library) && !sage) || !api.find("q")) continue;
    for (const Operand& operand : api.operands) {
      if (!is_one_of(operand.role, like_q) || excused.contains(operand_of(api, operand))) continue;
      CAPTURE(operand_of(api, operand));
      CHECK(operand.same_as == "q");
      const bool fp8_result = operand.role == "out" && api.library == "flash_attn_3" && !api.find("dout");
      CHECK(operand.accepts == (fp8_result ? DtypeSet{Dtype::kBFloat16} : DtypeSet{}));
      ++asked;
    }
  }
  CHECK(asked > 150);
}

TEST_CASE(
    "rotary tables are like what they turn, but for flash-attn from 2.8 on, Apex, Liger, TensorRT-LLM and "
    "vLLM") {
  for (const Api& api : builtin_contracts().apis) {
    const std::string turned = api.find("q") ? "q" : api.find("x") ? "x" : api.find("qkv") ? "qkv" : "kv";
    for (const Operand& operand : api.operands) {
      if (operand.role != "cos" && operand.role != "sin") continue;
      CAPTURE(operand_of(api, operand), api.since);
      const bool own_rule = is_one_of(api.library, {"apex", "liger_kernel", "tensorrt_llm"});
      if (api.since == "2.8.0" || own_rule) {
        CHECK((operand.same_as.empty() || (operand.role == "sin" && operand.same_as == "cos")));
      } else {
        CHECK((operand.same_as == turned || (operand.role == "sin" && operand.same_as == "cos")));
        CHECK(operand.accepts == DtypeSet{});
      }
    }
  }
}

TEST_CASE("flash-attn 2, SageAttention, vLLM's and FlashInfer's queries") {
  std::size_t half = 0;
  for (const Api& api : builtin_contracts().apis) {
    const Operand* q = api.find(api.find("qkv") ? "qkv" : "q");
    if (!q || api.kind == ApiKind::kRotary) continue;
    CAPTURE(operand_of(api, *q));
    const bool fa2 = api.library == "flash_attn" && api.name.find(".cute.") == std::string::npos;
    if (fa2 || api.name.starts_with("sageattention.sageattn")) {
      CHECK(q->accepts == kHalf);
      ++half;
    }
    if (api.library == "ggml") CHECK(q->accepts == DtypeSet{Dtype::kFloat32});
    if (api.library == "flash_attn_3" && !api.find("dout")) {
      CHECK(q->accepts.contains(Dtype::kFloat8_e4m3fn));
      CHECK_FALSE(q->accepts.contains(Dtype::kFloat32));
    }
  }
  CHECK(half > 20);
}

// fla and Liger are written in Triton, xFormers, transformers and diffusers call PyTorch's C++, exllamav2's
// C++ is reached from Python alone; flash_ref and ggml are C; DeepSpeed, ColossalAI and FasterTransformer
// load their C++ into objects that have no name in Python.
TEST_CASE("every library has its C++ and its Python names") {
  const std::set<std::string> python_only = {"fla",       "xformers",     "transformers",
                                             "diffusers", "liger_kernel", "exllamav2"};
  const std::set<std::string> c_only = {"flash_ref", "ggml", "deepspeed", "colossalai", "fastertransformer"};
  std::map<std::string, std::pair<bool, bool>> spelt;
  for (const Api& api : builtin_contracts().apis) {
    for (const std::string& spelling : api.spellings) {
      const bool python = spelling.find('.') != std::string::npos;
      (python ? spelt[api.library].second : spelt[api.library].first) = true;
    }
  }
  CHECK(spelt.size() > python_only.size() + c_only.size());
  for (const auto& [library, names] : spelt) {
    CAPTURE(library);
    CHECK(names.first != python_only.contains(library));
    CHECK(names.second != c_only.contains(library));
  }
}

TEST_CASE("flex_attention took keys and values of other dtypes, and autocast, later than it came") {
  const ContractSet& contracts = builtin_contracts();
  const Api& old = *contracts.named("flex_attention", "2.6");
  const Api& now = *contracts.named("flex_attention", "2.13");
  CHECK_FALSE(old.find("k")->takes(Dtype::kFloat32, Dtype::kBFloat16));
  CHECK(now.find("k")->takes(Dtype::kFloat32, Dtype::kBFloat16));
  CHECK(old.autocast_at("cuda", "2.6") == AutocastBehaviour::kAsIs);
  CHECK(now.autocast_at("cuda", "2.13") == AutocastBehaviour::kRecasts);
  CHECK(now.autocast_at("mps", "2.13") == AutocastBehaviour::kAsIs);
}

TEST_CASE("versions of a library decide about its contracts") {
  ContractSet contracts = builtin_contracts();
  CHECK(version_changes(contracts, "flash_attn") == std::vector<std::string>{"2.8.0"});
  CHECK(version_changes(contracts, "fla") == std::vector<std::string>{"0.1", "0.2", "0.4"});
  CHECK(version_changes(contracts, "natten").empty());
  const auto k = [&] { return contracts.named("fla.chunk_rwkv7", "2.13")->find("k")->same_as; };
  CHECK(k().empty());  // the newest
  contracts.versions["fla"] = "0.1.2";
  CHECK(k() == "r");
  CHECK(contracts.packages.at("fla") == "flash-linear-attention");
}

TEST_CASE("Python's names of operands") {
  const ContractSet& contracts = builtin_contracts();
  CHECK(contracts.named("scaled_dot_product_attention", "2.13")->find("mask")->called() == "attn_mask");
  CHECK(contracts.find("flash_attn.flash_attn_with_kvcache")->find("cos")->called() == "rotary_cos");
  CHECK(contracts.find("flash_attn.flash_attn_func")->find("q")->called() == "q");
}

TEST_CASE("both halves that are rotated, and both results, are like the first") {
  for (const Api& api : builtin_contracts().apis) {
    if (api.name != "rotary_emb.apply_rotary") continue;
    std::map<std::string, std::string> like;
    for (const Operand& operand : api.operands) like[operand.role] = operand.same_as;
    CHECK(like["x2"] == "x");
    CHECK(like["out2"] == "out");
    return;
  }
  FAIL("no contract of rotary_emb.apply_rotary");
}
