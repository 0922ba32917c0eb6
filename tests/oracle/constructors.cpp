#include "tests/oracle/constructors.h"

#include <optional>

namespace dtype_guard::oracle {
namespace {
using flow::Function;
using flow::FunctionKind;
using flow::Op;
using flow::ParameterKind;
using flow::ValueId;
constexpr const char* kBase = "Base";
constexpr Dtype kDtypes[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32};

flow::Place place_at(ValueId base, const MemberPath& path) {
  flow::Place out;
  out.base = base;
  for (const std::string& field : path) out.path.push_back({flow::Place::Step::Kind::kField, field, 0});
  return out;
}

// A class that is written already, as others make and inherit it.
struct Written {
  std::string name, key;
  std::vector<flow::Parameter> parameters;
  Members members;
};

class Constructor {
 public:
  Constructor(flow::Module& module, std::string name, Random& random, int& line)
      : module_(module), random_(random), line_(line) {
    out_.name = std::move(name);
    out_.key = out_.name + "_constructor";
    code_.name = out_.name + "::constructor";
    code_.key = out_.key;
    code_.class_name = out_.name;
    code_.of_module = true;
    code_.kind = FunctionKind::kConstructor;
    code_.range = {0, ++line_, 1, line_, 2};
    if (random_.one_in(2)) code_.parameters.push_back({"x", ParameterKind::kTensor, "", false});
    if (random_.one_in(2)) code_.parameters.push_back({"type", ParameterKind::kDtype, "", false});
    if (random_.one_in(3)) code_.parameters.push_back({"flag", ParameterKind::kNumber, "bool", false});
  }

  // Bases first, then members as they stand in the list, then the body.
  Written write(const Written* base, const std::vector<const Written*>& parts) {
    Writer writer(code_, random_, line_);
    writer_ = &writer;
    self_ = parameter(writer, 0);
    for (std::size_t i = 0; i < code_.parameters.size(); ++i) take(i);
    if (base) inherit(*base);
    // A module has one parameter, buffer or part of a name.
    if (!base) tensor_member("weight");
    if (!base || random_.one_in(2)) tensor_member(base ? "scale" : "table");
    for (std::size_t i = 0; i < parts.size(); ++i) part(*parts[i], name_of_part(i));
    for (std::size_t i = random_.below(3); i > 0; --i) conversion();
    writer.add(Op::kReturn);
    out_.parameters = code_.parameters;
    module_.functions.push_back(std::move(code_));
    flow::ClassFacts& facts = module_.classes.emplace_back();
    facts.name = out_.name;
    if (base) facts.bases = {base->name};
    return std::move(out_);
  }

 private:
  void take(std::size_t position) {
    const flow::Parameter& each = code_.parameters[position];
    const auto number = static_cast<std::int64_t>(position) + 1;
    if (each.kind == ParameterKind::kTensor) {
      tensor_ = parameter(*writer_, number);
      return;
    }
    const bool is_dtype = each.kind == ParameterKind::kDtype;
    (is_dtype ? dtype_ : flag_) = writer_->value(is_dtype ? Type::kDtype : Type::kBool, Op::kParam);
    writer_->last().constant = number;
  }

  ValueId dtype() { return dtype_ && random_.one_in(2) ? dtype_ : writer_->constant(random_.of(kDtypes)); }
  ValueId made() {
    const ValueId two = writer_->constant(std::int64_t{2});
    const ValueId shape = writer_->value(Type::kList, Op::kPack, {}, {{"", two}, {"", two}});
    Writer::Args args = {{"", shape}};
    if (random_.one_in(3)) args.push_back({"dtype", dtype()});
    return writer_->value(Type::kTensor, Op::kOperator, "ones", std::move(args));
  }
  ValueId tensor() {
    if (!tensor_ || random_.one_in(2)) return made();
    if (!random_.one_in(3)) return tensor_;
    return writer_->value(Type::kTensor, Op::kCast, {}, {{"", tensor_}, {"", dtype()}});
  }
  ValueId registered(const char* kind, const std::string& name, ValueId held) {
    const ValueId out = writer_->value(Type::kTensor, Op::kRegister, kind, {{"", self_}, {"", held}});
    writer_->last().constant = name;
    return out;
  }

  void tensor_member(const std::string& field) {
    ValueId held = tensor();
    if (!random_.one_in(4)) held = registered(random_.one_in(2) ? "parameter" : "buffer", field, held);
    writer_->store(field_of(self_, field), held);
    out_.members.tensors.push_back({field});
  }
  const char* name_of_part(std::size_t position) const {
    return out_.name == kBase ? "below" : position == 0 ? "part" : "other";
  }

  Writer::Args arguments(const Written& callee, ValueId object) {
    Writer::Args out = {{"", object}};
    for (const flow::Parameter& each : callee.parameters) {
      ValueId given = 0;
      if (each.kind == ParameterKind::kTensor) given = tensor();
      if (each.kind == ParameterKind::kDtype) given = dtype();
      if (each.kind == ParameterKind::kNumber)
        given = flag_ && random_.one_in(2) ? flag_ : writer_->constant(random_.one_in(2));
      out.push_back({"", given});
    }
    return out;
  }
  void inherit(const Written& base) {
    Writer::Args given = arguments(base, self_);
    writer_->value(Type::kState, Op::kCall, base.key, std::move(given));
    out_.members = base.members;
  }
  void part(const Written& of, const std::string& field) {
    const ValueId below = writer_->value(Type::kObject, Op::kObject, of.name);
    Writer::Args given = arguments(of, below);
    writer_->value(Type::kState, Op::kCall, of.key, std::move(given));
    writer_->store(field_of(self_, field), below);
    const auto behind = [&](const std::vector<MemberPath>& theirs, std::vector<MemberPath>& mine) {
      for (MemberPath path : theirs) {
        path.insert(path.begin(), field);
        mine.push_back(std::move(path));
      }
    };
    behind(of.members.tensors, out_.members.tensors);
    behind(of.members.parts, out_.members.parts);
    out_.members.parts.push_back({field});
    if (random_.one_in(5)) return;  // a plain member, which converting the whole leaves as it is
    registered("module", field, writer_->load(Type::kObject, field_of(self_, field)));
  }

  // Of the whole, or of a part, always or where the flag says so.
  void conversion() {
    const ValueId like = dtype();
    const bool of_part = !out_.members.parts.empty() && !random_.one_in(3);
    const auto convert = [&] {
      const ValueId object =
          of_part ? writer_->load(Type::kObject, place_at(self_, random_.of(out_.members.parts))) : self_;
      writer_->add(Op::kRetype, {}, {{"", object}, {"", like}});
    };
    if (!flag_ || random_.one_in(2)) return convert();
    const flow::BlockId yes = writer_->new_block(), after = writer_->new_block();
    writer_->branch(flag_, yes, after);
    writer_->go_on_in(yes);
    convert();
    writer_->jump(after);
    writer_->go_on_in(after);
  }

  flow::Module& module_;
  Random& random_;
  int& line_;
  Function code_;
  Written out_;
  Writer* writer_ = nullptr;
  ValueId self_ = 0, tensor_ = 0, dtype_ = 0, flag_ = 0;  // 0: it is not handed one
};
}  // namespace

Members add_composed_model(flow::Module& module, const std::string& name, Random& random, int& line) {
  const Written leaf = Constructor(module, "Leaf", random, line).write(nullptr, {});
  std::optional<Written> base, middle;
  if (random.one_in(2)) {
    const std::vector<const Written*> parts =
        random.one_in(3) ? std::vector<const Written*>{&leaf} : std::vector<const Written*>();
    base = Constructor(module, kBase, random, line).write(nullptr, parts);
  }
  if (random.one_in(2))
    middle = Constructor(module, "Middle", random, line)
                 .write(base && random.one_in(2) ? &*base : nullptr, {&leaf});
  std::vector<const Written*> parts = {middle ? &*middle : &leaf};
  if (random.one_in(3)) parts.push_back(&leaf);
  return Constructor(module, name, random, line).write(base ? &*base : nullptr, parts).members;
}

}  // namespace dtype_guard::oracle
