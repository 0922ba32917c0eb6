// What the watched APIs accept, as constants: generated at build time from rules/contracts/*.json for the
// rows of sanitizer/sources/*/apis.inc, so that a hook compares numbers and never parses anything. Dtypes are
// packed as code << 16 | bits << 8 | lanes, DLPack's three numbers in one word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtype_guard::san {

inline constexpr std::size_t kMaxOperands = 20;
inline constexpr std::size_t kMaxAccepted = 16;
inline constexpr std::size_t kMaxOwnApis = 16;  // with contracts of the user's own

struct OperandContract {
  const char* role;
  std::uint32_t accepts[kMaxAccepted];  // zero-terminated; empty when same_as alone decides
  std::uint64_t accepts_set;            // DtypeSet of what the role takes, same_as followed
  int same_as;                          // index of the operand whose dtype this one must equal, or -1
  bool optional;
  bool output;  // written; read as well unless `input` is false
  bool input;
};

struct ApiContract {
  const char* name;
  std::size_t operand_count;
  OperandContract operands[kMaxOperands];
};

// One enumerator for each row.
enum class ApiId : std::uint8_t {
#define DTYPE_SAN_API(name) name,
#include "dtype_san_apis.inc"
#undef DTYPE_SAN_API
  kCount,
};
inline constexpr std::size_t kApiCount = static_cast<std::size_t>(ApiId::kCount);

}  // namespace dtype_guard::san

// kRecordApiCount: contracts of calls that are seen by the name of a record (sources/torch), not by a
// function.
#include "dtype_san_record_count.inc"

namespace dtype_guard::san {

// Numbers of APIs: first those of apis.inc, then the user's, those of records, and once more those of
// apis.inc and the user's in findings about the tensors of their options.
inline constexpr std::size_t kFirstRecordApi = kApiCount + kMaxOwnApis;
inline constexpr std::size_t kFirstWithOptions = kFirstRecordApi + kRecordApiCount;
static_assert(kFirstWithOptions + kFirstRecordApi < 256, "ApiId holds them all");

// Mixes of floating dtypes that an operator takes.
enum class AcceptedMix : std::uint8_t {
  kNone,
  kFloatParameters,  // float32 beside a first operand in float16 or bfloat16
  kFloatParametersOnCpu,
};

// What a record is called, the contract that holds for it, and for each operand of that the position among
// the record's values; from 256 on it is one in a list: the position of that, and 256 times the place in it,
// from 1.
struct RecordRow {
  const char* name;
  ApiId api;
  bool only_if_raised;  // the contract is that of an older version: it is broken where the call raises
  bool is_operator;     // any of PyTorch's, of which a finding is what raises for its operands' dtypes
  bool has_weights;     // computed by several operators, of which autocast may recast each
  AcceptedMix mix;
  int arguments[kMaxOperands];
  // Of an operator: where in kRecords the row of an older version is, which has another contract; or -1.
  std::int16_t older = -1;
};

constexpr ApiId with_options(ApiId api) {
  return static_cast<ApiId>(static_cast<std::size_t>(api) + kFirstWithOptions);
}
constexpr ApiId without_options(ApiId api) {
  const auto index = static_cast<std::size_t>(api);
  return static_cast<ApiId>(index < kFirstWithOptions ? index : index - kFirstWithOptions);
}

}  // namespace dtype_guard::san

// inline constexpr ApiContract kContracts[kApiCount], and kOptionContracts[kApiCount] with the tensors of the
// options behind the others; without any where options have none. kRecordContracts[kRecordApiCount] and
// RecordRow kRecords[kRecordCount].
#include "dtype_san_contracts.inc"
