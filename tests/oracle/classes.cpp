#include "tests/oracle/classes.h"

#include <string>

#include "tests/oracle/interpreter/machine.h"
#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {
namespace {
using flow::Function;
using flow::FunctionKind;
using flow::Op;
using flow::ParameterKind;
using flow::ValueId;

Function begin(const std::string& class_name, const std::string& what, FunctionKind kind, int& line) {
  Function out;
  out.name = class_name + "::" + what;
  out.key = class_name + "_" + what;
  out.class_name = kind == FunctionKind::kFunction ? "" : class_name;
  out.of_module = !out.class_name.empty();
  out.kind = kind;
  ++line;
  out.range = {0, line, 1, line, 2};
  return out;
}

ValueId some_dtype(Writer& writer, ValueId like) {
  constexpr Dtype kDtypes[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32};
  if (like && writer.random().one_in(3)) return writer.value(Type::kDtype, Op::kDtypeOf, {}, {{"", like}});
  return writer.constant(writer.random().of(kDtypes));
}
ValueId made(Writer& writer) {
  const ValueId two = writer.constant(std::int64_t{2});
  const ValueId shape = writer.value(Type::kList, Op::kPack, {}, {{"", two}, {"", two}});
  Writer::Args args = {{"", shape}};
  if (writer.random().one_in(4)) args.push_back({"dtype", some_dtype(writer, 0)});
  return writer.value(Type::kTensor, Op::kOperator, "ones", std::move(args));
}
ValueId registered(Writer& writer, const char* kind, ValueId self, const char* name, ValueId held) {
  const ValueId out = writer.value(Type::kTensor, Op::kRegister, kind, {{"", self}, {"", held}});
  writer.last().constant = std::string(name);
  return out;
}
ValueId instance(Writer& writer, const std::string& class_name) {
  const ValueId out = writer.value(Type::kObject, Op::kObject, class_name);
  writer.value(Type::kState, Op::kCall, class_name + "_constructor", {{"", out}});
  return out;
}

class ClassFile {
 public:
  ClassFile(Random& random, std::string name, std::string other, int& line)
      : random_(random), name_(std::move(name)), other_(std::move(other)), line_(line) {}

  flow::Module write() {
    module_.files = {name_ + ".cpp"};
    flow::ClassFacts facts;
    facts.name = name_;
    module_.classes.push_back(facts);
    module_.functions = {constructor_of(name_, "", random_, line_), maker(), forward()};
    if (random_.one_in(2)) module_.functions.push_back(maker());
    return std::move(module_);
  }

 private:
  // Makes an object and converts it, or does so in some settings only.
  Function maker() {
    Function out = begin(name_, "make" + std::to_string(++makers_), FunctionKind::kFunction, line_);
    out.parameters = {{"x", ParameterKind::kTensor, "", false}};
    Writer writer(out, random_, line_);
    const ValueId like = parameter(writer, 0);
    const std::string& type = other_.empty() || !random_.one_in(4) ? name_ : other_;
    const ValueId it = instance(writer, type);
    const ValueId dtype = some_dtype(writer, like);
    const auto convert = [&] { writer.add(Op::kRetype, {}, {{"", it}, {"", dtype}}); };
    if (random_.one_in(2)) {
      convert();
      writer.add(Op::kReturn);
      return out;
    }
    const ValueId mine = writer.value(Type::kDtype, Op::kDtypeOf, {}, {{"", like}});
    const ValueId asked =
        writer.value(Type::kBool, Op::kOperator, "eq", {{"", mine}, {"", some_dtype(writer, 0)}});
    const flow::BlockId yes = writer.new_block(), no = writer.new_block();
    writer.branch(asked, yes, no);
    writer.go_on_in(yes);
    convert();
    writer.jump(no);
    writer.go_on_in(no);
    writer.add(Op::kReturn);
    return out;
  }

  Function forward() {
    Function out = begin(name_, "forward", FunctionKind::kMethod, line_);
    out.parameters = {{"q", ParameterKind::kTensor, "", false}, {"k", ParameterKind::kTensor, "", false}};
    Writer writer(out, random_, line_);
    const ValueId self = parameter(writer, 0), q = parameter(writer, 1), k = parameter(writer, 2);
    ValueId wide = q;
    for (const char* field : {"weight", "table"}) {
      if (random_.one_in(3)) continue;
      const ValueId held = writer.load(Type::kTensor, field_of(self, field));
      wide = writer.value(Type::kTensor, Op::kOperator, "mul", {{"", wide}, {"", held}});
    }
    const char* api = random_.one_in(3) ? "sdpa" : "flash";
    const bool first = random_.one_in(2);
    writer.value(Type::kTensor, Op::kSink, api, {{"q", first ? wide : q}, {"k", first ? k : wide}, {"v", k}});
    writer.add(Op::kReturn);
    return out;
  }

  Random& random_;
  std::string name_, other_;
  int& line_;
  int makers_ = 0;
  flow::Module module_;
};
}  // namespace

Function constructor_of(const std::string& class_name, const std::string& part, Random& random, int& line) {
  Function out = begin(class_name, "constructor", FunctionKind::kConstructor, line);
  Writer writer(out, random, line);
  const ValueId self = parameter(writer, 0);
  for (const char* field : kMembers) {
    ValueId held = made(writer);
    if (!random.one_in(4)) {
      const char* kind = std::string(field) == "weight" ? "parameter" : "buffer";
      held = registered(writer, kind, self, field, held);
    }
    writer.store(field_of(self, field), held);
  }
  if (!part.empty()) {
    const ValueId below = instance(writer, part);
    writer.store(field_of(self, kPart), registered(writer, "module", self, kPart, below));
  }
  if (random.one_in(6)) writer.add(Op::kRetype, {}, {{"", self}, {"", some_dtype(writer, 0)}});
  writer.add(Op::kReturn);
  return out;
}

namespace {
constexpr const char* kLater = "later";

Function empty_constructor(const std::string& class_name, Random& random, int& line) {
  Function out = begin(class_name, "constructor", FunctionKind::kConstructor, line);
  Writer writer(out, random, line);
  const ValueId self = parameter(writer, 0);
  writer.store(field_of(self, kLater), writer.constant(flow::None{}));
  writer.add(Op::kReturn);
  return out;
}

// It keeps what it is handed, that in a dtype of its own, or something that it makes.
Function setter(const std::string& class_name, int number, Dtype dtype, Random& random, int& line) {
  Function out = begin(class_name, kSetter + std::to_string(number), FunctionKind::kMethod, line);
  out.parameters = {{"x", ParameterKind::kTensor, "", false}};
  Writer writer(out, random, line);
  const ValueId self = parameter(writer, 0);
  ValueId held = matrix(writer, 1);
  const std::size_t how = random.below(5);
  if (how == 0) held = made(writer);
  if (how > 1) held = writer.value(Type::kTensor, Op::kCast, {}, {{"", held}, {"", writer.constant(dtype)}});
  writer.store(field_of(self, kLater), held);
  writer.add(Op::kReturn);
  return out;
}

Function reader(const std::string& class_name, Random& random, int& line) {
  Function out = begin(class_name, "forward", FunctionKind::kMethod, line);
  out.parameters = {{"q", ParameterKind::kTensor, "", false}, {"k", ParameterKind::kTensor, "", false}};
  Writer writer(out, random, line);
  const ValueId self = parameter(writer, 0), q = matrix(writer, 1), k = matrix(writer, 2);
  const ValueId held = writer.load(Type::kTensor, field_of(self, kLater));
  const ValueId other =
      random.one_in(2) ? held : writer.value(Type::kTensor, Op::kOperator, "mul", {{"", q}, {"", held}});
  const char* api = random.one_in(3) ? "sdpa" : "flash";
  writer.value(Type::kTensor, Op::kSink, api, {{"q", q}, {"k", k}, {"v", other}});
  writer.add(Op::kReturn);
  return out;
}
}  // namespace

flow::Module class_with_setters(std::uint64_t seed) {
  constexpr Dtype kDtypes[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32};
  Random random(seed * 0x9e3779b97f4a7c15U + 3);
  int line = 100;
  const std::string name = "Model";
  flow::Module out;
  out.files = {"f.cpp"};
  out.classes.emplace_back().name = name;
  out.functions.push_back(empty_constructor(name, random, line));
  const Dtype all = random.of(kDtypes);
  const int setters = 1 + static_cast<int>(random.below(2));
  for (int i = 1; i <= setters; ++i)
    out.functions.push_back(setter(name, i, random.one_in(4) ? random.of(kDtypes) : all, random, line));
  out.functions.push_back(reader(name, random, line));
  return out;
}

std::vector<flow::Module> class_files(std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15U + 2);
  int line = 100;
  std::vector<flow::Module> out;
  std::string other;
  for (const char* name : {"A", "B"}) {
    out.push_back(ClassFile(random, name, other, line).write());
    other = name;
  }
  return out;
}

}  // namespace dtype_guard::oracle
