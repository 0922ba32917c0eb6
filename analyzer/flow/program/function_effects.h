// What the body of one function does to objects, found by one look at it: the fields that it reads, sets and
// hands out, what it registers and converts, what it makes and calls. All passes over the program that ask
// such things ask here (FunctionIndex::effects). It hangs on that body alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/flow/program/function_info.h"

namespace dtype_guard::flow {

// A place that ends in a field, elements of that aside, and what becomes of it in this function.
struct FieldAccess {
  enum class Kind : std::uint8_t { kLoad, kStore, kAddress };
  const Instruction* at = nullptr;
  const std::string* field = nullptr;
  Kind kind = Kind::kLoad;
  bool of_this = false;        // `this.f` of the method's or constructor's own object
  bool in_this = false;        // that, or an element of it
  bool is_constant = false;    // a store of a constant, which is no tensor
  bool is_first = false;       // in the first block: it hangs on nothing
  bool is_converted = false;   // a load: what it gives is converted or registered, or something in it
  bool is_written = false;     // an address: it is stored through, or what stands there converted
  bool is_handed_out = false;  // an address: it is returned, or put into a container
  // The class of the object that has the field, where the function makes it or is handed it as such; null
  // where that is not known here.
  const std::string* owner = nullptr;
  bool may_set() const { return kind != Kind::kLoad; }
};

struct FunctionEffects {
  FunctionEffects(const Function& code, const FunctionInfo& info);
  std::vector<FieldAccess> fields;            // in the code's order, as the others
  std::vector<const Instruction*> makes;      // objects
  std::vector<const Instruction*> runs;       // calls, and closures that it makes
  std::vector<const Instruction*> autocasts;  // what it sets it to
  bool may_make_half = false;                 // converts a module to half: half_conversions.h
  bool may_name_half = false;                 // a half type: likewise
  bool states_precision = false;              // makes half, or turns autocast on, or has a library do either
  bool asks_for_dtypes = false;               // of a tensor
  // That, or names one: of a table that dtypes are looked up in, which function runs goes with the dtype.
  bool names_dtypes = false;
};

}  // namespace dtype_guard::flow
