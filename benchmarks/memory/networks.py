"""The networks of the memory tables as graphs of standard ops.

`training("resnet18")` is a whole step, forward and backward: from feeds and weights to the loss and
the gradient of each weight.  `inference` gives logits.  Weights are what `external` is for: they
live outside the arena.  Feeds and results lie in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import byparts_opset as ops
import memory.networks_images as images
import memory.networks_sequences as sequences
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Value
from memory.networks_layers import Inputs

NETWORKS: dict[str, Callable[..., Value]] = {
    "resnet18": images.resnet18,
    "resnet50": images.resnet50,
    "vgg16": images.vgg16,
    "mobilenetv2": images.mobilenetv2,
    "densenet121": images.densenet121,
    "inception_like": images.inception_like,
    "unet": images.unet,
    "bert_base": sequences.bert_base,
    "gpt2_small": sequences.gpt2_small,
    "lstm50": sequences.lstm50,
}

SMALL: dict[str, dict[str, int]] = {  # sizes that run in a moment
    "resnet18": {"image": 32, "width": 4, "classes": 5},
    "resnet50": {"image": 32, "width": 4, "classes": 5},
    "vgg16": {"image": 32, "width": 4, "hidden": 16, "classes": 5},
    "mobilenetv2": {"image": 32, "width": 8, "classes": 5},
    "densenet121": {"image": 32, "growth": 4, "classes": 5},
    "inception_like": {"image": 32, "width": 8, "classes": 5},
    "unet": {"image": 32, "width": 4},
    "bert_base": {"time": 8, "width": 16, "layers": 2, "words": 11},
    "gpt2_small": {"time": 8, "width": 16, "layers": 2, "words": 11},
    "lstm50": {"time": 6, "width": 8, "words": 11},
}

External = frozenset[int]


def training(name: str, batch: int = 8, **sizes: int) -> tuple[Graph, External]:
    """One step, in the order in which frameworks run it, and the positions of the weights.

    Each weight's gradient is computed as soon as it can be.  Inputs: feeds, labels, weights;
    outputs: the loss, and a gradient for each weight.
    """
    graph, external = forward(name, batch, True, **sizes)
    loss = graph.outputs[0]
    dws = gradients(loss, [graph.inputs[k] for k in sorted(external)])
    return Graph.of(graph.inputs, (loss, *dws), order=(loss, *reversed(dws))), external


def inference(name: str, batch: int = 1, **sizes: int) -> tuple[Graph, External]:
    """Logits, and the positions of the weights."""
    return forward(name, batch, False, **sizes)


def forward(name: str, batch: int, training: bool, **sizes: int) -> tuple[Graph, External]:
    """Without gradients: the loss in training, else logits."""
    net = Inputs(training)
    result = NETWORKS[name](net, batch, **sizes)  # [..., classes]
    if training:
        labels = net.feed("labels", *result.type.dims[:-1], dtype="i64")
        result = ops.mean(ops.sparse_softmax_cross_entropy(result, labels))
    feeds = len(net.feeds)
    graph = Graph.of((*net.feeds, *net.weights), (result,))
    return graph, frozenset(range(feeds, feeds + len(net.weights)))
