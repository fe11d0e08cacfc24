"""Functions of torch to import, by what they are about.  Not a test file.

A group is exported as one program: an export takes a second, whatever is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import torch

F = torch.nn.functional
Case = Callable[..., Any]
Group = tuple[dict[str, Case], tuple[Any, ...]]


def drawn(*shape: int) -> Any:
    return torch.randn(*shape)


def written(x: Any, y: Any) -> Any:
    """Assignments to parts of a tensor."""
    x = x.clone()
    x[1:3, ::2] = y[1:3, ::2]
    x[0] = 5.0
    x[x > 1] = 0.0
    x[:, 3] += y[:, 0]
    return x


torch.manual_seed(0)
IMAGE, MATRIX, POSITIVE = drawn(2, 3, 8, 6), drawn(4, 5), torch.rand(4, 5) + 0.1
WORDS, WHOLE = torch.tensor([[0, 2, 1], [3, 0, 0]]), torch.randint(-5, 6, (4, 5))
SIGNAL, QUERY = drawn(2, 3, 9), drawn(2, 4, 5, 6)

_UNARY = """abs neg relu sign square exp expm1 sin cos tan atan asinh sinh cosh tanh sigmoid erf erfc
    ceil floor round trunc reciprocal isnan isinf isfinite sgn frac deg2rad exp2 sinc nan_to_num"""
_ACTIVATIONS = """silu gelu mish softplus hardswish hardsigmoid relu6 elu selu celu leaky_relu softsign
    logsigmoid tanhshrink hardtanh softshrink hardshrink glu"""
_POSITIVE = "sqrt rsqrt log log2 log10 log1p lgamma"

GROUPS: dict[str, Group] = {
    "functions": (
        {n: getattr(torch, n) for n in _UNARY.split()}
        | {"detach": lambda x: x.detach(), "round to": lambda x: torch.round(x, decimals=2)},
        (MATRIX,),
    ),
    "activations": (
        {n: getattr(F, n) for n in _ACTIVATIONS.split() if n != "glu"}
        | {
            "gelu by tanh": lambda x: F.gelu(x, approximate="tanh"),
            "elu 2": lambda x: F.elu(x, 2.0),
            "leaky 0.2": lambda x: F.leaky_relu(x, 0.2),
            "leaky -0.2": lambda x: F.leaky_relu(x, -0.2),
            "softplus 3": lambda x: F.softplus(x, 3.0, 1.0),
            "glu": lambda x: F.glu(x, 0),
            "prelu": lambda x: F.prelu(x, x[0, :1]),
        },
        (MATRIX,),
    ),
    "functions of positive numbers": (
        {n: getattr(torch, n) for n in _POSITIVE.split()}
        | {
            "asin": lambda x: torch.asin(x / 2),
            "acos": lambda x: torch.acos(x / 2),
            "acosh": lambda x: torch.acosh(x + 1),
            "atanh": lambda x: torch.atanh(x / 2),
            "erfinv": lambda x: torch.erfinv(x / 2),
            "logit": lambda x: torch.logit(x / 2),
            "powers": lambda x: [x**p for p in (-1, -0.5, 0, 0.5, 1, 2, 2.5, 3)],
            "exponents": lambda x: (2**x, x**x),
            "gamma": lambda x: (torch.digamma(x), torch.polygamma(1, x), torch.lgamma(-x - 0.3)),
            "bessel": lambda x: (
                torch.i0(x),
                torch.special.i1e(9 * x),
                torch.special.modified_bessel_k0(20 * x),
                torch.special.scaled_modified_bessel_k1(20 * x),
                torch.special.bessel_j1(2 * x),
            ),
            "others": lambda x: (torch.special.erfcx(4 * x), torch.special.spherical_bessel_j0(x)),
            "polynomials": lambda x: (
                torch.special.legendre_polynomial_p(x, 4),
                torch.special.laguerre_polynomial_l(x, torch.arange(x.shape[1])),
                torch.special.shifted_chebyshev_polynomial_w(x, 3),
            ),
            "xlogy": lambda x: torch.xlogy(x, x),
        },
        (POSITIVE,),
    ),
    "integers": (
        {
            "promoted": lambda z: (z + 1, z * 2.5, z / 3, z.to(torch.int32) * z, z + True),
            "divided": lambda z: (z // 3, z % 3, torch.fmod(z, 3)),
            "modes": lambda z: [torch.div(z, 3, rounding_mode=m) for m in ("trunc", "floor", None)],
            "float modes": lambda z: [
                torch.div(z.float(), 2, rounding_mode=m) for m in ("trunc", "floor", None)
            ],
            "functions": lambda z: (torch.sin(z), z.abs(), -z, z.float() ** 2, z**2, z.floor()),
            "reduced": lambda z: (z.sum(), z.sum(1), z.prod(0), z.prod(), z.max(), z.min(1)),
            "compared": lambda z: (z == 2, z != 0, z < 1, z <= 1.5, z > -1, z >= z[0]),
            "clamped": lambda z: (torch.clamp(z, -2, 2), torch.clamp(z, min=0.5)),
            "running": lambda z: z.cumsum(1),
            "sorted": lambda z: (z.sort(1)[0], z.sort(1, descending=True)[0]),
        },
        (WHOLE,),
    ),
    "bools": (
        {
            "logic": lambda b, x: (b & (x > 1), b | (x > 1), b ^ (x > 1), ~b),
            "of numbers": lambda b, x: (torch.logical_and(b, x > 0), torch.logical_not(b)),
            "reduced": lambda b, x: (b.sum(), b.any(), b.all(), b.all(1), b.any(0, keepdim=True)),
            "counted": lambda b, x: (b.float().mean(), b.cumsum(0), x.count_nonzero(1)),
            "choice": lambda b, x: (
                torch.where(b, x, 0.0),
                torch.where(b, 1, x),
                x.masked_fill(b, -1),
            ),
            "arithmetic": lambda b, x: (b * x, b + b, b * b, b == (x > 0), b < (x > 0)),
            "written": lambda b, x: b.index_fill(0, torch.tensor([1]), True),
        },
        (MATRIX > 0, MATRIX),
    ),
    "two operands": (
        {
            "arithmetic": lambda x, y: (x + y, x - 2 * y, x * y, x / y, 1 - x, 2 / y),
            "alpha": lambda x, y: (torch.add(x, y, alpha=3), torch.sub(x, y, alpha=2)),
            "extremes": lambda x, y: (torch.maximum(x, y), torch.minimum(x, y), x.clamp(min=y)),
            "remainders": lambda x, y: (torch.remainder(x, y), torch.fmod(x, y), x // y),
            "angles": lambda x, y: (torch.atan2(x, y), torch.hypot(x, y)),
            "fused": lambda x, y: (torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, x, y)),
            "between": lambda x, y: (torch.lerp(x, y, 0.25), torch.lerp(x, y, y)),
            "near": lambda x, y: (torch.isclose(x, y), torch.heaviside(x, y)),
            "products": lambda x, y: (torch.outer(x[0], y[0]), torch.kron(x, y)),
            "distances": lambda x, y: [torch.cdist(x, y, p) for p in (1.0, 2.0, 3.0)],
            "cosine": lambda x, y: F.cosine_similarity(x, y),
        },
        (MATRIX, POSITIVE),
    ),
    "reductions": (
        {
            "sums": lambda x: (x.sum(), x.sum((1, 2)), x.mean(), x.mean(-1, keepdim=True)),
            "variances": lambda x: (
                x.var(),
                x.var(1),
                x.var((0, 2), correction=2),
                x.var(1, False),
            ),
            "deviations": lambda x: (x.std(2, unbiased=False), *torch.std_mean(x)),
            "with means": lambda x: torch.var_mean(x, 1),
            "extremes": lambda x: (x.amax((1, 3)), x.amin(), x.max(), x.min(), torch.aminmax(x)),
            "and places": lambda x: (*x.max(1), *x.min(2, keepdim=True)),
            "places": lambda x: (x.argmax(), x.argmax(1), x.argmin(-1, keepdim=True), x.argmin()),
            "products": lambda x: (x.prod(), x.prod(1)),
            "logsumexp": lambda x: torch.logsumexp(x, (1, 2)),
            "norms": lambda x: [
                torch.linalg.vector_norm(x, p, dim=1) for p in (0, 1, 2, 3, float("inf"))
            ],
            "normalised": lambda x: (x.norm(), x.norm(dim=1), F.normalize(x, dim=1)),
            "running": lambda x: x.cumsum(2),
            "softmax": lambda x: (x.softmax(1), x.log_softmax(-1), F.softmin(x, 2)),
            "greatest": lambda x: (*x.topk(2, 1), *x.topk(3, largest=False)),
            "sorted": lambda x: (*x.sort(1), *x.sort(-1, descending=True), x.argsort(2)),
        },
        (IMAGE,),
    ),
    "shapes": (
        {
            "views": lambda x: (x.view(6, -1), x.reshape(2, -1, 3), x.flatten(1), x.ravel()),
            "axes": lambda x: (x.permute(3, 1, 0, 2), x.transpose(1, 3), x.movedim(1, -1), x.mT),
            "ones": lambda x: (
                x.unsqueeze(0),
                x[:, None],
                x[:1].squeeze(0),
                x.squeeze(),
                x.squeeze(1),
            ),
            "repeated": lambda x: (x.expand(4, 2, 3, 8, 6), x.repeat(1, 2, 1, 1), x.tile(2, 1)),
            "each repeated": lambda x: (x.repeat_interleave(2, 1), x.repeat(2, 1, 1, 1, 1)),
            "turned": lambda x: (
                x.flip((1, 3)),
                x.roll((1, -2), (2, 3)),
                torch.rot90(x, 1, (2, 3)),
            ),
            "parts": lambda x: (x[:, 1], x[:, -1], x[..., ::2], x[1:, :2, 3:-1], x.narrow(2, 1, 3)),
            "joined": lambda x: (
                torch.cat([x, x * 2], 1),
                torch.stack([x, x], -1),
                torch.cat([x, x.int()]),
            ),
            "cut": lambda x: (*x.split(3, 2), *x.chunk(4, 3), *x.unbind(1), *x.split([1, 2], 1)),
            "triangles": lambda x: (x.tril(), x.triu(1)),
            "diagonals": lambda x: (
                [x.diagonal(o, 2, 3) for o in (0, 2, -1)] + [x.diagonal(1, 1, 2)]
            ),
            "pixels": lambda x: (
                F.pixel_unshuffle(x, 2),
                F.pixel_shuffle(x.reshape(2, 4, 6, 6), 2),
            ),
            "windows": lambda x: (x.unfold(2, 3, 2), F.unfold(x, 2)),
            "grid": lambda x: torch.meshgrid(x[0, 0, :, 0], x[0, 0, 0], indexing="ij"),
            "copies": lambda x: (
                x.clone(),
                x.contiguous(),
                x.to(memory_format=torch.channels_last),
            ),
        },
        (IMAGE,),
    ),
    "padding": (
        {
            "constant": lambda x: (F.pad(x, (1, 2)), F.pad(x, (1, -2, 0, 3), value=2.0)),
            "reflected": lambda x: (
                F.pad(x, (1, 2, 2, 1), "reflect"),
                F.pad(x[0], (1, 2), "reflect"),
            ),
            "replicated": lambda x: (
                F.pad(x, (1, 2, 2, 1), "replicate"),
                F.pad(x[0], (1, 2), "replicate"),
            ),
            "circular": lambda x: F.pad(x, (1, 2, 2, 1), "circular"),
            "nothing": lambda x: F.pad(x, (0, 0)),
        },
        (IMAGE,),
    ),
    "indices": (
        {
            "embedding": lambda x, i: (
                F.embedding(i, x[0, 0]),
                F.embedding(i, x[0, 0], padding_idx=0),
            ),
            "one": lambda x, i: (x[i % 2], x[:, i % 3], x[-i % 2], x[:, :, i - 1]),
            "several": lambda x, i: (
                x[i % 2, i % 3],
                x[:, i % 3, i],
                x[:, :, i[:, :, None], i[:, None]],
            ),
            "apart": lambda x, i: (x[i % 2, :, i], x[:, i % 3, :, i]),
            "select": lambda x, i: (torch.index_select(x, 1, i[0]), x.index_fill(1, i[0], 0.0)),
            "gather": lambda x, i: torch.gather(x, 1, (i % 3)[:, :, None, None].expand(2, 3, 2, 2)),
            "one hot": lambda x, i: F.one_hot(i, 5),
            "scatter": lambda x, i: (
                x.scatter(1, (i % 3)[:, :1, None, None].expand(2, 1, 8, 6), x[:, 1:2]),
                x.scatter(1, (i % 3)[:, :, None, None], 9.0),
            ),
            "scatter add": lambda x, i: (
                x.scatter_add(1, (i % 3)[:, :, None, None].expand(2, 3, 8, 6), x),
                torch.index_add(x, 1, i[0], x),
            ),
            "scatter reduce": lambda x, i: [
                x.scatter_reduce(
                    1, (i % 3)[:, :, None, None].expand(2, 3, 8, 6), x, "sum", include_self=s
                )
                for s in (True, False)
            ],
        },
        (IMAGE, WORDS),
    ),
    "writes": (
        {
            "in place": lambda x, y: (
                x.clone().add_(1).relu_(),
                x.clone().copy_(y),
                x.clone().fill_(2),
            ),
            "to parts": written,
            "index put": lambda x, y: (
                torch.zeros(4, 5).index_put((torch.tensor([0, 1]),), y[:2]),
                torch.zeros(4, 5).index_put(
                    (torch.tensor([0, 0]), torch.tensor([1, 1])), y[0, :2], True
                ),
                torch.zeros(4, 5, 2).index_put(
                    (torch.tensor([0, 3]), torch.tensor([1, 1])), y[:2, :2]
                ),
            ),
            "slices": lambda x, y: (
                torch.slice_scatter(x, y[:2], 0, 1, 3),
                torch.slice_scatter(x, y[:, :3], 1, 0, 5, 2),
                torch.select_scatter(x, y[0], 0, -1),
            ),
        },
        (MATRIX, POSITIVE),
    ),
    "made": (
        {
            "ranges": lambda x: (
                torch.arange(5),
                torch.arange(1.0, 3.0, 0.5),
                torch.arange(9, 1, -2),
            ),
            "filled": lambda x: (
                torch.ones(2, 3),
                torch.zeros(2),
                torch.full((2,), 7),
                x.new_full((2,), 3),
            ),
            "like": lambda x: (
                torch.zeros_like(x),
                torch.ones_like(x, dtype=torch.int32),
                torch.full_like(x, 2),
            ),
            "written": lambda x: (
                torch.tensor([1.0, 2.0]),
                torch.tensor(3) + x,
                torch.scalar_tensor(2.0),
            ),
            "matrices": lambda x: (torch.eye(3), torch.eye(2, 3), torch.tril(torch.ones(4, 4))),
            "spaced": lambda x: torch.linspace(0, 1, 5),
            "empty": lambda x: (torch.empty(2, 3) * 0).isnan() | True,
        },
        (MATRIX,),
    ),
    "products": (
        {
            "matrices": lambda a, b, c, d: (a @ b, torch.mm(a, b), c @ d, torch.bmm(c, d), c @ b),
            "vectors": lambda a, b, c, d: (
                a @ b[:, 0],
                a[0] @ b,
                a[0] @ b[:, 0],
                c @ b[:, 0],
                a[0] @ d,
            ),
            "named": lambda a, b, c, d: (
                torch.mv(a, b[:, 0]),
                torch.dot(a[0], b[:, 0]),
                torch.tensordot(a, b, 1),
            ),
            "added": lambda a, b, c, d: (
                torch.addmm(b[0], a, b, beta=0.5, alpha=2),
                torch.addmm(b[0], a, b, beta=0),
                torch.baddbmm(d[:, :1, :], c, d),
            ),
            "einsum": lambda a, b, c, d: (
                torch.einsum("ij,jk->ik", a, b),
                torch.einsum("bij,bjk", c, d),
                torch.einsum("...ij,...jk->...ik", c, d),
                torch.einsum("b i j -> b i", c),
            ),
            "a diagonal": lambda a, b, c, d: torch.einsum("ii->i", a[:, :4]),
            "linear": lambda a, b, c, d: (F.linear(c, b.T), F.linear(a[0], b.T, b[0])),
        },
        (drawn(4, 5), drawn(5, 6), drawn(3, 4, 5), drawn(3, 5, 6)),
    ),
    "convolutions": (
        {
            "plain": lambda x, w, s: (
                F.conv2d(x, w),
                F.conv2d(x, w, padding="same"),
                F.conv2d(x[0], w),
            ),
            "strided": lambda x, w, s: F.conv2d(
                x, w, w[:, 0, 0, 0], stride=2, padding=(1, 0), dilation=2
            ),
            "grouped": lambda x, w, s: F.conv2d(x.repeat(1, 2, 1, 1), w, groups=2),
            "transposed": lambda x, w, s: (
                F.conv_transpose2d(x, w[:3]),
                F.conv_transpose2d(x, w[:3], stride=2, padding=1, output_padding=1),
                F.conv_transpose2d(
                    x.repeat(1, 2, 1, 1), w.repeat(2, 1, 1, 1)[:6], groups=2, stride=(2, 3)
                ),
            ),
            "one axis": lambda x, w, s: (
                F.conv1d(s, w[:, :, 0], padding=1),
                F.conv1d(s, w[:, :, 0], stride=2, dilation=2),
                F.conv_transpose1d(s, w[:3, :, 0], stride=2, output_padding=1),
            ),
        },
        (IMAGE, drawn(4, 3, 3, 3), SIGNAL),
    ),
    "pools": (
        {
            "maxima": lambda x: (
                F.max_pool2d(x, 2),
                F.max_pool2d(x, 3, 2, 1),
                F.max_pool2d(x[0], 2),
            ),
            "ceil": lambda x: (
                F.max_pool2d(x, 3, 2, ceil_mode=True),
                F.avg_pool2d(x, 3, 2, 1, True),
            ),
            "means": lambda x: (F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1)),
            "counted": lambda x: (
                F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
                F.avg_pool2d(x, 2, divisor_override=3),
            ),
            "adaptive": lambda x: [
                F.adaptive_avg_pool2d(x, s) for s in (1, (4, 3), (3, 4), (16, 5))
            ],
            "adaptive maxima": lambda x: F.adaptive_max_pool2d(x, (4, 3)),
            "one axis": lambda x: (
                F.max_pool1d(x[0], 2),
                F.avg_pool1d(x[0], 2),
                F.adaptive_avg_pool1d(x[0], 3),
            ),
            "norms": lambda x: F.lp_pool2d(x, 2, 2),
        },
        (IMAGE,),
    ),
    "sizes": (
        {
            "nearest": lambda x: [F.interpolate(x, scale_factor=s) for s in (2.0, 1.5, 0.5)],
            "to a size": lambda x: (F.interpolate(x, size=(11, 7)), F.interpolate(x, size=(16, 6))),
            "bilinear": lambda x: (
                F.interpolate(x, scale_factor=2, mode="bilinear"),
                F.interpolate(x, size=(5, 13), mode="bilinear"),
                F.interpolate(x, size=(5, 13), mode="bilinear", align_corners=True),
                F.interpolate(x, scale_factor=1.7, mode="bilinear"),
            ),
            "one axis": lambda x: (
                F.interpolate(x[0], scale_factor=3),
                F.interpolate(x[0], scale_factor=2, mode="linear"),
            ),
            "by decomposition": lambda x: (
                F.interpolate(x, scale_factor=2, mode="bicubic"),
                F.interpolate(x, scale_factor=2, mode="nearest-exact"),
                F.interpolate(x, scale_factor=0.5, mode="area"),
            ),
        },
        (IMAGE,),
    ),
    "normalisation": (
        {
            "layer": lambda x, w: (F.layer_norm(x, (6,)), F.layer_norm(x, (8, 6), w, w)),
            "group": lambda x, w: (F.group_norm(x, 3), F.group_norm(x, 1, w[0, :3], w[1, :3])),
            "instance": lambda x, w: F.instance_norm(x, weight=w[0, :3], bias=w[1, :3]),
            "batch": lambda x, w: F.batch_norm(x, w[0, :3], w[1, :3].abs(), w[2, :3], w[3, :3]),
            "batch alone": lambda x, w: F.batch_norm(x, None, None, training=True),
            "root mean square": lambda x, w: F.rms_norm(x, (6,)),
        },
        (IMAGE, drawn(8, 6)),
    ),
    "order": (
        {
            "medians": lambda x: (x.median(1), x.nanmedian(0), x.median(), x.kthvalue(2, 0)),
            "running": lambda x: (x.cummax(1), x.cummin(0), x.logcumsumexp(1), x.cumprod(1)),
            "places": lambda x: (
                torch.searchsorted(x.sort(1)[0], x, right=True),
                torch.bucketize(x, torch.tensor([-0.5, 0.5])),
            ),
            "counts": lambda x: (x.histc(5), torch.histogram(x, 4, range=(-1.0, 1.0))),
            "extremes of places": lambda x: (
                x.scatter_reduce(0, torch.tensor([[0, 1], [0, 2]]), x[:2, :2], "amax"),
                x.scatter_reduce(0, torch.tensor([[0, 0], [0, 0]]), x[:2, :2].log(), "amin"),
                x.scatter_reduce(1, torch.tensor([[1, 1, 0, 3]]), x, "mean"),
            ),
            "bits": lambda x: [f(x.long(), 5) for f in (torch.bitwise_and, torch.bitwise_xor)],
        },
        (MATRIX,),
    ),
    "attention": (
        {
            "plain": lambda q, m, b: F.scaled_dot_product_attention(q, q, q),
            "scaled": lambda q, m, b: F.scaled_dot_product_attention(q, q, q, scale=0.3),
            "causal": lambda q, m, b: F.scaled_dot_product_attention(q, q, q, is_causal=True),
            "fewer": lambda q, m, b: F.scaled_dot_product_attention(
                q[:, :, :3], q, q, is_causal=True
            ),
            "masked": lambda q, m, b: F.scaled_dot_product_attention(q, q, q, m),
            "masked by bools": lambda q, m, b: F.scaled_dot_product_attention(q, q, q, b),
            "shared": lambda q, m, b: F.scaled_dot_product_attention(
                q, q[:, :2], q[:, :2], enable_gqa=True
            ),
        },
        (QUERY, drawn(5, 5), torch.tril(torch.ones(5, 5), -1) > 0),  # one row with nothing in it
    ),
    "losses": (
        {
            "cross entropy": lambda x, t, s, u: [
                F.cross_entropy(x, t, reduction=r) for r in ("mean", "sum", "none")
            ],
            "ignoring": lambda x, t, s, u: F.cross_entropy(x, t, ignore_index=2),
            "of pixels": lambda x, t, s, u: (F.cross_entropy(s, u), F.nll_loss(s, u)),
            "of probabilities": lambda x, t, s, u: F.cross_entropy(x, x.softmax(1)),
            "by decomposition": lambda x, t, s, u: (
                F.cross_entropy(x, t, label_smoothing=0.1),
                F.cross_entropy(x, t, weight=x[0].abs()),
                F.nll_loss(x, t),
            ),
            "of two": lambda x, t, s, u: (
                F.mse_loss(x, -x),
                F.l1_loss(x, -x),
                F.smooth_l1_loss(x, -x),
            ),
            "robust": lambda x, t, s, u: (F.huber_loss(x, -x), F.hinge_embedding_loss(x, x.sign())),
            "binary": lambda x, t, s, u: (
                F.binary_cross_entropy(x.sigmoid(), x.softmax(1)),
                F.binary_cross_entropy_with_logits(x, x.sigmoid()),
            ),
            "divergence": lambda x, t, s, u: F.kl_div(
                x.log_softmax(1), x.softmax(1), reduction="sum"
            ),
        },
        (MATRIX, torch.tensor([0, 4, 2, 2]), IMAGE, torch.randint(0, 3, (2, 8, 6))),
    ),
}
