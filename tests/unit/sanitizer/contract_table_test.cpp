// The constants in the preloaded library say what the contract files say.
#include "sanitizer/contracts/contract_table.h"

#include "rules/contracts/contract.h"
#include "sanitizer/contracts/dtype_names.h"
#include "tests/catch.h"

using namespace dtype_guard;

namespace {

std::uint32_t packed(DlpackType type) { return std::uint32_t{type.code} << 16 | type.bits << 8 | type.lanes; }

DtypeSet listed(const san::OperandContract& operand) {
  DtypeSet set;
  for (std::uint32_t entry : operand.accepts)
    for (Dtype dtype : all_dtypes())
      if (auto type = to_dlpack(dtype); type && entry == packed(*type)) set.insert(dtype);
  return set;
}

}  // namespace

TEST_CASE("every watched API has the operands of its contract") {
  for (const san::ApiContract& row : san::kContracts) {
    INFO(row.name);
    const Api* api = builtin_contracts().find(row.name);
    REQUIRE(api != nullptr);
    REQUIRE(row.operand_count == api->operands.size());
    for (std::size_t i = 0; i < row.operand_count; ++i) {
      const san::OperandContract& operand = row.operands[i];
      INFO(operand.role);
      const Operand* expected = api->find(operand.role);
      REQUIRE(expected != nullptr);
      CHECK(expected->argument == static_cast<int>(i));
      CHECK(listed(operand) == expected->accepts);
      CHECK(DtypeSet::from_bits(operand.accepts_set) == api->accepted(operand.role));
      CHECK(operand.optional == expected->optional);
      CHECK(operand.output == (expected->direction != Direction::kIn));
      CHECK((operand.same_as < 0 ? "" : std::string(row.operands[operand.same_as].role)) ==
            expected->same_as);
    }
  }
}

TEST_CASE("every kernel of flash_ref that has a contract is watched") {
  for (const Api& api : builtin_contracts().apis) {
    if (api.library != "flash_ref") continue;
    bool watched = false;
    for (const san::ApiContract& row : san::kContracts) watched = watched || api.name == row.name;
    INFO(api.name);
    CHECK(watched);
  }
}

TEST_CASE("packed dtypes have the names of the dtype table") {
  for (Dtype dtype : all_dtypes()) {
    if (auto type = to_dlpack(dtype)) CHECK(san::dtype_name(packed(*type)) == name(dtype));
  }
  CHECK(san::dtype_name(0) == "");
  CHECK(san::dtype_name(77U << 16 | 3U << 8 | 1U) == "");
}
