"""Calls whose options make another operator of it, or might: a loss that sums or reduces nothing, a norm by name, more
borders. Rows as in operator_calls.py, which reads them."""

ROWS = (
    # options that change nothing of the dtype
    ("torch.ops.aten.BASE(a, b, 0)", "0d 1d", "mse_loss smooth_l1_loss huber_loss soft_margin_loss"),
    ("torch.ops.aten.BASE(a, b, 2)", "0d 1d", "mse_loss smooth_l1_loss huber_loss soft_margin_loss"),
    ("torch.ops.aten.BASE(a, b, 1, 0.0)", "0d 1d", "smooth_l1_loss"),
    ("torch.nn.functional.BASE(a, b, reduction='sum')", "0d 1d", "kl_div poisson_nll_loss"),
    ("torch.nn.functional.BASE(a, b, reduction='none')", "0d 1d", "kl_div poisson_nll_loss"),
    ("torch.nn.functional.BASE(a, b, log_target=True)", "0d 1d", "kl_div"),
    ("torch.nn.functional.BASE(a, b, c, reduction='none')", "0v 1v 2v", "margin_ranking_loss"),
    ("torch.nn.functional.BASE(a, b, c, reduction='sum')", "0v 1v 2v", "margin_ranking_loss"),
    # cpu(): the meta device computes a weighted one by other steps than the kernel
    ("torch.nn.functional.binary_cross_entropy(a.cpu(), b, c)", "0v 1v 2v", "binary_cross_entropy"),
    ("torch.nn.functional.embedding_bag(index, a.clone(), index * 0, max_norm=1.0)", "0d", "embedding_bag"),
    ("torch.nn.functional.pad(a, (1, 1, 1, 1, 1, 1), mode='replicate')", "05", "pad.replicate"),
    ("torch.linalg.NAME(a, 'fro')", "0d", "linalg_norm.matrix linalg_matrix_norm"), ("torch.gradient(a, spacing=2.0)", "0v", "gradient"),
    ("torch.cov(a, fweights=index)", "0d", "cov"),
    # a dtype of the result: no CPU kernel, so the meta device answers
    ("torch.ops.aten.mm.dtype(a, b, dt)", "0d 1d", "mm"), ("torch.ops.aten.bmm.dtype(a, b, dt)", "03 13", "bmm"),
    ("torch.ops.aten.addmm.dtype(a, a, b, dt)", "1d 2d", "addmm"),
    # options that do
    ("torch.nn.functional.BASE(a, b, reduction='sum')", "0d 1d", "l1_loss.sum hinge_embedding_loss.sum"),
    ("torch.nn.functional.BASE(a, b, log_input=False)", "0d 1d", "poisson_nll_loss.rate"),
    ("torch.nn.functional.BASE(a, b, full=True)", "0d 1d", "poisson_nll_loss.full"),
    ("torch.nn.functional.BASE(a, b, c, swap=True)", "0d 1d 2d", "triplet_margin_loss.swap"),
    ("torch.nn.functional.embedding(index, a.clone(), max_norm=1.0)", "0d", "embedding.renormed"),
    ("torch.nn.functional.pad(a, (1, 1, 1, 1, 1, 1), mode='reflect')", "05", "pad.reflect3d"),
    ("torch.linalg.NAME(a, 'nuc')", "0d", "linalg_norm.spectral linalg_matrix_norm.spectral"),
    ("torch.linalg.NAME(a, 2)", "0d", "linalg_norm.spectral linalg_matrix_norm.spectral"),
    ("torch.linalg.NAME(a, -2)", "0d", "linalg_norm.spectral linalg_matrix_norm.spectral"),
    ("torch.linalg.NAME(a, 'nuc', dtype=dt)", "0d", "linalg_norm.spectral linalg_matrix_norm.spectral"),
    ("torch.diff(a, prepend=b)", "0d 3d", "diff.prepended"), ("torch.diff(a, append=b)", "0d 4d", "diff.appended"),
    ("torch.diff(a, prepend=b, append=c)", "0d 3d 4d", "diff.prepended"),
    ("torch.stft(a.reshape(-1), 4, return_complex=False)", "04", "stft.real"), ("torch.istft(a, 3, 1, onesided=False, return_complex=True)", "0c", "istft.complex"),
    ("torch.inner(a, b)", "0v 1v", "inner.vector"), ("torch.tensordot(a, b, 2)", "0d 1d", "tensordot.all"),
    ("torch.bincount(a, b.float())", "0v 1v", "bincount.float32"),
    ("torch.bincount(a, b.double())", "0v 1v", "bincount.float64"), ("torch.bincount(a, b.half())", "0v 1v", "bincount.float64"), ("torch.bincount(a, b.long())", "0v 1v", "bincount.float64"),
    ("torch.cov(a, aweights=b)", "0d 3v", "cov.weighted"), ("torch.cov(a, fweights=index, aweights=b)", "0d 3v", "cov.weighted"),
)
