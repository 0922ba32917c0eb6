// Kernels, header and rules/contracts/flash_ref.json say the same about dtypes.
#include "rules/contracts/contract.h"

#include <fstream>
#include <sstream>

#include "kernels/launch/flash_ref_contract.h"
#include "tests/catch.h"
#include "tests/unit/kernels/backward_calls.h"
#include "tests/unit/kernels/kvcache_calls.h"

using namespace flash_ref_test;
using dtype_guard::Api;
using dtype_guard::Dtype;

namespace {

const Api& contract(const char* name) {
  static const dtype_guard::ContractSet set = dtype_guard::load_contracts(FLASH_REF_CONTRACTS);
  const Api* api = set.find(name);
  REQUIRE(api != nullptr);
  return *api;
}

// "q in {float16, bfloat16}; k = q; ...", as the header's comments write it.
std::string dtype_sentence(const Api& api) {
  std::string sentence;
  for (const auto& operand : api.operands) {
    sentence += (sentence.empty() ? "" : "; ") + operand.role;
    if (!operand.same_as.empty()) sentence += " = " + operand.same_as;
    if (operand.accepts.empty()) continue;
    std::string names;
    for (Dtype dtype : dtype_guard::all_dtypes()) {
      if (operand.accepts.contains(dtype)) names += (names.empty() ? "" : ", ") + std::string(name(dtype));
    }
    sentence += " in {" + names + "}";
    if (operand.optional) sentence += ", optional";
  }
  return sentence + ".";
}

void require_rule(const flash_ref::ApiRule& table, const flash_ref::OperandRule& rule,
                  const dtype_guard::Operand& operand) {
  CHECK(rule.role == operand.role);
  CHECK(rule.optional == operand.optional);
  CHECK((rule.same_as < 0 ? "" : table.operands[rule.same_as].role) == operand.same_as);
  for (std::size_t j = 0; j < std::size(flash_ref::kDtypes); ++j) {
    const flash_ref::NamedDtype& named = flash_ref::kDtypes[j];
    const auto dtype = dtype_guard::parse_dtype(named.name);
    REQUIRE(dtype.has_value());
    CHECK(dtype_guard::to_dlpack(*dtype) == dtype_guard::DlpackType{named.code, named.bits, named.lanes});
    CHECK(((rule.accepts >> j) & 1U) == (operand.accepts.contains(*dtype) ? 1U : 0U));
  }
}

void require_table(const flash_ref::ApiRule& table, const Api& api) {
  REQUIRE(table.operand_count == static_cast<int>(api.operands.size()));
  for (std::size_t i = 0; i < api.operands.size(); ++i) {
    CHECK(api.operands[i].argument == static_cast<int>(i));
    require_rule(table, table.operands[i], api.operands[i]);
  }
  REQUIRE(table.option_count == static_cast<int>(api.options.size()));
  for (std::size_t i = 0; i < api.options.size(); ++i) require_rule(table, table.options[i], api.options[i]);
}

// Every dtype that DLPack knows, in one operand at a time: refused exactly where the contract refuses it.
template <class Arguments>
void require_behaviour(const Api& api, Dtype base) {
  for (const auto& operand : api.operands) {
    for (Dtype dtype : dtype_guard::all_dtypes()) {
      const auto type = dtype_guard::to_dlpack(dtype);
      if (!type) continue;
      Arguments arguments;
      arguments.named(operand.role).dtype = {type->code, type->bits, type->lanes};
      const bool leads = operand.argument == 0;  // others have its dtype
      const bool accepted =
          leads || !operand.same_as.empty() ? dtype == base : operand.accepts.contains(dtype);
      INFO(api.name << ": " << operand.role << " as " << name(dtype));
      const Outcome outcome = arguments.call();
      CHECK(outcome.status == (accepted ? FLASH_REF_OK : FLASH_REF_BAD_DTYPE));
      CHECK(outcome.written == accepted);
    }
  }
}

}  // namespace

TEST_CASE("the generated tables equal the contract file") {
  require_table(flash_ref::kFlashRefAttentionFwd, contract("flash_ref_attention_fwd"));
  require_table(flash_ref::kFlashRefAttentionBwd, contract("flash_ref_attention_bwd"));
  require_table(flash_ref::kFlashRefAttentionVarlenBwd, contract("flash_ref_attention_varlen_bwd"));
  require_table(flash_ref::kFlashRefRwkv7Bwd, contract("flash_ref_rwkv7_bwd"));
  require_table(flash_ref::kFlashRefAttentionVarlenFwd, contract("flash_ref_attention_varlen_fwd"));
  require_table(flash_ref::kFlashRefAttentionKvcache, contract("flash_ref_attention_kvcache"));
  require_table(flash_ref::kFlashRefRwkv7Fwd, contract("flash_ref_rwkv7_fwd"));
  require_table(flash_ref::kFlashRefRotary, contract("flash_ref_rotary"));
}

TEST_CASE("the calls refuse exactly what the contract refuses") {
  require_behaviour<AttentionArguments>(contract("flash_ref_attention_fwd"), Dtype::kFloat16);
  require_behaviour<RotaryArguments>(contract("flash_ref_rotary"), Dtype::kBFloat16);
  require_behaviour<AttentionBwdArguments>(contract("flash_ref_attention_bwd"), Dtype::kFloat16);
  require_behaviour<VarlenFwdArguments>(contract("flash_ref_attention_varlen_fwd"), Dtype::kFloat16);
  require_behaviour<VarlenBwdArguments>(contract("flash_ref_attention_varlen_bwd"), Dtype::kFloat16);
  require_behaviour<Rwkv7FwdArguments>(contract("flash_ref_rwkv7_fwd"), Dtype::kBFloat16);
  require_behaviour<Rwkv7BwdArguments>(contract("flash_ref_rwkv7_bwd"), Dtype::kBFloat16);
  require_behaviour<KvCacheArguments>(contract("flash_ref_attention_kvcache"), Dtype::kBFloat16);
}

TEST_CASE("the header's sentences on dtypes equal the contract file") {
  std::ifstream file(FLASH_REF_HEADER);
  std::stringstream header;
  header << file.rdbuf();
  std::string comments;  // words only, so that a sentence may take several lines
  for (std::string word; header >> word;) {
    if (word != "*") comments += " " + word;
  }
  for (const char* name :
       {"flash_ref_attention_fwd", "flash_ref_attention_bwd", "flash_ref_attention_varlen_fwd",
        "flash_ref_attention_varlen_bwd", "flash_ref_rotary", "flash_ref_rwkv7_fwd", "flash_ref_rwkv7_bwd",
        "flash_ref_attention_kvcache"}) {
    const std::string sentence = " Dtypes: " + dtype_sentence(contract(name)) + " Accumulation:";
    INFO(sentence);
    CHECK(comments.find(sentence) != std::string::npos);
  }
}
