"""Models as people write them, small enough for a test: the shapes are narrow, the parts are all there.

Not a test file; imported by those that have made sure of torch.
"""

from __future__ import annotations

from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import torch
from torch import nn

F = nn.functional
Tensor = Any


def conv_norm(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> Any:
    around = kernel // 2
    conv = nn.Conv2d(inputs, outputs, kernel, stride, around, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs))


class Residual(nn.Module):  # type: ignore[misc]
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = conv_norm(inputs, outputs, 3, stride)
        self.second = conv_norm(outputs, outputs, 3)
        same = stride == 1 and inputs == outputs
        self.short = nn.Identity() if same else conv_norm(inputs, outputs, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(F.relu(self.first(x)))
        y += self.short(x)  # in place, as torchvision has it
        return F.relu(y)


class ResNet18(nn.Module):  # type: ignore[misc]
    """He et al. 2015: a stem, four stages of two blocks, a classifier."""

    def __init__(self, width: int = 4, classes: int = 5) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)
        )
        self.pool = nn.MaxPool2d(3, 2, 1)
        widths = [width, width, 2 * width, 4 * width, 8 * width]
        blocks: list[Any] = []
        for i in range(4):
            blocks.append(Residual(widths[i], widths[i + 1], 1 if i == 0 else 2))
            blocks.append(Residual(widths[i + 1], widths[i + 1], 1))
        self.blocks = nn.Sequential(*blocks)
        self.top = nn.Linear(widths[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        y = self.blocks(self.pool(self.stem(x)))
        return self.top(torch.flatten(F.adaptive_avg_pool2d(y, 1), 1))


class CausalAttention(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int, longest: int, fused: bool) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        mask = torch.tril(torch.ones(longest, longest)).view(1, 1, longest, longest)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        n, t, width = x.size()
        q, k, v = (
            part.view(n, t, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) / k.size(-1) ** 0.5
            scores = scores.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            y = F.softmax(scores, dim=-1) @ v
        return self.out(y.transpose(1, 2).contiguous().view(n, t, width))


class Block(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, heads: int, longest: int, fused: bool) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = CausalAttention(width, heads, longest, fused)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(nn.Module):  # type: ignore[misc]
    """GPT-2 (Radford et al. 2019): the table of words is also the last layer."""

    def __init__(self, words: int = 11, longest: int = 8, width: int = 12, fused: bool = True):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(longest, width)
        self.blocks = nn.ModuleList([Block(width, 3, longest, fused) for _ in range(2)])
        self.norm = nn.LayerNorm(width)
        self.top = nn.Linear(width, words, bias=False)
        self.top.weight = self.words.weight
        self.drop = nn.Dropout(0.1)

    def forward(self, words: Tensor) -> Tensor:
        x = self.drop(self.words(words) + self.places(torch.arange(words.shape[1])))
        for block in self.blocks:
            x = block(x)
        return self.top(self.norm(x))


class Recurrent(nn.Module):  # type: ignore[misc]
    """Two layers of `nn.LSTM`, read both ways."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)
        self.top = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        y, (h, _) = self.lstm(x)
        return self.top(y), h


class Cells(nn.Module):  # type: ignore[misc]
    """A cell of each kind, unrolled by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm, self.gru = nn.LSTMCell(3, 4), nn.GRUCell(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        h = c = g = x.new_zeros(x.shape[0], 4)
        for t in range(x.shape[1]):
            h, c = self.lstm(x[:, t], (h, c))
            g = self.gru(h, g)
        return g


class UNet(nn.Module):  # type: ignore[misc]
    """Ronneberger et al. 2015: down by pools, up three ways, with what was there beside it."""

    def __init__(self, up: str = "transposed") -> None:
        super().__init__()
        self.up = up
        self.down1, self.down2 = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.wide = nn.ConvTranspose2d(8, 8, 2, stride=2) if up == "transposed" else nn.Identity()
        self.norm = nn.GroupNorm(4, 12)
        self.up1, self.top = nn.Conv2d(12, 4, 3, padding=1), nn.Conv2d(4, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = F.leaky_relu(self.down1(x), 0.1)
        y = F.elu(self.down2(F.max_pool2d(first, 2)))
        y = self.wide(y)
        if self.up == "nearest":
            y = F.interpolate(y, scale_factor=2, mode="nearest")
        elif self.up == "bilinear":
            y = F.interpolate(y, size=first.shape[-2:], mode="bilinear", align_corners=False)
        y = self.norm(torch.cat([first, y], dim=1))
        return torch.sigmoid(self.top(F.silu(self.up1(y))))


class Inverted(nn.Module):  # type: ignore[misc]
    """MobileNet's block: wide, a filter for each channel, a gate over channels, narrow."""

    def __init__(self, width: int, wide: int, activation: Any) -> None:
        super().__init__()
        self.widen, self.each = conv_norm(width, wide, 1), conv_norm(wide, wide, 3, 1, wide)
        self.squeeze, self.excite = nn.Conv2d(wide, 4, 1), nn.Conv2d(4, wide, 1)
        self.narrow, self.activation = conv_norm(wide, width, 1), activation

    def forward(self, x: Tensor) -> Tensor:
        y = self.activation(self.each(self.activation(self.widen(x))))
        gate = F.relu(self.squeeze(y.mean((2, 3), keepdim=True)))
        # hardsigmoid, whose gradient torch multiplies by a sixth in f32
        return x + self.narrow(y * (F.relu6(self.excite(gate) + 3) / 6))


class MobileNet(nn.Module):  # type: ignore[misc]
    """Howard et al. 2019, in small."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv_norm(3, 8, 3, 2), nn.Hardswish())
        self.blocks = nn.Sequential(Inverted(8, 16, nn.Hardswish()), Inverted(8, 24, nn.ReLU6()))
        self.top = nn.Sequential(nn.AdaptiveAvgPool2d((2, 2)), nn.Flatten(), nn.Linear(32, 5))

    def forward(self, x: Tensor) -> Tensor:
        return F.log_softmax(self.top(self.blocks(self.stem(x))), dim=1)


class VisionTransformer(nn.Module):  # type: ignore[misc]
    """Dosovitskiy et al. 2020, with torch's own encoder layers."""

    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(torch.randn(1, 5, width) * 0.1)
        layer = nn.TransformerEncoderLayer(
            width, 3, 24, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.top = nn.Linear(width, 5)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), patches], dim=1) + self.places
        return self.top(self.encoder(x)[:, 0])


def models() -> dict[str, tuple[Any, Any]]:
    """Name -> model and what to call it with, drawn anew and always alike."""
    torch.manual_seed(0)
    image = torch.randn(2, 3, 32, 32)
    words = torch.randint(0, 11, (2, 6))
    small = torch.randn(2, 1, 8, 8)
    return {
        "ResNet-18": (ResNet18(), image),
        "GPT-2, fused": (Gpt(), words),
        "GPT-2, masks": (Gpt(fused=False), words),
        "LSTM": (Recurrent(), torch.randn(2, 5, 3)),
        "cells": (Cells(), torch.randn(2, 4, 3)),
        "U-Net": (UNet(), small),
        "U-Net, nearest": (UNet("nearest"), small),
        "U-Net, bilinear": (UNet("bilinear"), small),
        "MobileNet": (MobileNet(), image[:, :, :16, :16]),
        "vision transformer": (VisionTransformer(), image[:, :, :8, :8]),
    }
