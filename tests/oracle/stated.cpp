#include "tests/oracle/stated.h"

#include "tests/oracle/writer.h"

namespace dtype_guard::oracle {
namespace {
using flow::Op;
using flow::ParameterKind;
using flow::ValueId;

class Checked {
 public:
  explicit Checked(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15U + 7) {}

  flow::Module write() {
    flow::Module out;
    out.files = {"f.cpp"};
    flow::Function root;
    root.name = root.key = "root";
    root.range = {0, line_, 1, line_, 2};
    for (const char* name : {"q", "k", "table"})
      root.parameters.push_back({name, ParameterKind::kTensor, "", false});
    const bool has_flag = random_.one_in(2);
    if (has_flag) root.parameters.push_back({"flag", ParameterKind::kNumber, "bool", false});
    Writer writer(root, random_, line_);
    writer_ = &writer;
    for (std::int64_t i = 0; i < 3; ++i) inputs_.push_back(matrix(writer, i));
    held_ = writer.variable(Type::kTensor);
    writer.store(held_, inputs_[0]);
    if (has_flag) {
      flag_ = writer.value(Type::kBool, Op::kParam);
      writer.last().constant = std::int64_t{3};
    }
    for (std::size_t i = 2 + random_.below(4); i > 0; --i)
      flag_&& random_.one_in(4) ? guarded() : statement();
    call();
    writer.add(Op::kReturn);
    out.functions.push_back(std::move(root));
    return out;
  }

 private:
  ValueId logic(const char* name, Writer::Args args) {
    return writer_->value(Type::kBool, Op::kOperator, name, std::move(args));
  }
  // "x.dtype == float32", of another input than the others or of two.
  ValueId question(bool equal) {
    constexpr Dtype kDtypes[] = {Dtype::kFloat32, Dtype::kFloat32, Dtype::kInt64, Dtype::kFloat16};
    const auto dtype_of = [&] {
      return writer_->value(Type::kDtype, Op::kDtypeOf, {}, {{"", random_.of(inputs_)}});
    };
    const ValueId mine = dtype_of();
    const ValueId other = random_.one_in(5) ? dtype_of() : writer_->constant(random_.of(kDtypes));
    return logic(equal ? "eq" : "ne", {{"", mine}, {"", other}});
  }

  void check() {
    if (random_.one_in(4)) {  // if (x.dtype != float32) throw
      const flow::BlockId bad = writer_->new_block(), good = writer_->new_block();
      writer_->branch(question(false), bad, good);
      writer_->go_on_in(bad);
      writer_->add(Op::kUnreachable);
      return writer_->go_on_in(good);
    }
    ValueId asked = 0;
    switch (random_.below(5)) {
      case 0:
        asked = logic("logical_not", {{"", question(false)}});
        break;
      case 1: {
        const ValueId one = question(true), other = question(true);
        asked = logic(random_.one_in(2) ? "logical_and" : "logical_or", {{"", one}, {"", other}});
        break;
      }
      default:
        asked = question(true);
    }
    writer_->add(Op::kAssume, {}, {{"", asked}});
  }

  ValueId some() {
    return random_.one_in(2) ? writer_->load(Type::kTensor, held_) : writer_->some(Type::kTensor);
  }
  ValueId made() {
    const ValueId two = writer_->constant(std::int64_t{2});
    const ValueId shape = writer_->value(Type::kList, Op::kPack, {}, {{"", two}, {"", two}});
    return writer_->value(Type::kTensor, Op::kOperator, "ones", {{"", shape}});
  }
  void compute() {
    constexpr Dtype kDtypes[] = {Dtype::kFloat16, Dtype::kBFloat16, Dtype::kFloat32};
    ValueId out = some();
    if (random_.one_in(3)) {
      const ValueId dtype = writer_->constant(random_.of(kDtypes));
      out = writer_->value(Type::kTensor, Op::kCast, {}, {{"", out}, {"", dtype}});
    } else {
      const ValueId other = random_.one_in(3) ? made() : some();
      out = writer_->value(Type::kTensor, Op::kOperator, "mul", {{"", out}, {"", other}});
    }
    writer_->store(held_, out);
  }
  void call() {
    const char* api = random_.one_in(3) ? "sdpa" : "flash";
    const ValueId q = some(), k = random_.one_in(2) ? q : some(), v = random_.one_in(2) ? k : some();
    if (random_.one_in(4)) {
      writer_->value(Type::kState, Op::kSink, "rotary", {{"x", q}, {"cos", k}, {"sin", v}});
    } else {
      writer_->value(Type::kTensor, Op::kSink, api, {{"q", q}, {"k", k}, {"v", v}});
    }
  }

  void statement() {
    if (random_.one_in(2)) return check();
    random_.one_in(3) ? call() : compute();
  }
  void guarded() {
    const flow::BlockId yes = writer_->new_block(), after = writer_->new_block();
    writer_->branch(flag_, yes, after);
    const std::size_t scope = writer_->scope();
    writer_->go_on_in(yes);
    statement();
    writer_->jump(after);
    writer_->leave(scope);
    writer_->go_on_in(after);
  }

  Random random_;
  int line_ = 100;
  Writer* writer_ = nullptr;
  std::vector<ValueId> inputs_;
  flow::Place held_;
  ValueId flag_ = 0;  // 0: there is none
};
}  // namespace

flow::Module with_stated_inputs(std::uint64_t seed) { return Checked(seed).write(); }

}  // namespace dtype_guard::oracle
