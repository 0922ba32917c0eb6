// A contract says which dtypes one attention, rotary or cache API takes: per operand a set of accepted dtypes
// or "the same as another operand". Contracts are data (one JSON file per library in this folder); this
// header is their in-memory form, which the analyzer, the sanitizer's table generator and the kernels' check
// generator share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rules/dtype/dtype_set.h"

namespace dtype_guard {

enum class ApiKind : std::uint8_t { kAttention, kRotary, kKvCache };
enum class Direction : std::uint8_t { kIn, kOut, kInOut };
// What autocast does to a call before its kernel sees the operands.
enum class AutocastBehaviour : std::uint8_t {
  kAsIs,     // not registered: the kernel receives the tensors as they are
  kRecasts,  // on the lower-precision list: operands are cast to the autocast dtype
};

struct Operand {
  std::string role;     // "q", "k", "cos", ...; the vocabulary is roles.inc
  int argument = 0;     // position in the C/C++ signature, from 0
  DtypeSet accepts;     // empty: no set of its own (same_as decides)
  std::string same_as;  // role whose dtype this one must equal; empty: none
  bool optional = false;
  Direction direction = Direction::kIn;
  // Whether `dtype` is right here when the operand named by same_as has dtype `reference` (kUndefined:
  // unknown, which never refuses). With both accepts and same_as, either is enough: a mask may be bool, or
  // float32, or like q.
  bool takes(Dtype dtype, Dtype reference) const;
};

struct Api {
  std::string name;     // canonical: "flash_ref_attention_fwd"
  std::string library;  // "flash_ref"
  ApiKind kind = ApiKind::kAttention;
  std::vector<std::string> spellings;  // qualified C/C++ names a call may use; overloads share one contract
  std::vector<Operand> operands;       // in signature order
  std::vector<Operand> options;        // tensors that are members of an options argument; no position
  std::map<std::string, AutocastBehaviour> autocast;  // device -> behaviour; absent: as is
  std::string result_like;  // role whose dtype the result has; empty: no tensor result
  std::string source;       // where the rule is written
  // Further facts; empty or kUndefined where the file says nothing.
  Dtype result_dtype = Dtype::kUndefined;  // a result that is fixed whatever the operands are
  std::string since, until;  // the library's versions for which this holds: from `since`, before `until`
  std::vector<std::string> errors;  // what the library itself says when its rule is broken, in its words
  std::map<std::string, std::string> autocast_since;  // device -> PyTorch release from which `autocast` holds
  // What autocast does on a device in a PyTorch release; kAsIs where the file says nothing.
  AutocastBehaviour autocast_at(std::string_view device, std::string_view torch_version) const;
  // Whether the contract holds for a version of its library; an empty version is taken to be covered.
  bool holds_for(std::string_view library_version) const;
  const Operand* find(std::string_view role) const;
  // The dtypes that `role` takes, following same_as to a set of its own.
  DtypeSet accepted(std::string_view role) const;
};

struct ContractSet {
  std::vector<Api> apis;
  const Api* find(std::string_view spelling) const;  // canonical name or any spelling
};

// A contract file that cannot be used. what() reads "FILE:LINE: POINTER: found X, expected Y".
class ContractError : public std::runtime_error {
 public:
  ContractError(std::string file, int line, std::string pointer, std::string problem);
  std::string file;
  int line;
  std::string pointer;
};

// Throws ContractError. `file` names the source of the text in messages.
ContractSet parse_contracts(std::string_view json_text, const std::string& file);
ContractSet load_contracts(const std::filesystem::path& file);
// The contracts this build ships, compiled in from rules/contracts/*.json.
const ContractSet& builtin_contracts();
// Later definitions of the same API name replace earlier ones.
void merge_contracts(ContractSet& into, const ContractSet& more);

}  // namespace dtype_guard
