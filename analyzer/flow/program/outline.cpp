#include "analyzer/flow/program/outline.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "analyzer/flow/ir/module_code.h"

namespace dtype_guard::flow {
namespace {

// Keys that say where a definition stands, "py:a.f@12:5", each by its number in the order in which they
// occur: what only moved is what it was.
class Places {
 public:
  // What of a name is none, and the number; 0 where all is.
  std::pair<std::string_view, std::size_t> without_place(std::string_view name) {
    const std::size_t scope = name.rfind("::");
    const std::string_view key = name.substr(scope == std::string_view::npos ? 0 : scope + 2);
    const std::size_t at = key.rfind('@');
    const bool has_place = at != std::string_view::npos && at + 1 < key.size() &&
                           key.find_first_not_of("0123456789:", at + 1) == std::string_view::npos;
    if (!has_place) return {name, 0};
    const auto number = numbers_.try_emplace(std::string(key), numbers_.size() + 1).first->second;
    return {name.substr(0, name.size() - (key.size() - at)), number};
  }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
};

// What is hashed, as bytes that tell different things apart.
class Bytes {
 public:
  explicit Bytes(Places* places = nullptr) : places_(places) {}
  template <typename... Each>
  Bytes& operator()(const Each&... each) {
    (add(each), ...);
    return *this;
  }
  const std::string& text() const { return text_; }
  void clear() { text_.clear(); }

 private:
  template <typename T>
  void add(const T& value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T> || std::is_floating_point_v<T>);
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(const std::string& value) {
    const auto [text, place] =
        places_ ? places_->without_place(value) : std::pair(std::string_view(value), std::size_t{0});
    add(text.size());
    text_ += text;
    if (places_) add(place);
  }
  template <typename T>
  void add(const std::vector<T>& all) {
    add(all.size());
    for (const T& each : all) add(each);
  }
  void add(const SourceRange& range) {
    add(range.file);
    add(range.line);
    add(range.column);
    add(range.end_line);
    add(range.end_column);
  }
  void add(Unknown) {}
  void add(None) {}
  void add(const Constant& constant) {
    add(constant.index());
    std::visit([this](const auto& each) { add(each); }, constant);
  }
  void add(const Argument& argument) {
    add(argument.name);
    add(argument.value);
  }
  void add(const Parameter& each) {
    (*this)(each.name, each.kind, each.type, each.by_reference, each.rest, each.default_value.has_value());
    if (each.default_value) add(*each.default_value);
  }
  void add(const Place::Step& step) { (*this)(step.kind, step.field, step.cell); }
  void add(const Place& place) { (*this)(place.variable, place.base, place.path); }

  Places* const places_;
  std::string text_;
};

void add_head(const Function& function, Bytes& out) {
  out(function.key, function.name, function.class_name, function.of_module, function.kind, function.external,
      function.is_main, function.foreign, function.parameters, function.range.file, function.units,
      function.blocks.empty());
}

// What of one function passes over all read.
class Heads {
 public:
  Heads(const Function& function, const FunctionEffects& effects, Bytes& out)
      : function_(function), next_(effects.fields.begin()), out_(out) {}

  void run() {
    note_values();
    add_head(function_, out_);
    for (const Block& block : function_.blocks) {
      for (const Instruction& each : block.instructions) look_at(each);
    }
  }

 private:
  void note_values() {
    for (const Block& block : function_.blocks) {
      for (const Instruction& each : block.instructions) {
        if (each.result) made_by_[each.result] = &each;
        if (each.op == Op::kObject) objects_.emplace(each.result, objects_.size());
      }
    }
  }

  const Instruction* made_by(ValueId value) const {
    const auto found = made_by_.find(value);
    return found == made_by_.end() ? nullptr : found->second;
  }

  // What stands there, as far as it shows at once: a constant, an object, a field.
  void add_origin(ValueId value) {
    const Instruction* made = made_by(value);
    out_(made ? made->op : Op::kUnreachable);
    if (!made) return;
    if (made->op == Op::kConst || made->op == Op::kParam) out_(made->constant);
    if (made->op == Op::kObject) out_(objects_.at(value));
    const std::string* field = made->op == Op::kLoad ? made->place.last_field() : nullptr;
    if (field) out_(*field);
  }

  void add_field(const Instruction& each) {
    if (!each.place.last_field()) return;
    const FieldAccess& access = *next_++;
    const auto number =
        groups_.try_emplace({each.place.variable, each.place.base}, groups_.size()).first->second;
    out_(each.op, each.place.path, number, each.args.size(), each.result != 0, access.of_this, access.in_this,
         access.is_constant, access.is_first, access.is_converted, access.is_written, access.is_handed_out,
         access.owner ? *access.owner : std::string());
    add_origin(each.place.base);
    for (const Argument& one : each.args) add_origin(one.value);
  }

  void look_at(const Instruction& each) {
    if (std::holds_alternative<Dtype>(each.constant)) out_(each.op, each.constant);
    if (each.op == Op::kOperator && each.name == kDefaultDtype) out_(each.op, each.name);
    switch (each.op) {
      case Op::kLoad:
      case Op::kStore:
      case Op::kAddress:
        return add_field(each);
      case Op::kCall:
      case Op::kClosure:
      case Op::kObject:
      case Op::kModule:
      case Op::kSink:
      case Op::kRegister:
      case Op::kRetype:
      case Op::kDtypeOf:
      case Op::kSetDefaultDtype:
        out_(each.op, each.name, each.range.file, each.result != 0, each.args.size(), each.constant);
        for (const Argument& one : each.args) {
          out_(one.name);
          add_origin(one.value);
        }
        return;
      default:
        return;
    }
  }

  const Function& function_;
  std::vector<FieldAccess>::const_iterator next_;
  Bytes& out_;
  std::map<ValueId, const Instruction*> made_by_;
  std::map<ValueId, std::size_t> objects_;
  std::map<std::pair<VariableId, ValueId>, std::size_t> groups_;
};

std::uint64_t hash_of(const Bytes& bytes) { return XXH3_64bits(bytes.text().data(), bytes.text().size()); }

void add_class(const ClassFacts& each, Bytes& out) {
  out(each.name, each.bases, each.fields, each.settable, each.setters, each.local, each.virtuals, each.owned,
      each.placeholders);
}

}  // namespace

Outline outline_of(const Program& program) {
  const Module& module = program.functions.module();
  constexpr std::size_t kMostParameters = 64;  // of a function object that is asked for
  Places places;
  Bytes all(&places), one(&places);
  all(module.files, module.overridden, module.classes.size(), module.functions.size());
  for (const ClassFacts& each : module.classes) add_class(each, all);
  for (std::size_t i = 0; i < kMostParameters; ++i) all(program.calls_of_objects.is_called_with_casts(i));
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    one.clear();
    const FunctionEffects& effects = program.functions.effects(i);
    Heads(module.functions[i], effects, one).run();
    one(effects.states_precision);
    const XXH128_hash_t hash = XXH3_128bits(one.text().data(), one.text().size());
    all(hash.high64, hash.low64);
  }
  const XXH128_hash_t hash = XXH3_128bits(all.text().data(), all.text().size());
  return {hash.high64, hash.low64};
}

std::vector<std::uint64_t> contents_of(const Module& module) {
  std::vector<std::uint64_t> out;
  out.reserve(module.functions.size());
  Bytes bytes;
  for (const Function& function : module.functions) {
    bytes.clear();
    add_head(function, bytes);
    bytes(function.range, function.variables, function.constants);
    for (const Block& block : function.blocks) {
      bytes(block.instructions.size());
      for (const Instruction& each : block.instructions) {
        bytes(each.op, each.result, each.name, each.args, each.place, each.constant, each.implicit,
              each.targets, each.range, each.text, each.written);
      }
    }
    out.push_back(hash_of(bytes));
  }
  return out;
}

}  // namespace dtype_guard::flow
