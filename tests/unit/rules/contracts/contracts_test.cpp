#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "rules/contracts/contract.h"
#include "rules/contracts/roles.h"
#include "tests/catch.h"

using namespace dtype_guard;

TEST_CASE("the shipped contracts name the APIs by every spelling") {
  const ContractSet& contracts = builtin_contracts();
  for (const char* spelling :
       {"flash_ref_attention_fwd", "flash_ref_rotary", "mha_fwd", "flash::mha_varlen_fwd", "mha_bwd",
        "mha_fwd_kvcache", "at::scaled_dot_product_attention", "torch::scaled_dot_product_attention",
        "::at::_scaled_dot_product_attention"}) {
    CAPTURE(spelling);
    CHECK(contracts.find(spelling) != nullptr);
  }
  CHECK(contracts.find("scaled_dot_product") == nullptr);
  CHECK(contracts.find("") == nullptr);
}

TEST_CASE("flash_ref's attention takes half q and everything else like it") {
  const Api& api = *builtin_contracts().find("flash_ref_attention_fwd");
  CHECK(api.kind == ApiKind::kAttention);
  CHECK(api.library == "flash_ref");
  CHECK(api.accepted("q").describe() == "float16 or bfloat16");
  CHECK(api.accepted("k") == api.accepted("q"));
  CHECK(api.find("v")->argument == 2);
  CHECK(api.find("out")->direction == Direction::kOut);
  CHECK(api.find("lse")->optional);
  CHECK(api.accepted("lse").describe() == "float32");
  CHECK(api.find("mask") == nullptr);
  CHECK(api.accepted("mask").empty());
  CHECK(api.autocast.empty());
}

TEST_CASE("an operand takes what its contract says") {
  const Api& attention = *builtin_contracts().find("flash_ref_attention_fwd");
  const Operand& k = *attention.find("k");
  CHECK(k.takes(Dtype::kFloat16, Dtype::kFloat16));
  CHECK_FALSE(k.takes(Dtype::kFloat32, Dtype::kFloat16));
  CHECK(k.takes(Dtype::kFloat32, Dtype::kUndefined));
  CHECK_FALSE(attention.find("q")->takes(Dtype::kFloat32, Dtype::kFloat32));

  const Operand& mask = *builtin_contracts().find("at::scaled_dot_product_attention")->find("mask");
  CHECK(mask.takes(Dtype::kBool, Dtype::kBFloat16));
  CHECK(mask.takes(Dtype::kFloat32, Dtype::kBFloat16));
  CHECK(mask.takes(Dtype::kBFloat16, Dtype::kBFloat16));
  CHECK_FALSE(mask.takes(Dtype::kFloat16, Dtype::kBFloat16));
}

TEST_CASE("autocast recasts SDPA on CUDA and CPU, on MPS in newer releases only") {
  const Api& sdpa = *builtin_contracts().find("at::scaled_dot_product_attention");
  CHECK(sdpa.autocast.at("cuda") == AutocastBehaviour::kRecasts);
  CHECK(sdpa.autocast.at("cpu") == AutocastBehaviour::kRecasts);
  CHECK(sdpa.autocast_at("mps", "2.5") == AutocastBehaviour::kAsIs);
  CHECK(sdpa.autocast_at("mps", "2.13") == AutocastBehaviour::kRecasts);
  CHECK(sdpa.result_like == "q");
}

TEST_CASE("contracts of all libraries are found by their Python and C++ names") {
  const ContractSet& contracts = builtin_contracts();
  for (const char* spelling :
       {"flash_attn.flash_attn_func", "flash_attn.flash_attn_with_kvcache",
        "flash_attn_interface.flash_attn_func", "torch.nn.attention.flex_attention.flex_attention",
        "xformers.ops.memory_efficient_attention", "flashinfer.apply_rope_with_cos_sin_cache",
        "fla.ops.chunk_delta_rule", "torch.ops._C.rotary_embedding",
        "transformer_engine_torch.fused_rope_forward", "sageattention.sageattn", "natten.na2d",
        "ggml_flash_attn_ext", "torch.nn.functional.scaled_dot_product_attention"}) {
    CAPTURE(spelling);
    REQUIRE(contracts.find(spelling) != nullptr);
  }
}

TEST_CASE("some operands must be float32: tables, slopes, states") {
  const ContractSet& contracts = builtin_contracts();
  CHECK(contracts.find("flashinfer.apply_rope_with_cos_sin_cache")->accepted("cos_sin").describe() ==
        "float32");
  CHECK(contracts.find("transformer_engine_torch.fused_rope_forward")->accepted("freqs").describe() ==
        "float32");
  CHECK(contracts.find("ggml_flash_attn_ext")->accepted("q").describe() == "float32");
  CHECK(contracts.find("ggml_flash_attn_ext")->result_dtype == Dtype::kFloat32);
  CHECK(contracts.find("fla.ops.chunk_kda")->accepted("initial_state").describe() == "float32");
  CHECK(contracts.find("fla.ops.parallel_path_attn")->accepted("beta").describe() == "float32");
  CHECK(contracts.find("mha_fwd")->accepted("alibi_slopes").describe() == "float32");
}

TEST_CASE("a contract knows the versions that it holds for") {
  const ContractSet& contracts = builtin_contracts();
  const char* name = "flash_attn.layers.rotary.apply_rotary_emb";
  std::vector<const Api*> rotary;
  for (const Api& api : contracts.apis) {
    if (api.name == name) rotary.push_back(&api);
  }
  REQUIRE(rotary.size() == 2);
  CHECK(rotary[0]->holds_for("2.7.4"));
  CHECK_FALSE(rotary[0]->holds_for("2.8.0"));
  CHECK_FALSE(rotary[0]->holds_for(""));  // an unknown version is the newest
  CHECK(rotary[1]->holds_for("2.8.0"));
  CHECK(contracts.named(name, "2.13") == rotary[1]);
  CHECK(rotary[0]->find("cos")->same_as == "x");
  CHECK(rotary[1]->find("cos")->same_as.empty());
  const Api& sdpa = *contracts.find("at::scaled_dot_product_attention");
  CHECK(sdpa.autocast_at("cuda", "2.13") == AutocastBehaviour::kRecasts);
  CHECK(sdpa.autocast_at("cpu", "2.1") == AutocastBehaviour::kAsIs);
  CHECK(sdpa.autocast_at("toaster", "2.13") == AutocastBehaviour::kAsIs);
}

TEST_CASE("older releases of PyTorch refuse a float32 mask beside half queries") {
  const ContractSet& contracts = builtin_contracts();
  const auto takes = [&](const char* torch_version) {
    const Api* api = contracts.named("scaled_dot_product_attention", torch_version);
    REQUIRE(api != nullptr);
    return api->find("mask")->takes(Dtype::kFloat32, Dtype::kBFloat16);
  };
  CHECK_FALSE(takes("2.0"));
  CHECK_FALSE(takes("2.3.1"));
  CHECK(takes("2.4"));
  CHECK(takes("2.13"));
  CHECK(contracts.named("_scaled_dot_product_attention", "1.13") != nullptr);
  CHECK(contracts.named("_scaled_dot_product_attention", "2.13") == nullptr);
}

TEST_CASE("the kernels of CUDA refuse a float32 mask beside half queries in every release") {
  const ContractSet& contracts = builtin_contracts();
  const auto takes = [&](const char* device, Dtype mask, Dtype query) {
    const Api* api = contracts.named("scaled_dot_product_attention", "2.13", device);
    REQUIRE(api != nullptr);
    return api->find("mask")->takes(mask, query);
  };
  CHECK_FALSE(takes("cuda", Dtype::kFloat32, Dtype::kBFloat16));
  CHECK(takes("cuda", Dtype::kBool, Dtype::kBFloat16));
  CHECK(takes("cuda", Dtype::kFloat32, Dtype::kFloat32));
  for (const char* device : {"cpu", "mps", "xpu", ""})
    CHECK(takes(device, Dtype::kFloat32, Dtype::kBFloat16));
}

TEST_CASE("an operand knows what its library says when the rule is broken") {
  const Api& api = *builtin_contracts().find("flash_attn.flash_attn_func");
  CHECK(api.find("q")->error == "FlashAttention only support fp16 and bf16 data type");
  CHECK(api.find("k")->error == "query and key must have the same dtype");
  CHECK(api.find("alibi_slopes")->argument == 8);
  CHECK(builtin_contracts().find("mha_fwd")->find("alibi_slopes")->argument == 4);
}

TEST_CASE("a result is like an operand with exceptions, fixed, or named by an option") {
  const ContractSet& contracts = builtin_contracts();
  const Api& hopper = *contracts.find("flash_attn_interface.flash_attn_func");
  CHECK(hopper.result_like == "q");
  CHECK(hopper.result_for.at(Dtype::kFloat8_e4m3fn) == Dtype::kBFloat16);
  CHECK(contracts.find("flashinfer.single_prefill_with_kv_cache")->result_argument == 6);
  CHECK(contracts.find("ggml_flash_attn_ext")->result_dtype == Dtype::kFloat32);
}

TEST_CASE("of several results the first ones are known") {
  const ContractSet& contracts = builtin_contracts();
  const auto& kvcache = contracts.find("mha_fwd_kvcache")->results;
  REQUIRE(kvcache.size() == 2);
  CHECK(kvcache[0].like == "q");
  CHECK(kvcache[1].dtype == Dtype::kFloat32);
  CHECK(contracts.find("mha_fwd")->results.size() == 1);
  CHECK(contracts.find("flash_attn_func")->results.empty());
}

TEST_CASE("a file names a project's own types and helpers, with or without APIs") {
  const ContractSet set = parse_contracts(R"({"schema": "dtype-guard/contracts/1", "library": "mine",
    "types": {"my::half_t": "float16"}, "helpers": {"my::apply_scale": "mul"}})",
                                          "mine.json");
  CHECK(set.apis.empty());
  ContractSet all = builtin_contracts();
  merge_contracts(all, set);
  CHECK(all.types.at("my::half_t") == Dtype::kFloat16);
  CHECK(all.types.at("ggml_fp16_t") == Dtype::kFloat16);
  CHECK(all.helpers.at("my::apply_scale") == "mul");
}

TEST_CASE("a user's spelling comes before the shipped one") {
  ContractSet all = builtin_contracts();
  merge_contracts(all, parse_contracts(R"({"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
    {"name": "my_fwd", "kind": "attention", "spellings": ["mha_fwd"],
     "operands": [{"role": "q", "template_argument": 0, "accepts": ["half"]}]}]})",
                                       "mine.json"));
  CHECK(all.find("mha_fwd")->name == "my_fwd");
  CHECK(all.find("mha_fwd")->find("q")->template_argument == 0);
  CHECK(all.find("flash::mha_fwd")->name == "mha_fwd");
  CHECK(all.named("mha_fwd", "2.13")->library == "flash_attn");
}

TEST_CASE("a spelling belongs to one API") {
  std::map<std::string, std::string> owners;
  for (const Api& api : builtin_contracts().apis) {
    std::vector<std::string> names = api.spellings;
    names.push_back(api.name);
    for (const std::string& spelling : names) {
      CAPTURE(spelling);
      CHECK(owners.try_emplace(spelling, api.name).first->second == api.name);
    }
  }
}

TEST_CASE("every operand of every shipped contract can be satisfied and stands in signature order") {
  for (const Api& api : builtin_contracts().apis) {
    CAPTURE(api.name);
    CHECK_FALSE(api.source.empty());
    for (std::size_t i = 0; i < api.operands.size(); ++i) {
      CAPTURE(api.operands[i].role);
      CHECK_FALSE(api.accepted(api.operands[i].role).empty());
      CHECK(role_kind(api.operands[i].role).has_value());
      if (i > 0) CHECK(api.operands[i - 1].argument < api.operands[i].argument);
    }
  }
}

TEST_CASE("a user's contract replaces the shipped one of the same name and adds others") {
  const std::string text = R"({"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
    {"name": "flash_ref_rotary", "kind": "rotary", "spellings": ["flash_ref_rotary"],
     "operands": [{"role": "x", "argument": 0, "accepts": ["half"]},
                  {"role": "cos", "argument": 1, "accepts": ["float32"]}]},
    {"name": "my_attention", "kind": "attention", "spellings": ["my::attention"],
     "operands": [{"role": "q", "argument": 0, "accepts": ["floating"]}], "autocast": {"cuda": "recasts"}}]})";
  ContractSet all = builtin_contracts();
  const std::size_t before = all.apis.size();
  merge_contracts(all, parse_contracts(text, "mine.json"));
  CHECK(all.apis.size() == before + 1);
  CHECK(all.find("flash_ref_rotary")->library == "mine");
  CHECK(all.find("flash_ref_rotary")->accepted("x").describe() == "float16 or bfloat16");
  CHECK(all.find("my::attention")->accepted("q").describe() == "float16, float32, float64 or bfloat16");
}

TEST_CASE("the example in the contracts' README is a contract file") {
  std::ifstream in(std::string(DTYPE_GUARD_SOURCE_DIR) + "/rules/contracts/README.md");
  std::ostringstream page;
  page << in.rdbuf();
  const std::string text = page.str();
  const std::size_t start = text.find("```json\n") + 8;
  REQUIRE(start > 8);
  const ContractSet set = parse_contracts(text.substr(start, text.find("```", start) - start), "README.md");
  REQUIRE(set.find("my::attention") != nullptr);
  CHECK(set.find("my::attention")->operands.size() == 5);
  CHECK(set.types.size() == 2);
  const std::size_t five = text.find("    {\"schema\"");
  const std::string lines = text.substr(five, text.find("\n\n", five) - five);
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 4);
  CHECK(parse_contracts(lines, "README.md").find("my::attention")->operands.size() == 3);
}
