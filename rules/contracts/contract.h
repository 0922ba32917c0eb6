// A contract says which dtypes one attention, rotary or cache API takes: per operand a set of accepted dtypes
// or "the same as another operand". Contracts are data (one JSON file per library in this folder); this
// header is their in-memory form, which the analyzer, the sanitizer's table generator and the kernels' check
// generator share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
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
  std::string role;            // "q", "k", "cos", ...; the vocabulary is roles.inc
  std::string keyword;         // what Python callers write before "="; empty: the role
  int argument = -1;           // position in the signature, from 0; the dtype is that of what is passed there
  int template_argument = -1;  // instead: position among the template arguments, a type whose dtype is meant
  int dtype_argument = -1;     // position of an argument that says what `argument`, a void*, points to
  DtypeSet accepts;            // empty: no set of its own (same_as decides)
  std::string same_as;         // role whose dtype this one must equal; empty: none
  bool optional = false;
  Direction direction = Direction::kIn;
  std::string error;  // what the library itself says when this operand breaks its rule, in its words
  // Whether `dtype` is right here when the operand named by same_as has dtype `reference` (kUndefined:
  // unknown, which never refuses). With both accepts and same_as, either is enough: a mask may be bool, or
  // float32, or like q.
  bool takes(Dtype dtype, Dtype reference) const;
  const std::string& called() const { return keyword.empty() ? role : keyword; }
};

// What the call itself casts before it looks: its tensors, where the first of them has the dtype `from`, to
// what `keyword` names, unless that is None.
struct Recast {
  std::string keyword;  // empty: nothing
  Dtype from = Dtype::kUndefined;
};

// Of several results one: like an operand, or of a fixed dtype.
struct ApiResult {
  std::string like;  // a role
  Dtype dtype = Dtype::kUndefined;
};

struct Api {
  std::string name;     // canonical: "flash_ref_attention_fwd"
  std::string library;  // "flash_ref"
  ApiKind kind = ApiKind::kAttention;
  std::vector<std::string> spellings;  // qualified C/C++ names a call may use; overloads share one contract
  std::vector<Operand> operands;       // in signature order
  std::vector<Operand> options;        // tensors that are members of an options argument; no position
  std::map<std::string, AutocastBehaviour> autocast;  // device -> behaviour; absent: as is
  std::map<std::string, std::string> autocast_since;  // device -> PyTorch release from which `autocast` holds
  Recast recast;
  std::map<std::string, DtypeSet>
      fast;  // device -> dtypes that have the fast kernels; others are taken, slowly
  // The result's dtype: what `result_argument` names, if it is given and names one; else `result_dtype` if it
  // is fixed; else that of `result_like`, where `result_for` lists the exceptions.
  int result_argument = -1;  // position of a dtype option
  Dtype result_dtype = Dtype::kUndefined;
  std::string result_like;  // a role; empty: no tensor result, or nothing is known of it
  std::map<Dtype, Dtype> result_for;
  // Where several are returned: the first of them, in order. Nothing is known of those behind.
  std::vector<ApiResult> results;
  // The torch.autograd.Function that does the call, by its class's name, and the roles of the tensors that it
  // is applied to, in order. Empty without one.
  std::string autograd_function;
  std::vector<std::string> autograd_tensors;
  std::string since, until;       // the library's versions for which this holds: from `since`, before `until`
  std::set<std::string> devices;  // those on which it holds; empty: on all
  std::string source;             // where the rule is written
  // What autocast does on a device in a PyTorch release; kAsIs where the file says nothing.
  AutocastBehaviour autocast_at(std::string_view device, std::string_view torch_version) const;
  // Whether the contract holds for a version of its library; an empty version is taken to be the newest.
  bool holds_for(std::string_view library_version) const;
  bool holds_on(std::string_view device) const;    // an empty device: whether on some
  bool is_spelt(std::string_view spelling) const;  // as the canonical name or one of the spellings
  const Operand* find(std::string_view role) const;
  // The dtypes that `role` takes, following same_as to a set of its own.
  DtypeSet accepted(std::string_view role) const;
};

// The versions from which a library's contracts change, ascending; empty: the table knows one version.
struct ContractSet;
std::vector<std::string> version_changes(const ContractSet& contracts, std::string_view library);

// Whether some version of the library has both, on some device.
bool hold_together(const Api& a, const Api& b);

struct ContractSet {
  // Several of one name differ in `since` and `until`, or in `devices`.
  std::vector<Api> apis;
  // A project's own names of dtypes, types and enumerators: "my::half_t", "my::Type::kHalf".
  std::map<std::string, Dtype, std::less<>> types;
  // Functions that behave as an operator of rules/operators: "my::apply_scale" -> "mul".
  std::map<std::string, std::string, std::less<>> helpers;

  // What a library is called where packages are installed, where that is not its own name: "fla" ->
  // "flash-linear-attention".
  std::map<std::string, std::string, std::less<>> packages;
  // The versions that named() goes by; a library that is not here is taken to be the newest.
  std::map<std::string, std::string, std::less<>> versions;

  const Api* find(std::string_view spelling) const;  // by canonical name or any spelling, of any version
  // The same API as it is in a PyTorch release, and in `versions` of other libraries, on a device; without
  // one, the first that holds anywhere.
  const Api* named(std::string_view name, std::string_view torch_version, std::string_view device = {}) const;
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
// What records of PyTorch's call the API's operators of the dispatcher: a spelling names one as Python does
// ("torch.ops.aten.mul" is "aten::mul").
std::vector<std::string> operator_records(const Api& api);
// The contracts this build ships, compiled in from rules/contracts/*.json.
const ContractSet& builtin_contracts();
// An API of `more` replaces those of its name, and its spellings come before those that were there.
void merge_contracts(ContractSet& into, ContractSet more);

}  // namespace dtype_guard
