"""600 tries with each reader of files (120 of graphs); those of graphs alone are tried by the kit.

`test` tries 180 files of Keras, which make whole models, and `test-long` all 600.

A million: `hatch run fuzz --reader npz --count 1000000 --seed 0`.
"""

from __future__ import annotations

import importlib.util

import pytest

from byparts_conformance.fuzz.campaign import ACCEPTED, REFUSED, run
from byparts_conformance.fuzz.graph_readers import READERS as OF_GRAPHS
from readers.table import READERS

_OF_GRAPHS = dict.fromkeys(("graph-import", "meta-graph", "saved-model"), 120)
_OF_MODELS = dict.fromkeys(("keras-file", "keras-json"), 180)


@pytest.mark.parametrize("name", sorted(READERS.keys() - OF_GRAPHS.keys()))
def test_every_changed_file_is_refused_or_sound(name: str) -> None:
    """No other error, and of both there are some: a fuzzer of refusals alone would see little."""
    if name in ("safetensors", "onnx") and importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")

    tries = (_OF_GRAPHS | _OF_MODELS).get(name, 600)
    campaign = run(READERS[name](), range(tries), seed=0)

    assert campaign.wrong == 0, f"{campaign.why}\n{campaign.failure!r}"
    assert campaign.outcomes[ACCEPTED] > 30 < campaign.outcomes[REFUSED], campaign.outcomes


@pytest.mark.long
@pytest.mark.parametrize("name", _OF_MODELS)
def test_every_changed_file_of_a_model_is_refused_or_sound(name: str) -> None:
    campaign = run(READERS[name](), range(_OF_MODELS[name], 600), seed=0)

    assert campaign.wrong == 0, f"{campaign.why}\n{campaign.failure!r}"
    assert campaign.outcomes[ACCEPTED] > 30 < campaign.outcomes[REFUSED], campaign.outcomes


@pytest.mark.parametrize("name", ["npz"])
def test_a_try_is_the_same_every_time(name: str) -> None:
    one, two = READERS[name](), READERS[name]()

    assert [one.data(3, i) for i in range(50)] == [two.data(3, i) for i in range(50)]
