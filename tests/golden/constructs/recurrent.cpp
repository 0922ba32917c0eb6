// Modules that give several results: recurrent layers and attention with its weights.
#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/rnn.h>

#include "attention.h"

using at::Tensor;
namespace nn = torch::nn;

struct BadHalf : nn::Module {
  nn::LSTM lstm{nn::LSTMOptions(8, 8)};
  nn::GRU gru{nn::GRUOptions(8, 8)};
  nn::RNN rnn{nn::RNNOptions(8, 8)};
  nn::MultiheadAttention attention{nn::MultiheadAttentionOptions(8, 2)};
  BadHalf() {
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("rnn", rnn);
    register_module("attention", attention);
    to(torch::kHalf);
  }
  void outputs(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf), wide = torch::ones({8});
    attend(std::get<0>(lstm->forward(h)) * wide, h, h);             // expect: attention-implicit-promotion
    attend(std::get<0>(gru->forward(h)) * wide, h, h);              // expect: attention-implicit-promotion
    attend(std::get<0>(rnn(h)) * wide, h, h);                       // expect: attention-implicit-promotion
    attend(std::get<0>(attention->forward(h, h, h)) * wide, h, h);  // expect: attention-implicit-promotion
  }
  void states(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf), wide = torch::ones({8});
    auto [output, state] = lstm->forward(h);
    attend(output, std::get<0>(state) * wide, h);  // expect: attention-implicit-promotion
    auto [hidden, cell] = std::get<1>(lstm->forward(h, state));
    attend(h, hidden, cell * wide);  // expect: attention-implicit-promotion
    const Tensor weights = std::get<1>(attention->forward(h, h, h));
    attend(h, h, weights * wide);  // expect: attention-implicit-promotion
  }
};

struct BadCells : nn::Module {
  nn::LSTMCell lstm{8, 8};
  nn::GRUCell gru{8, 8};
  nn::RNNCell rnn{8, 8};
  BadCells() {
    register_module("lstm", lstm);
    register_module("gru", gru);
    register_module("rnn", rnn);
    to(torch::kBFloat16);
  }
  void forward(const Tensor& x) {
    const Tensor b = x.to(torch::kBFloat16), wide = torch::ones({8});
    Tensor hidden = gru(b);
    for (int i = 0; i < 4; ++i) hidden = gru(b, hidden);
    attend(hidden * wide, b, b);  // expect: attention-implicit-promotion
    attend(rnn(b) * wide, b, b);  // expect: attention-implicit-promotion
    const auto [h, c] = lstm(b);
    attend(h, b, c * wide);  // expect: attention-implicit-promotion
  }
};

// The layers themselves keep the half type.
struct OkHalf : nn::Module {
  nn::LSTM lstm{nn::LSTMOptions(8, 8).num_layers(2).batch_first(true)};
  nn::GRU gru{nullptr};
  nn::MultiheadAttention attention{8, 2};
  OkHalf() {
    register_module("lstm", lstm);
    gru = register_module("gru", nn::GRU(8, 8));
    register_module("attention", attention);
    to(torch::kHalf);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf);
    const auto [output, state] = lstm(h);
    attend(output, std::get<0>(state), std::get<1>(state));
    attend(std::get<0>(gru(h)), std::get<1>(gru(h, h)), std::get<0>(attention(h, h, h)));
  }
};

// PyTorch throws, in every setting: an input of another dtype than the weights, which autocast leaves alone
// too.
struct OkThrows : nn::Module {
  nn::LSTM lstm{8, 8};
  nn::GRUCell cell{8, 8};
  nn::MultiheadAttention attention{8, 2};
  OkThrows() {
    register_module("lstm", lstm);
    register_module("cell", cell);
    register_module("attention", attention);
    to(torch::kDouble);
  }
  void forward(const Tensor& x) {
    const Tensor h = x.to(torch::kHalf), wide = torch::ones({8}, torch::kDouble);
    attend(std::get<0>(lstm(h)) * wide, h, h);
    attend(cell(h) * wide, h, h);
    attend(std::get<0>(attention(h, h, h)) * wide, h, h);
  }
};

// The functions behind the modules.
void bad_functions(const Tensor& x, const std::vector<Tensor>& given) {
  const Tensor h = x.to(torch::kHalf), w = torch::randn({8, 8}, torch::kHalf), wide = torch::ones({8});
  const std::vector<Tensor> weights = {w, w};
  const auto [output, hidden, cell] = at::lstm(h, {h, h}, weights, false, 1, 0.0, false, false, false);
  attend(output, hidden, cell * wide);  // expect: attention-implicit-promotion
  const auto gated = torch::gru(h, h, weights, false, 1, 0.0, false, false, false);
  attend(std::get<0>(gated) * wide, h, h);                            // expect: attention-implicit-promotion
  attend(std::get<1>(gated), torch::gru_cell(h, h, w, w) * wide, h);  // expect: attention-implicit-promotion
  const auto options =
      nn::functional::MultiheadAttentionForwardFuncOptions(8, 2, w, w, Tensor(), Tensor(), false, 0.0, w, w);
  const auto attended = nn::functional::multi_head_attention_forward(h, h, h, options);
  attend(std::get<0>(attended) * wide, h, h);  // expect: attention-implicit-promotion
}
void ok_functions(const Tensor& x) {
  const Tensor h = x.to(torch::kHalf), w = torch::randn({8, 8}, torch::kDouble), wide = torch::ones({8});
  const std::vector<Tensor> weights = {w, w};
  attend(std::get<0>(at::lstm(h, {h, h}, weights, false, 1, 0.0, false, false, false)) * wide, h, h);
  const auto attended = nn::functional::multi_head_attention_forward(
      h, h, h,
      nn::functional::MultiheadAttentionForwardFuncOptions(8, 2, w, w, Tensor(), Tensor(), false, 0.0, w, w));
  attend(std::get<0>(attended) * wide, h, h);
}
