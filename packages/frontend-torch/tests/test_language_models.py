"""Language models of any number of words: the length, and the batch, are names in their types."""

from __future__ import annotations

import exporting  # noqa: F401  # skips what comes here without torch
import numpy as np
import pytest
import torch
from exporting import exported
from language_models import WORDS, language_models

from byparts_frontend_torch import from_exported
from byparts_graph_ir import TensorType, specialize
from byparts_opset.evaluate import evaluate

AUTO = torch.export.Dim.AUTO
NAMED = torch.export.Dim("length", min=2, max=16)


LONG = ("opt", "mistral", "qwen", "gemma", "phi", "bloom", "rwkv")  # much like others


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in language_models()],
)
def test_a_language_model_takes_any_length(name: str) -> None:
    """Exported for 5 words, run with 2, 7 and 16, some of them padding; by both kinds of names."""
    model = language_models()[name]
    auto = sum(map(ord, name)) % 2 == 0
    sizes = {0: AUTO, 1: AUTO} if auto else {1: NAMED}
    words = torch.randint(1, WORDS, (2, 5))
    made = from_exported(exported(model, words, dynamic_shapes=(sizes,)))

    assert not any(isinstance(d, int) for d in (made.graph.outputs[0].type.shape or ())[1:2])
    for length, batch in ((2, 2), (7, 3 if auto else 2), (16, 2)):
        words = torch.randint(1, WORDS, (batch, length))
        words[0, 1 + length // 2 :] = 0
        kinds = [TensorType("i64", (batch, length)), *[None] * len(made.weights)]
        (got,) = evaluate(specialize(made.graph, kinds), words.numpy(), *made.weights.values())

        np.testing.assert_allclose(got, model(words).detach().numpy(), rtol=1e-5, atol=1e-5)
