"""Estimators of trees, which are not here: each says what to do instead."""

from __future__ import annotations

from byparts_frontend_tf.api.compat.missing import TREES, refusing

_KINDS = ("Classifier", "Regressor", "Estimator")
BoostedTreesClassifier, BoostedTreesRegressor, BoostedTreesEstimator = (
    refusing(f"estimator.BoostedTrees{kind}", TREES) for kind in _KINDS
)
SYMBOLS = {f"estimator.BoostedTrees{kind}": f"BoostedTrees{kind}" for kind in _KINDS}
