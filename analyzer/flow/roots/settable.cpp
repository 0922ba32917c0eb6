// Fields that others than constructors may have set: an option struct's defaults say nothing of an object
// that somebody hands in.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxBases = 16;  // one above the other

// Values of which a constructor's is not the last word; tensors and objects keep theirs, as do values that a
// constructor was handed.
Alternative opened(const Alternative& from, const Parameter& field, SymbolSetId own) {
  Alternative out = from;
  switch (from.kind) {
    case Kind::kNumber:
    case Kind::kBool:
    case Kind::kString:
      if (!from.has_number || from.symbols) return from;
      out.has_number = false;
      out.number = 0;
      break;
    case Kind::kDtype:
      if (from.dtype == Dtype::kUndefined || from.assumed || from.symbols) return from;
      return Value::unknown(own).alternatives().front();
    case Kind::kOptions:
      return Value::unknown(own).alternatives().front();
    case Kind::kNone:
      if (field.kind == ParameterKind::kNumber) return from;
      return Value::unknown(own).alternatives().front();
    default:
      return from;
  }
  out.symbols = own;
  if (from.kind == Kind::kBool) out.truth = Truth::kSymbol;
  return out;
}
}  // namespace

void FunctionIndex::note_writes(const Function& function) const {
  const bool method = function.kind == FunctionKind::kMethod;
  std::set<ValueId> own, constants;
  // By what they are fields of; of a method all together.
  std::map<std::pair<VariableId, ValueId>, std::set<std::string>> written;
  for (const Block& block : function.blocks) {
    for (const Instruction& each : block.instructions) {
      const auto* index = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
      if (method && index && *index == 0) own.insert(each.result);
      if (each.op == Op::kConst) constants.insert(each.result);
      if (each.op != Op::kStore && each.op != Op::kAddress) continue;
      const std::string* field = each.place.last_field();
      const bool of_this = each.place.path.size() == 1 && own.contains(each.place.base);
      if (field) writers_[*field].insert(of_this ? function.class_name : std::string());
      if (!field) continue;
      // A constant that is stored whatever comes hangs on nothing; a method may be one of several.
      const bool is_first = &block == &function.blocks.front();
      const bool is_constant = is_first && !each.args.empty() && constants.contains(each.args[0].value);
      if (method) {
        written[{}].insert(*field);
      } else if (!is_constant) {
        written[{each.place.variable, each.place.base}].insert(*field);
      }
    }
  }
  for (const auto& [of, fields] : written) {
    if (fields.size() < 2) continue;
    const std::string& owner = method ? function.class_name : std::string();
    for (const std::string& each : fields) write_several_[each].push_back({count_of_writes_, owner});
    ++count_of_writes_;
  }
}

bool FunctionIndex::derives(std::string_view class_name, std::string_view base, int depth) const {
  if (class_name == base) return true;
  const ClassFacts* facts = class_facts(class_name);
  if (!facts || depth >= kMaxBases) return !facts;
  return std::any_of(facts->bases.begin(), facts->bases.end(), [&](const std::string& each) {
    return each == kUnknownClass || derives(each, base, depth + 1);
  });
}

void FunctionIndex::note_all_writes() const {
  if (writers_are_noted_) return;
  for (const Function& each : module_->functions) {
    if (each.kind != FunctionKind::kConstructor) note_writes(each);
  }
  writers_are_noted_ = true;
}

const std::vector<std::uint32_t>& FunctionIndex::written_by(const std::string& class_name,
                                                            const std::string& field) const {
  note_all_writes();
  const auto [known, is_new] = written_by_.try_emplace({class_name, field});
  if (!is_new) return known->second;
  for (const WritesSeveral& each : write_several_[field]) {
    const bool related = class_name.empty() || each.class_name.empty() ||
                         derives(class_name, each.class_name) || derives(each.class_name, class_name);
    if (related) known->second.push_back(each.number);
  }
  return known->second;
}

const std::vector<Parameter>& FunctionIndex::settable(const std::string& class_name) const {
  const auto [known, is_new] = settable_.try_emplace(class_name);
  if (is_new) known->second = find_settable(class_name);
  return known->second;
}

std::vector<Parameter> FunctionIndex::find_settable(std::string_view class_name) const {
  note_all_writes();
  std::vector<Parameter> out;
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const ClassFacts* facts = class_facts(each);
      if (!facts) continue;
      above.insert(above.end(), facts->bases.begin(), facts->bases.end());
      const bool unseen = std::any_of(facts->setters.begin(), facts->setters.end(),
                                      [&](const std::string& setter) { return find(setter).empty(); });
      for (const Parameter& field : facts->settable) {
        const auto writers = writers_.find(field.name);
        const bool written =
            writers != writers_.end() &&
            std::any_of(writers->second.begin(), writers->second.end(), [&](const std::string& writer) {
              return writer.empty() || derives(writer, each) || derives(each, writer);
            });
        if (field.by_reference || unseen || written) out.push_back(field);
      }
    }
    level = std::move(above);
  }
  return out;
}

// What decides a field: also what others of the object are written by, for both may follow from one thing.
SymbolSetId Engine::symbols_of_field(HeapId object, const HeapObject& is, std::int64_t id) {
  SymbolSetId out = ids_.of_field(is.nature, object, id);
  for (const std::uint32_t each : index_.written_by(is.type, ids_.field_name(id)))
    out = symbols_.unite(out, ids_.of_writer(is.nature, object, each));
  return out;
}

// Of the object and of all that it holds.
void Engine::open_fields(State& state, const Value& value, std::vector<HeapId>& seen) {
  for (const Alternative& each : value) {
    const HeapObject* object = each.kind == Kind::kObject ? state.find(each.object) : nullptr;
    if (!object || std::find(seen.begin(), seen.end(), each.object) != seen.end()) continue;
    seen.push_back(each.object);
    const std::vector<Parameter>& settable = index_.settable(object->type);
    for (const Parameter& one : settable) {
      const auto cell = state.find(each.object)->cells.find(ids_.field(one.name));
      if (cell == state.find(each.object)->cells.end()) continue;
      const SymbolSetId own =
          symbols_of_field(each.object, *state.find(each.object), ids_.field(one.name).id);
      Value open;
      const Value made = cell->second;
      for (const Alternative& old : made) open = join(open, Value(opened(old, one, own)), symbols_);
      if (!(open == made)) state.change(each.object).cells[ids_.field(one.name)] = open;
    }
    std::vector<Value> below;
    for (const auto& [key, cell] : state.find(each.object)->cells) below.push_back(cell);
    for (const Registration& one : state.find(each.object)->registered) below.push_back(one.value);
    for (const Value& one : below) open_fields(state, one, seen);
  }
}

}  // namespace dtype_guard::flow
