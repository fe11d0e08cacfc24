"""Language models of one block, as published code writes them: masks, positions, caches, scans.

Not a test file; imported by those that have made sure of torch.  Each model takes words [batch,
length] and gives logits or states [batch, length, width].
"""

from __future__ import annotations

from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import torch
from torch import nn

F = nn.functional
Tensor = Any
WORDS, WIDTH, HEADS = 11, 8, 2
LOWEST = torch.finfo(torch.float32).min


def heads(x: Tensor, count: int) -> Tensor:
    """x: [batch, length, width] -> [batch, count, length, width / count]."""
    return x.view(*x.shape[:2], count, -1).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    """Undo `heads`."""
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)


class Attention(nn.Module):  # type: ignore[misc]
    """Attention whose subclass says how positions and masks come in."""

    def __init__(self, shared: int = 1, bias: bool = False) -> None:
        super().__init__()
        self.shared = shared  # heads of queries for each head of keys
        self.q = nn.Linear(WIDTH, WIDTH, bias=bias)
        self.k, self.v = (nn.Linear(WIDTH, WIDTH // shared, bias=bias) for _ in range(2))
        self.out = nn.Linear(WIDTH, WIDTH, bias=bias)

    def forward(self, x: Tensor, mask: Tensor, turn: Any = None, bias: Any = 0.0) -> Tensor:
        q = heads(self.q(x), HEADS)
        k, v = (heads(f(x), HEADS // self.shared) for f in (self.k, self.v))
        if turn is not None:
            q, k = turn(q), turn(k)
        if self.shared > 1:
            k, v = (repeated(y, self.shared) for y in (k, v))
        scores = q @ k.transpose(2, 3) * (WIDTH // HEADS) ** -0.5 + bias
        scores = torch.where(mask, scores, LOWEST)
        return self.out(joined(F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype) @ v))


def repeated(x: Tensor, times: int) -> Tensor:
    """Each head for `times` heads of queries."""
    batch, count, length, width = x.shape
    wide = x[:, :, None].expand(batch, count, times, length, width)
    return wide.reshape(batch, count * times, length, width)


def rotation(length: int, width: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines [length, width] of rotary positions (Su et al. 2021)."""
    inverse = 1.0 / 100 ** (torch.arange(0, width, 2, dtype=torch.int64).float() / width)
    places = torch.arange(length)[None, :, None].float()
    angles = (inverse[None, :, None].expand(1, -1, 1) @ places.transpose(1, 2)).transpose(1, 2)
    both = torch.cat((angles, angles), dim=-1)[0]
    return both.cos(), both.sin()


def turned(x: Tensor, width: int) -> Tensor:
    """The first `width` numbers of each head, turned by its place; the others as they are."""
    cos, sin = rotation(x.shape[2], width)
    part, rest = x[..., :width], x[..., width:]
    half = torch.cat((-part[..., width // 2 :], part[..., : width // 2]), dim=-1)
    return torch.cat((part * cos + half * sin, rest), dim=-1)


def causal(words: Tensor, window: int | None = None) -> Tensor:
    """[batch, 1, length, length]: nobody looks ahead, at padding (word 0), or behind a window.

    By index tensors into a mask of booleans, as published masking code has it.
    """
    length = words.shape[1]
    at, batch = torch.arange(length), torch.arange(words.shape[0])
    rows, columns = at[None, None, :, None], at[None, None, None, :]
    seen = columns <= rows
    if window is not None:
        seen = seen & (columns > rows - window)
    padding = words != 0
    mask = seen & padding[batch[:, None, None, None], columns]
    return mask.expand(-1, -1, length, length)


class RmsNorm(nn.Module):  # type: ignore[misc]
    def __init__(self, plus: float = 0.0) -> None:
        super().__init__()
        self.weight, self.plus = nn.Parameter(torch.randn(WIDTH)), plus

    def forward(self, x: Tensor) -> Tensor:
        x = x.to(torch.float32)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (self.weight + self.plus)


class Rotary(nn.Module):  # type: ignore[misc]
    """Llama, Mistral (a window), Qwen (biases), Gemma (scaled words) and Phi (in parallel)."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.words = nn.Embedding(WORDS, WIDTH)
        norm: dict[str, Any] = {"gemma": lambda: RmsNorm(1.0), "phi": lambda: nn.LayerNorm(WIDTH)}
        self.norms = nn.ModuleList([norm.get(kind, RmsNorm)() for _ in range(3)])
        self.attention = Attention(1 if kind == "phi" else 2, bias=kind in ("qwen", "phi"))
        self.gate, self.up = (nn.Linear(WIDTH, 16, bias=False) for _ in range(2))
        self.down = nn.Linear(16, WIDTH, bias=False)

    def forward(self, words: Tensor) -> Tensor:
        x = self.words(words) * (WIDTH**0.5 if self.kind == "gemma" else 1)
        mask = causal(words, 3 if self.kind == "mistral" else None)
        width = WIDTH // HEADS // (2 if self.kind == "phi" else 1)
        y = self.norms[0](x)
        y = self.attention(y, mask, lambda q: turned(q, width))
        if self.kind == "phi":
            return self.norms[2](x + y + self.down(F.gelu(self.up(self.norms[0](x)))))
        x = x + y
        y = self.norms[1](x)
        act = (
            F.gelu(self.gate(y), approximate="tanh")
            if self.kind == "gemma"
            else F.silu(self.gate(y))
        )
        return self.norms[2](x + self.down(act * self.up(y))) @ self.words.weight.T


class Absolute(nn.Module):  # type: ignore[misc]
    """GPT-2 (a cut of a table of masks), OPT (places by counting words), BERT (both ways)."""

    def __init__(self, kind: str, longest: int = 20) -> None:
        super().__init__()
        self.kind = kind
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(longest + 2, WIDTH)
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention(bias=True)
        self.up, self.down = nn.Linear(WIDTH, 16), nn.Linear(16, WIDTH)
        table = torch.tril(torch.ones(longest, longest, dtype=torch.bool))
        self.register_buffer("mask", table.view(1, 1, longest, longest), persistent=False)
        self.register_buffer("ids", torch.arange(longest).expand(1, -1), persistent=False)

    def forward(self, words: Tensor) -> Tensor:
        length = words.shape[1]
        seen = (words != 0).long()
        if self.kind == "opt":
            places, mask = torch.cumsum(seen, dim=1) * seen + 1, causal(words)
        elif self.kind == "bert":
            places, mask = self.ids[:, :length], seen[:, None, None, :].bool()
        else:
            places, mask = torch.arange(0, length).unsqueeze(0), self.mask[:, :, 0:length, :length]
        x = self.words(words) + self.places(places)
        x = x + self.attention(self.norm1(x), mask)
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Relative(nn.Module):  # type: ignore[misc]
    """T5 (buckets of distances) and BLOOM (slopes of distances)."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.words, self.table = nn.Embedding(WORDS, WIDTH), nn.Embedding(8, HEADS)
        self.norm, self.attention = RmsNorm(), Attention()

    def forward(self, words: Tensor) -> Tensor:
        mask = causal(words)
        bias = buckets(words.shape[1], self.table) if self.kind == "t5" else slopes(words)
        x = self.words(words)
        return x + self.attention(self.norm(x), mask, bias=bias)


def buckets(length: int, table: Any) -> Tensor:
    """[1, heads, length, length]: a learned number for each bucket of distances, 8 of them."""
    at = torch.arange(length, dtype=torch.long)
    far = -torch.min(at[None, :] - at[:, None], torch.zeros(length, length, dtype=torch.long))
    large = 4 + (torch.log(far.float() / 4) / 1.5 * 4).to(torch.long)
    large = torch.min(large, torch.full_like(large, 7))
    return table(torch.where(far < 4, far, large)).permute([2, 0, 1]).unsqueeze(0)


def slopes(words: Tensor) -> Tensor:
    """[batch, heads, 1, length]: a slope for each head, times the place among words (ALiBi)."""
    seen = (words != 0).long()
    places = ((seen.cumsum(dim=-1) - 1) * seen)[:, None, :]
    slope = torch.pow(torch.tensor(0.25), torch.arange(1, 1 + HEADS, dtype=torch.int32))
    alibi = slope[..., None] * places
    return alibi.reshape(words.shape[0] * HEADS, 1, words.shape[1]).view(
        -1, HEADS, 1, words.shape[1]
    )


class Mamba(nn.Module):  # type: ignore[misc]
    """A state for each channel, h = a h + b x (Gu and Dao 2023), as a product with decays."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.both = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, 2 * WIDTH)
        self.conv = nn.Conv1d(WIDTH, WIDTH, 4, padding=3, groups=WIDTH)
        self.step, self.out = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.decay = nn.Parameter(torch.rand(WIDTH))

    def forward(self, words: Tensor) -> Tensor:
        x, gate = self.both(self.words(words)).chunk(2, dim=-1)
        length = x.shape[1]
        x = F.silu(self.conv(x.transpose(1, 2))[..., :length])  # [batch, width, length]
        step = F.softplus(self.step(x.transpose(1, 2))).transpose(1, 2)
        log = torch.cumsum(-step * torch.exp(self.decay)[:, None], dim=-1)
        between = log[..., :, None] - log[..., None, :]
        after = torch.tril(torch.ones(length, length, dtype=torch.bool))
        weights = torch.exp(between.masked_fill(~after, float("-inf")))
        y = (weights @ (step * x)[..., None])[..., 0]
        return self.out(y.transpose(1, 2) * F.silu(gate))


class Rwkv(nn.Module):  # type: ignore[misc]
    """Words mixed with the one before, and a decaying mean of values (Peng et al. 2023)."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, WIDTH), nn.LayerNorm(WIDTH)
        self.shift = nn.ZeroPad2d((0, 0, 1, -1))
        self.mix, self.decay = nn.Parameter(torch.rand(3, WIDTH)), nn.Parameter(torch.rand(WIDTH))
        self.k, self.v, self.r = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))

    def forward(self, words: Tensor) -> Tensor:
        x = self.norm(self.words(words))
        before = self.shift(x)
        parts = (x * m + before * (1 - m) for m in self.mix)
        k, v, r = (f(p) for f, p in zip((self.k, self.v, self.r), parts, strict=True))
        at = torch.arange(x.shape[1])
        far = (at[:, None] - at[None, :]).clamp(min=0)[..., None]  # [length, length, 1]
        weights = torch.exp(k[:, None] - far * self.decay.exp())
        weights = weights * (at[:, None] >= at[None, :])[..., None]
        return torch.sigmoid(r) * (weights * v[:, None]).sum(2) / weights.sum(2)


def language_models() -> dict[str, Any]:
    """Name -> model, drawn anew and always alike."""
    torch.manual_seed(0)
    made: dict[str, Any] = {kind: Absolute(kind) for kind in ("gpt2", "opt", "bert")}
    made |= {kind: Rotary(kind) for kind in ("llama", "mistral", "qwen", "gemma", "phi")}
    made |= {kind: Relative(kind) for kind in ("t5", "bloom")}
    return {k: m.eval() for k, m in {**made, "mamba": Mamba(), "rwkv": Rwkv()}.items()}
