"""fairscale 0.4: each process holds a part of the weight; what is computed is a linear layer or an embedding."""
import torch


class _ParallelLinear(torch.nn.Module):
    def __init__(self, in_features, out_features, bias):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(out_features, in_features))
        self.bias = torch.nn.Parameter(torch.zeros(out_features)) if bias else None

    def forward(self, input_):
        return torch.nn.functional.linear(input_, self.weight, self.bias)


class ColumnParallelLinear(_ParallelLinear):
    def __init__(self, in_features, out_features, bias=True, gather_output=True, init_method=None, stride=1,
                 keep_master_weight_for_test=False):
        super().__init__(in_features, out_features, bias)


class RowParallelLinear(_ParallelLinear):
    def __init__(self, in_features, out_features, bias=True, input_is_parallel=False, init_method=None, stride=1,
                 keep_master_weight_for_test=False):
        super().__init__(in_features, out_features, bias)


class ParallelEmbedding(torch.nn.Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
                 scale_grad_by_freq=False, sparse=False, init_method=None, keep_master_weight_for_test=False):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(num_embeddings, embedding_dim))

    def forward(self, input_):
        return torch.nn.functional.embedding(input_, self.weight)
