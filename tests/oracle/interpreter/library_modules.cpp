#include "tests/oracle/interpreter/library_modules.h"

#include <algorithm>

namespace dtype_guard::oracle {
namespace {
constexpr std::string_view kOfForward = "::forward";
}  // namespace

const std::vector<LibraryModule>& library_modules() {
  static const std::vector<LibraryModule> all = {
      {"torch::nn::Linear", {{"weight", 2}, {"bias", 1}}, "linear", {"0", "weight", "bias"}, 1},
      {"torch::nn::LayerNorm", {{"weight", 1}, {"bias", 1}}, "layer_norm", {"0", "", "weight", "bias"}, 1},
      {"torch::nn::RMSNorm", {{"weight", 1}}, "rms_norm", {"0", "", "weight"}, 1},
      {"torch::nn::GroupNorm", {{"weight", 1}, {"bias", 1}}, "group_norm", {"0", "", "weight", "bias"}, 2},
      {"torch::nn::BatchNorm1d",
       {{"weight", 1}, {"bias", 1}, {"running_mean", 1, true}, {"running_var", 1, true}},
       "batch_norm",
       {"0", "weight", "bias", "running_mean", "running_var"},
       2,
       3},
      {"torch::nn::Embedding", {{"weight", 2}}, "embedding", {"weight", "0"}},
      {"torch::nn::Conv1d", {{"weight", 3}, {"bias", 1}}, "conv1d", {"0", "weight", "bias"}, 2, 3},
      {"torch::nn::Bilinear", {{"weight", 3}, {"bias", 1}}, "bilinear", {"0", "1", "weight", "bias"}, 1},
      {"torch::nn::PReLU", {{"weight", 1}}, "prelu", {"0", "weight"}},
      {"torch::nn::GELU", {}, "gelu", {"0"}},
      {"torch::nn::SiLU", {}, "silu", {"0"}},
      {"torch::nn::Softmax", {}, "softmax", {"0"}},
      {"torch::nn::Dropout", {}, "dropout", {"0"}},
      {"torch::nn::Identity", {}, "", {"0"}}};
  return all;
}

const LibraryModule* find_library_module(std::string_view name) {
  if (name.ends_with(kOfForward)) name.remove_suffix(kOfForward.size());
  const auto& all = library_modules();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const LibraryModule& each) { return each.type == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace dtype_guard::oracle
