// What code does to a module's parts, one by one or by what visits them; and what others than a root may have
// done to a module before.
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/serialize.h>

#include <algorithm>

#include "attention.h"

using at::Tensor;
namespace nn = torch::nn;

namespace conversions {
struct PartImpl : nn::Module {
  PartImpl() { scale = register_parameter("scale", torch::ones({8})); }
  Tensor scale;
};
TORCH_MODULE(Part);
struct WholeImpl : nn::Module {
  WholeImpl() {
    scale = register_parameter("scale", torch::ones({8}));
    part = register_module("part", Part());
  }
  Tensor scale;
  Part part{nullptr};
};
TORCH_MODULE(Whole);
Tensor input() { return torch::zeros({2, 8}, torch::kHalf); }
void attend_with(const Tensor& own, const Tensor& parts) {
  const Tensor x = input();
  attend(x * own, x * parts, x);
}

// apply: a lambda, a function, one that takes names, one that visits the parameters itself.
void halve(nn::Module& module) { module.to(torch::kHalf); }
void ok_applied() {
  Whole one, other, third, fourth;
  one->apply([](nn::Module& each) { each.to(torch::kHalf); });
  attend_with(one->scale, one->part->scale);
  other->apply(halve);
  attend_with(other->scale, other->part->scale);
  third->apply([](const std::string&, nn::Module& each) { each.to(torch::kHalf); });
  attend_with(third->scale, third->part->scale);
  fourth->apply([](const std::shared_ptr<nn::Module>& each) {
    for (auto& one : each->parameters(/*recurse=*/false)) one.set_data(one.to(torch::kHalf));
  });
  attend_with(fourth->scale, fourth->part->scale);
}
void ok_applied_to_some() {
  Whole model;
  model->apply([](nn::Module& each) {
    if (each.name() != "Norm") each.to(torch::kHalf);
  });
  attend_with(model->scale, model->part->scale);
}
void bad_applied_otherwise() {
  Whole model;
  const Tensor x = input();
  model->apply([](nn::Module& each) {
    each.train();
    if (auto* linear = each.as<nn::Linear>()) linear->weight.normal_();
  });
  attend(x * model->scale, x, x);  // expect: attention-implicit-promotion
}

// Lists with names, their items, values and pairs.
void ok_named() {
  Whole one, other, third, fourth;
  for (auto& each : one->named_parameters()) each.value().set_data(each.value().to(torch::kHalf));
  attend_with(one->scale, one->part->scale);
  for (auto& each : other->named_parameters()) each->set_data((*each).to(torch::kHalf));
  attend_with(other->scale, other->part->scale);
  for (auto& each : third->named_parameters().values()) each.set_data(each.to(torch::kHalf));
  attend_with(third->scale, third->part->scale);
  for (const auto& each : fourth->named_parameters().items()) {
    Tensor data = each.value();
    data.set_data(data.to(torch::kHalf));
  }
  attend_with(fourth->scale, fourth->part->scale);
}
void ok_named_taken_out() {
  Whole model;
  auto all = model->named_parameters();
  all["scale"].set_data(all["scale"].to(torch::kHalf));
  all["part.scale"].set_data(all["part.scale"].to(torch::kHalf));
  attend_with(model->scale, model->part->scale);
}
void bad_named_otherwise() {
  Whole model;
  const Tensor x = input();
  for (auto& each : model->named_parameters()) each.value().set_requires_grad(false);
  for (auto& each : model->named_parameters()) each.value() = each.value().to(torch::kHalf);
  attend(x * model->scale, x, x);  // expect: attention-implicit-promotion
}

// Some of a list, which ones is not known; all of it by an iterator or an algorithm.
void ok_some_parameters() {
  Whole model, other;
  for (auto& each : model->parameters()) {
    if (each.dim() > 1) each.set_data(each.to(torch::kHalf));
  }
  attend_with(model->scale, model->part->scale);
  auto all = other->parameters();
  all[0].set_data(all[0].to(torch::kHalf));
  attend_with(other->scale, other->part->scale);
}
void ok_all_parameters() {
  Whole one, other;
  auto all = one->parameters();
  std::for_each(all.begin(), all.end(), [](Tensor& each) { each.set_data(each.to(torch::kHalf)); });
  attend_with(one->scale, one->part->scale);
  auto others = other->parameters();
  for (size_t i = 0; i < others.size(); ++i) others[i].set_data(others[i].to(torch::kHalf));
  attend_with(other->scale, other->part->scale);
}
// Copied into, or a handle of the loop's own rebound: the parameters stay as they are.
void bad_parameters_copied() {
  Whole model;
  const Tensor x = input();
  for (auto& each : model->parameters()) each.data() = each.data().to(torch::kHalf);
  for (auto& each : model->parameters()) each = each.to(torch::kHalf);
  attend(x * model->scale, x, x);  // expect: attention-implicit-promotion
}
void bad_own_parameters_only() {
  Whole model;
  const Tensor x = input();
  for (auto& each : model->parameters(/*recurse=*/false)) each.set_data(each.to(torch::kHalf));
  attend(x * model->scale, x * model->part->scale, x);  // expect: attention-implicit-promotion
}

// Children and modules, also by a function that calls itself.
void halve_below(nn::Module& module) {
  for (auto& each : module.parameters(false)) each.set_data(each.to(torch::kHalf));
  for (auto& each : module.children()) halve_below(*each);
}
void ok_modules() {
  Whole one, other, third;
  for (auto& each : one->modules()) each->to(torch::kHalf);
  attend_with(one->scale, one->part->scale);
  halve_below(*other);
  attend_with(other->scale, other->part->scale);
  for (auto& each : third->named_children()) each.value()->to(torch::kHalf);
  attend_with(input(), third->part->scale);
}
void ok_modules_of_a_class() {
  Whole model, other;
  for (auto& each : model->modules()) {
    if (auto* part = each->as<PartImpl>()) part->scale.set_data(part->scale.to(torch::kHalf));
  }
  attend_with(input(), model->part->scale);
  for (auto& each : other->modules()) {
    if (auto* part = each->as<PartImpl>()) part->scale = part->scale.to(torch::kHalf);
  }
  attend_with(input(), other->part->scale);
}
void bad_children_only() {
  Whole model;
  const Tensor x = input();
  for (auto& each : model->children()) each->to(torch::kHalf);
  attend(x * model->part->scale, x * model->scale, x);  // expect: attention-implicit-promotion
}

// What a file holds may be half.
void ok_loaded() {
  Whole model;
  torch::load(model, "weights.pt");
  attend_with(model->scale, model->part->scale);
}
void bad_loaded_and_converted() {
  Whole model;
  const Tensor x = input();
  torch::load(model, "weights.pt");
  model->to(torch::kFloat);
  attend(x * model->scale, x, x);  // expect: attention-implicit-promotion
}

// A class that overrides `to` has it called by its parent's.
struct KeepsTableImpl : nn::Module {
  KeepsTableImpl() : table(torch::ones({8})) {}
  void to(torch::Dtype dtype, bool wait = false) override {
    nn::Module::to(dtype, wait);
    table = table.to(dtype);
  }
  Tensor forward(const Tensor& x) { return attend(x * table, x, x); }
  Tensor table;
};
TORCH_MODULE(KeepsTable);
struct HoldsKeeperImpl : nn::Module {
  HoldsKeeperImpl() { keeper = register_module("keeper", KeepsTable()); }
  KeepsTable keeper{nullptr};
};
TORCH_MODULE(HoldsKeeper);
void ok_overridden_to() {
  HoldsKeeper model;
  model->to(torch::kHalf);
  model->keeper->forward(input());
}

// Plain members that another method, or a function, leaves in another dtype before forward is called.
struct HalvedByMethod : nn::Module {
  HalvedByMethod() : table(torch::ones({8})) {}
  void to_half() {
    this->to(torch::kHalf);
    table = table.to(torch::kHalf);
  }
  Tensor forward(const Tensor& x) { return attend(x * table, x, x); }
  Tensor table;
};
struct SetByCaller : nn::Module {
  SetByCaller() : table(torch::ones({8})) {}
  void set(const Tensor& given) { table = given; }
  Tensor forward(const Tensor& x) { return attend(x * table, x, x); }
  Tensor table;
};
struct HalvedOutside : nn::Module {
  HalvedOutside() : table(torch::ones({8})) {}
  Tensor forward(const Tensor& x) { return attend(x * table, x, x); }
  Tensor table;
};
void halve_table(HalvedOutside& module) { module.table = module.table.to(torch::kHalf); }
struct HalvedList {
  HalvedList() {
    for (int i = 0; i < 3; ++i) tables.push_back(torch::ones({8}));
  }
  void to_half() {
    for (auto& each : tables) each = each.to(torch::kHalf);
  }
  Tensor forward(const Tensor& x) { return attend(x * tables[0], x, x); }
  std::vector<Tensor> tables;
};
struct Resized : nn::Module {
  Resized() { table = torch::ones({8}); }  // expect: unregistered-buffer
  void resize(int64_t size) { table = torch::arange(size, torch::kFloat).cos(); }
  Tensor forward(const Tensor& x) { return attend(x * table, x, x); }
  Tensor table;
};

// A model that the program always makes half is not run with float32 parameters under autocast.
struct AlwaysHalfImpl : nn::Module {
  AlwaysHalfImpl() { scale = register_parameter("scale", torch::ones({8})); }
  Tensor forward(const Tensor& x) { return attend(x * scale, x, x); }
  Tensor scale;
};
TORCH_MODULE(AlwaysHalf);
Tensor ok_always_half(const Tensor& x) {
  AlwaysHalf model;
  for (auto& each : model->parameters()) each.set_data(each.to(torch::kHalf));
  return model->forward(x);
}
struct SometimesHalfImpl : nn::Module {
  SometimesHalfImpl() { scale = register_parameter("scale", torch::ones({8})); }
  Tensor forward(const Tensor& x) { return attend(x * scale, x, x); }  // expect: attention-implicit-promotion
  Tensor scale;
};
TORCH_MODULE(SometimesHalf);
SometimesHalf made_half() {
  SometimesHalf model;
  model->to(torch::kHalf);
  return model;
}
SometimesHalf made_as_it_is() { return SometimesHalf(); }
}  // namespace conversions
