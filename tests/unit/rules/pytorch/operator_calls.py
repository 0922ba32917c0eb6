"""How to call each operator of the table. A row is the expression, its operands and the operators that share it: `n` is
the operator itself, a, b, c are the operands. An operand is the position of its argument in the table's entry and a
shape: r (2, 2) or 0-dim; n the same or a number; d (2, 2); v (2,); s 0-dim; 3 (2, 2, 2); 4 (1, 2, 4, 4);
N a number; others as SHAPES in torch_observer.py says. An argument that the
entry does not list by position stands by name: other=r."""

ROWS = (
    # elementwise
    ("n(a)", "0r", "abs neg positive acos acosh asin asinh atan atanh cos cosh deg2rad digamma erf erfc erfinv exp exp2 "
     "expm1 i0 lgamma log log10 log1p log2 rad2deg reciprocal rsqrt sigmoid sin sinc sinh sqrt tan tanh bitwise_not ceil "
     "floor frac round sgn sign trunc square logical_not isfinite isinf isnan isneginf isposinf isreal signbit logit angle "
     "conj resolve_conj nan_to_num conj_physical selu celu"),
    ("torch.nn.functional.NAME(a)", "0r", "elu gelu softplus hardtanh leaky_relu hardsigmoid mish relu relu6 hardswish "
     "silu softsign tanhshrink hardshrink softshrink"),
    ("torch.nn.functional.threshold(a, 0.1, 20)", "0r", "threshold"),
    ("torch.nn.functional.logsigmoid(a)", "0r", "log_sigmoid"),
    ("torch.special.NAME(a)", "0r", "special_bessel_j0 special_bessel_j1 special_entr special_erfcx special_i0e special_i1 "
     "special_i1e special_log_ndtr special_ndtr special_ndtri special_logit special_i0 special_spherical_bessel_j0"),
    ("n(a, b)", "0r 1n", "add sub mul div pow remainder fmod floor_divide eq ne lt le gt ge rsub bitwise_and bitwise_or "
     "bitwise_xor bitwise_left_shift bitwise_right_shift float_power xlogy copysign"),
    ("n(a, b)", "0r 1r", "maximum minimum fmax fmin logaddexp logaddexp2 atan2 hypot nextafter igamma igammac gcd lcm "
     "logical_and logical_or logical_xor heaviside isclose"),
    ("torch.special.NAME(a, b)", "0r 1n", "special_xlog1py special_zeta"),
    ("n(a, b)", "0r 1n", "clamp_min clamp_max"),
    ("n(a, b, c)", "0r 1r 2r", "clamp addcmul addcdiv"),
    ("n(a, b, 0.5)", "0r 1r", "lerp"), ("n(a, b, c)", "0d 1d 2r", "lerp"),
    ("n(mask, a, b)", "1r 2n", "where"),
    ("n(a, mask, b)", "0d 2s", "masked_fill"),
    ("n(a, b)", "0r 1r", "complex polar"),
    ("n(a, 2)", "0d", "mvlgamma"), ("torch.special.NAME(a, 2)", "0d", "special_multigammaln"),
    ("torch.nn.functional.prelu(a, b)", "0d 1v", "prelu"),
    ("torch.nn.functional.NAME(a, 0.5)", "0d", "dropout alpha_dropout.eval"),
    ("torch.normal(a, b)", "0d 1d", "normal"), ("torch.normal(a, b)", "0d 1I", "normal"), ("torch.normal(a, b)", "0I 1d", "normal"),
    ("torch.normal(a, b, (2,))", "0I 1I", "normal"),
    # rsub's out= goes through torch.ops, where 1.13 takes True for 1.
    ("n(a, b, alpha=c)", "0d 1d 2N", "add sub"), ("n(a, b, alpha=c)", "0d 1d 2I", "rsub"), ("torch.addr(a, a[0], a[0], beta=b)", "0d 3N", "addr"), ("torch.addr(a, a[0], a[0], alpha=b)", "0d 4N", "addr"),
    # forms of an operator: with a rounding mode, as C++ computes `number - tensor`, its further results
    ("torch.div(a, b, rounding_mode='floor')", "0r 1n", "div.rounded"), ("torch.div(a, b, rounding_mode='trunc')", "0r 1n", "div.rounded"),
    ("a.div_(b, rounding_mode='trunc')", "0r 1n", "div.rounded_"), ("torch.div(b, c, rounding_mode='floor', out=a)", "0d 1d 2d", "div.rounded_out"),
    ("torch.div(a, b, rounding_mode=None)", "0r 1n", "div"),
    ("torch.empty_like(b).fill_(a).BASE_(b)", "0N 1r", "sub.number_first div.number_first remainder.number_first"),
    ("n(a, 0)[1]", "0d", "max.1 min.1 sort.1 cummax.1 cummin.1 mode.1 median.1 nanmedian.1"), ("n(a, 1)[1]", "0d", "kthvalue.1 topk.1"),
    ("torch.ops.aten.BASE(a)[1]", "0d", "frexp.1 aminmax.1"), ("torch.BASE(a)[1]", "0d", "std_mean.1 var_mean.1 svd.1 slogdet.1 qr.1"),
    ("torch.native_dropout(a, 0.5, True)[1]", "0d", "native_dropout.1"), ("torch.svd(a)[2]", "0d", "svd.2"),
    ("torch.unique_consecutive(a, return_inverse=True)[1]", "0d", "unique_consecutive.1"),
    ("torch.unique_consecutive(a, return_inverse=True, return_counts=True)[2]", "0d", "unique_consecutive.2"),
    ("torch.ops.aten.unique_dim(a, 0, True, True, True)[1]", "0d", "unique_dim.1"), ("torch.ops.aten.unique_dim(a, 0, True, True, True)[2]", "0d", "unique_dim.2"),
    ("torch.ops.aten.max_pool2d_with_indices(a, 2)[1]", "04", "max_pool2d_with_indices.1"),
    ("torch.linalg.NAME(a)[1]", "0d", "linalg_svd.1 linalg_slogdet.1 linalg_qr.1 linalg_eigh.1 linalg_lu.1 linalg_eig.1 "
     "linalg_lu_factor.1 linalg_inv_ex.1 linalg_cholesky_ex.1"), ("torch.linalg.NAME(a)[2]", "0d", "linalg_svd.2 linalg_lu.2"),
    # in-place and out= variants
    ("a.NAME(b)", "0r 1n", "add_ sub_ mul_ div_ pow_ remainder_ fmod_ floor_divide_ eq_ lt_ bitwise_and_ float_power_ "
     "copysign_ xlogy_ clamp_min_ clamp_max_"),
    ("a.NAME(b)", "0d 1d", "atan2_ hypot_ nextafter_ heaviside_ gcd_ lcm_ copy_ ne_ gt_ ge_ le_ logical_or_ logical_xor_ logical_and_ "
     "bitwise_or_ bitwise_xor_"),
    ("a.NAME()", "0d", "neg_ exp_ log_ sqrt_ rsqrt_ sin_ cos_ tanh_ sigmoid_ reciprocal_ square_ floor_ round_ abs_ relu_ "
     "logical_not_ zero_ erf_ log1p_ nan_to_num_ trunc_"),
    ("a.NAME(1.5)", "0d", "fill_"),
    ("a.addcmul_(b, c)", "0d 1d 2d", "addcmul_"), ("a.addcdiv_(b, c)", "0d 1d 2d", "addcdiv_"),
    ("a.lerp_(b, 0.5)", "0d 1d", "lerp_"), ("a.masked_fill_(mask, b)", "0d 2s", "masked_fill_"),
    ("torch.BASE(b, c, out=a)", "0d 1d 2d", "add_out mul_out sub_out div_out maximum_out eq_out"),
    ("torch.BASE(b, out=a)", "0d 1d", "exp_out neg_out cos_out"),
    # reductions, softmax, norms
    ("n(a)", "0r", "sum prod nansum mean nanmean var std amax amin median nanmedian max min argmax argmin all any "
     "count_nonzero aminmax std_mean var_mean"),
    ("torch.ops.aten.norm(a)", "0r", "norm"), ("torch.ops.aten.norm(a, 2, dtype=dt)", "0d", "norm"), ("n(a, 0)", "0d", "cumsum cumprod logcumsumexp logsumexp softmax log_softmax argsort sort cummax cummin mode median"),
    ("n(a, 1)", "0d", "kthvalue topk"), ("n(a, b)", "0r 1r", "max min"),
    ("torch.nn.functional.softmin(a, 0)", "0d", "softmin"), ("torch.nn.functional.glu(a)", "0d", "glu"),
    ("a.NAME(0)", "0d", "cumsum_ cumprod_"),
    ("n(a, b)", "0d 1s", "quantile nanquantile"),
    ("torch.linalg.NAME(a)", "0d", "linalg_vector_norm linalg_norm linalg_matrix_norm linalg_inv linalg_cholesky "
     "linalg_svdvals linalg_pinv linalg_det linalg_diagonal"),
    ("torch.linalg.svd(a)", "0d", "linalg_svd"),
    ("torch.nn.functional.NAME(a, (2,))", "0d", "layer_norm rms_norm"),
    ("torch.nn.functional.normalize(a)", "0d", "normalize"),
    ("torch.nn.functional.group_norm(a, 2)", "0d", "group_norm"),
    ("n(a, 2, 0, 1.0)", "0d", "renorm"),
    ("n(a)", "0d", "nonzero trace"), ("n(a, b)", "0v 1v", "searchsorted"),
    ("torch.nn.functional.NAME(a, b)", "0d 1d", "huber_loss "
     "hinge_embedding_loss cosine_similarity pairwise_distance kl_div"),
    ("torch.nn.functional.NAME(a, b)", "0d 1d", "poisson_nll_loss soft_margin_loss binary_cross_entropy_with_logits"),
    ("torch.nn.functional.NAME(a, b, c)", "0d 1d 2d", "triplet_margin_loss"),
    ("torch.nn.functional.margin_ranking_loss(a, b, c)", "0v 1v 2v", "margin_ranking_loss"),
    ("torch.nn.functional.pdist(a)", "0d", "pdist"),
    ("torch.nn.functional.nll_loss(a, index)", "0d", "nll_loss"),
    ("torch.nn.functional.cross_entropy(a, index)", "0d", "cross_entropy_loss"),
    # products
    ("n(a, b)", "0d 1s", "kron"), ("n(a, b)", "0s 1d", "kron"),
    ("n(a, b)", "0d 1d", "matmul mm inner kron"), ("n(a, b)", "03 13", "bmm"), ("n(a, b)", "0d 1v", "mv matmul"),
    ("n(a, b)", "0v 1v", "dot vdot outer"), ("torch.linalg.vecdot(a, b)", "0d 1d", "linalg_vecdot"),
    ("n(a, b, c)", "0d 1d 2d", "addmm"), ("n(a, b, c)", "0v 1d 2v", "addmv"), ("n(a, b, c)", "0d 1v 2v", "addr"),
    ("n(a, b, c)", "03 13 23", "baddbmm"), ("n(a, b, c)", "0d 13 23", "addbmm"),
    ("torch.nn.functional.linear(a, b)", "0d 1d", "linear"), ("torch.nn.functional.linear(a, b, c)", "0d 1d 2v", "linear"),
    ("torch.einsum('ij,jk->ik', a, b)", "1d 1d", "einsum"),
    ("torch.einsum('ij,kl->ijkl', a, b)", "1d 1d", "einsum.mul"), ("torch.einsum('i,j->ij', a, b)", "1v 1v", "einsum.mul"),
    ("torch.dequantize(a)", "0d", "dequantize"), ("torch.tensordot(a, b, 1)", "0d 1d", "tensordot"),
    ("torch.linalg.multi_dot([a, b])", "0d 0d", "linalg_multi_dot"),
    ("torch.nn.functional.conv1d(a, b)", "03 13", "conv1d"), ("torch.nn.functional.conv2d(a, b)", "04 14", "conv2d"),
    ("torch.cdist(a, b)", "0d 1d", "cdist"), ("torch.linalg.solve(a, b)", "0d 1d", "linalg_solve"),
    ("torch.nn.functional.scaled_dot_product_attention(a, b, c)", "04 14 24", "scaled_dot_product_attention"),
    ("torch.cross(a, b, dim=1)", "0c 1c", "cross"), ("torch.linalg.cross(a, b)", "0c 1c", "linalg_cross"),
    # views and movement
    ("n(a)", "0r", "clone detach t adjoint ravel flatten squeeze atleast_1d atleast_2d atleast_3d diagflat "
     "alias_copy detach_copy"),
    ("a.NAME()", "0r", "contiguous clone detach float double half cfloat cdouble bfloat16 int long short char byte bool cpu"),
    ("n(a, 0, 1)", "0d", "transpose swapaxes swapdims movedim moveaxis transpose_copy"),
    ("n(a)", "0d", "t t_copy fliplr flipud tril triu rot90 diagonal diag diag_embed diagonal_copy trace"),
    ("n(a, (0, 1))", "0d", "permute permute_copy flip"), ("n(a, 1)", "0d", "roll"),
    ("n(a, (4,))", "0d", "reshape view_copy"), ("a.NAME(4)", "0d", "view reshape"),
    ("n(a, (2, 2))", "0d", "broadcast_to expand_copy tile"), ("a.NAME(2, 2)", "0d", "expand repeat"),
    ("a.NAME(b)", "0d 1d", "view_as reshape_as expand_as type_as"),
    ("n(a, 0)", "0d", "unsqueeze unsqueeze_copy unbind unbind_copy squeeze"),
    ("n(a, 0, 0)", "0d", "select"), ("n(a, 0, 0, 1)", "0d", "narrow narrow_copy"),
    ("n(a, 2)", "0d", "chunk split tensor_split hsplit vsplit repeat_interleave"), ("n(a, (1, 1))", "0d", "split_with_sizes"),
    ("n(a, (2, 2), (2, 1))", "0d", "as_strided as_strided_copy"), ("a.NAME(0, 2, 1)", "0d", "unfold"),
    ("a.unflatten(0, (1, 2))", "0d", "unflatten"), ("n(a, b)", "0d 0d", "broadcast_tensors"),
    ("n(a)", "0d", "view_as_complex"), ("n(a)", "0r", "real"),
    ("n([a, b])", "0s 0o", "column_stack hstack vstack dstack"), ("n([a, b])", "0o 0s", "column_stack hstack vstack dstack"),
    ("n([a, b])", "0d 0d", "cat stack column_stack hstack vstack dstack"), ("n([a, b])", "0s 0s", "stack column_stack hstack vstack dstack"),
    ("torch.block_diag(a, b)", "0d 0d", "block_diag"),
    ("n(a, 0, index)", "0d", "index_select"), ("n(a, 0, index2)", "0d", "gather"), ("n(a, index2, 0)", "0d", "take_along_dim"),
    ("n(a, index)", "0d", "take"), ("n(a, mask)", "0d", "masked_select"), ("a[index]", "0d", "index"),
    ("torch.nn.functional.pad(a, (1, 1))", "0d", "pad constant_pad_nd"),
    ("torch.nn.functional.embedding(index, a)", "0d", "embedding"),
    ("n(a, 0, index, 1.5)", "0d", "index_fill"),
    # transforms
    ("torch.fft.NAME(a)", "0d", "fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_rfft fft_rfft2 fft_rfftn fft_ihfft "
     "fft_ihfft2 fft_ihfftn fft_irfft fft_irfft2 fft_irfftn fft_hfft fft_hfft2 fft_hfftn fft_fftshift fft_ifftshift"),
    # factories
    ("n(a)", "0r", "zeros_like ones_like empty_like rand_like randn_like"), ("n(a, 2)", "0r", "full_like randint_like"),
    ("a.NAME((2,))", "0r", "new_zeros new_ones new_empty"), ("a.new_full((2,), 1.5)", "0r", "new_full"),
    ("n(2)", "", "zeros ones empty rand randn"), ("torch.eye(2)", "", "eye"), ("n(0, 1, 3)", "", "linspace logspace"),
    ("n(4)", "", "hann_window hamming_window blackman_window randperm"), ("n(2, 2)", "", "tril_indices triu_indices"),
    ("torch.scalar_tensor(2)", "", "scalar_tensor"), ("torch.empty_strided((2,), (1,))", "", "empty_strided"),
)

# Operators that no call reaches, with the reason. Reviewed; a reason that holds for nothing fails the test.
NOT_CALLED = {
    "cuda xpu mps xla pin_memory": "move to devices that a test machine may lack; the dtype stays by definition",
    "lift_fresh variable_data tensor_data set_requires_grad set_data toType from_blob unsafeGetTensorImpl "
    "const_data_ptr mutable_data_ptr accessor packed_accessor32 packed_accessor64 toDLPack":
        "C++ names without a Python spelling",
    "data_ptr to_dlpack __dlpack__ storage": "hand out memory or a capsule, which has no dtype to ask",
    "repeat_interleave_out": "PyTorch's takes the counts alone",
    "fractional_max_pool2d_out fractional_max_pool3d_out": "want their random samples as well",
    "nested_to_padded_tensor": "takes a nested tensor, which PyTorch makes of floats only",
}

# The same for one release.
NOT_CALLED_IN = {"1.13": {"index_out": "copies elements of one dtype into the memory of another, past its end, without a check",
                          "native_batch_norm_out": "its CPU has no kernel"}}

# What the test leaves out of dtype x dtype x rank class, all of it; the test counts and prints what it costs. Reviewed.
SAMPLED = {
    "three": "a call with three dtypes or more (out= and dtype= count) is asked for 8 of the 13 dtypes: all would be 2.7 million cases more, four minutes of processor time instead of one",
    "autocast": "autocast casts by category, so a call of two dtypes is asked for 8 of the 13 under it",
}
NO_ANSWER = {
    ("soft_margin_loss", "complex32"): "no CPU kernel takes it, and the meta device computes by other steps than the kernel",
    ("lstm", "float16"): "the CPU's own recurrent kernel takes bfloat16 and float32 only, and float16 goes another way under autocast",
    ("lstm.1", "float16"): "the same",
    ("lstm.2", "float16"): "the same",
    ("ldexp", "complex32"): "no CPU kernel takes it, and the meta device promotes integers beside it by steps of its own",
    ("istft", "complex32"): "the CPU transforms no complex32; what throws is the first kernel met",
    ("istft.complex", "complex32"): "the same; under autocast its steps make complex64 of it",
}
