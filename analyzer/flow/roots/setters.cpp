// Tensors that an object has from a method of its own, called between the constructor and the root: a setter,
// or what loads weights. Where nobody else can set such a tensor, and whoever does leaves it in one dtype, a
// root that uses it is handed that.
#include <algorithm>

#include "analyzer/flow/engine/engine.h"

namespace dtype_guard::flow {
namespace {
using Kind = Alternative::Kind;
constexpr int kMaxBases = 16;           // one above the other
constexpr std::size_t kMaxSetters = 4;  // of one tensor
constexpr std::size_t kMaxTried = 16;   // for one root

void add(std::vector<std::uint32_t>& functions, std::uint32_t id) {
  if (functions.empty() || functions.back() != id) functions.push_back(id);
}

// As a constructor leaves what it does not set; what `own` decides, where anyone might set it; or as a caller
// hands it in.
bool is_open(const Value& value, SymbolSetId own) {
  const Alternative* one = value.single();
  return one && (one->kind == Kind::kNone || (one->kind == Kind::kUnknown && one->symbols == own) ||
                 (one->kind == Kind::kTensor && one->assumed && !one->origin));
}
}  // namespace

// A tensor whose dtype is changed where it is, as that of a registered one may be, and one whose address
// somebody has, may be of any.
void FunctionIndex::note_uses(std::uint32_t id) const {
  const Function& code = function(id);
  const bool of_object = code.kind == FunctionKind::kMethod || code.kind == FunctionKind::kConstructor;
  std::set<ValueId> own;
  std::map<ValueId, const std::string*> loaded;
  for (const Block& block : code.blocks) {
    for (const Instruction& each : block.instructions) {
      const auto* index = each.op == Op::kParam ? std::get_if<std::int64_t>(&each.constant) : nullptr;
      if (of_object && index && *index == 0) own.insert(each.result);
      if (each.op == Op::kRetype || each.op == Op::kRegister) {
        for (const Argument& one : each.args) {
          const auto from = loaded.find(one.value);
          if (from != loaded.end()) (*uses_)[*from->second].elsewhere = true;
        }
      }
      if (each.op != Op::kStore && each.op != Op::kAddress && each.op != Op::kLoad) continue;
      const std::string* name = each.place.last_field();
      if (!name) continue;
      FieldUse& use = (*uses_)[*name];
      const bool of_this = each.place.path.size() == 1 && own.contains(each.place.base);
      if (each.op == Op::kLoad) {
        loaded[each.result] = name;
        add(use.readers, id);
      } else if (!of_this || each.op == Op::kAddress) {
        use.elsewhere = true;
      } else {
        add(use.setters, id);
      }
    }
  }
}

const std::vector<FunctionIndex::SetLater>& FunctionIndex::set_later(const std::string& class_name) const {
  const auto [found, is_new] = set_later_.try_emplace(class_name);
  if (!is_new) return found->second;
  std::vector<std::string_view> level = {class_name};
  for (int depth = 0; depth < kMaxBases && !level.empty(); ++depth) {
    std::vector<std::string_view> above;
    for (const std::string_view each : level) {
      const ClassFacts* facts = class_facts(each);
      if (!facts) continue;
      above.insert(above.end(), facts->bases.begin(), facts->bases.end());
      if (facts->owned.empty()) continue;
      if (!uses_) {
        uses_.emplace();
        for (std::uint32_t i = 0; i < module_->functions.size(); ++i) note_uses(i);
      }
      const bool unseen = std::any_of(facts->setters.begin(), facts->setters.end(),
                                      [&](const std::string& setter) { return find(setter).empty(); });
      for (const std::string& field : facts->owned) {
        const auto use = uses_->find(field);
        if (unseen || use == uses_->end() || use->second.elsewhere) continue;
        SetLater out{field, {}, use->second.readers};
        bool constructed = false;  // by a class that derives from this one, so that it need not be set
        for (const std::uint32_t setter : use->second.setters) {
          const std::string& by = function(setter).class_name;
          const bool constructor = function(setter).kind == FunctionKind::kConstructor;
          if (!derives(by, each) && !derives(each, by)) continue;
          constructed = constructed || (constructor && by != each);
          if (!constructor) out.setters.push_back(setter);
        }
        if (!constructed && !out.setters.empty() && out.setters.size() <= kMaxSetters)
          found->second.push_back(std::move(out));
      }
    }
    level = std::move(above);
  }
  return found->second;
}

// Bottom where they do not leave it in one dtype.
Value Engine::set_by(const std::vector<std::uint32_t>& setters, HeapId object, const Key& key,
                     const State& begun, ContextId root) {
  Value out;
  for (const std::uint32_t setter : setters) {
    const std::optional<State> after = after_method(setter, object, begun, root);
    const HeapObject* now = after ? after->find(object) : nullptr;
    const auto cell = now ? now->cells.find(key) : Cells::const_iterator();
    if (!now || cell == now->cells.end()) return {};
    for (Alternative each : cell->second) {
      const bool known = each.kind == Kind::kTensor && is_floating(each.dtype) && !each.assumed;
      if (each.kind == Kind::kNone) continue;
      if (!known || each.uncertain || (!out.is_bottom() && out.begin()->dtype != each.dtype)) return {};
      each.rank.symbol = 0;
      out = join(out, Value(each), symbols_);
    }
  }
  return out;
}

// Whether it was set goes with whatever its setters set along with it.
void Engine::give_what_setters_do(State& state, const std::vector<Value>& arguments, std::uint32_t root,
                                  ContextId context) {
  std::optional<std::set<std::uint32_t>> seen_by_root;
  std::size_t tried = 0;
  const State begun = state;
  for (const HeapId id : objects_below(begun, arguments)) {
    const HeapObject& object = *begun.find(id);
    if (object.type.empty() || object.kind != HeapObject::Kind::kInstance) continue;
    for (const FunctionIndex::SetLater& each : index_.set_later(object.type)) {
      const auto cell = object.cells.find(ids_.field(each.field));
      const SymbolSetId own = symbols_of_field(id, object, ids_.field(each.field).id);
      if (cell == object.cells.end() || !is_open(cell->second, own)) continue;
      if (!seen_by_root) seen_by_root = index_.reached_from(root);
      const auto seen = [&](std::uint32_t function) { return seen_by_root->contains(function); };
      if (std::any_of(each.setters.begin(), each.setters.end(), seen)) continue;
      if (std::none_of(each.readers.begin(), each.readers.end(), seen)) continue;
      tried += each.setters.size();
      if (tried > kMaxTried) return;
      const Value set = set_by(each.setters, id, cell->first, begun, context);
      if (set.is_bottom()) continue;
      std::vector<Alternative> open = set.alternatives();
      open.push_back(Alternative::of(Kind::kNone));
      for (Alternative& one : open) one.symbols = own;
      state.change(id).cells[cell->first] = Value(std::move(open));
    }
  }
}

}  // namespace dtype_guard::flow
