"""A step of a workload by JAX: one compiled function of weights and state, which it gives back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu.words import of_jax
from gpu.workloads import Workload


def step_of(work: Workload, device: str, precision: str) -> Callable[[], Any]:
    """A function that gives the loss, or the output; products of f32 are of f32."""
    import jax
    import jax.numpy as jnp

    products = "tensorfloat32" if precision == "tf32" else "float32"
    jax.config.update("jax_default_matmul_precision", products)
    where = jax.devices("cpu" if device == "cpu" else "gpu")[0]
    dtype = jnp.bfloat16 if precision == "bf16" else jnp.float32

    def put(arrays: Any) -> Any:
        return {k: jax.device_put(jnp.asarray(a, dtype), where) for k, a in arrays.items()}

    inputs, words = put(work.inputs), of_jax()
    if not work.optimizer:
        run = jax.jit(lambda v: work.define(words, v))
        return lambda: run(inputs)

    def loss_of(weights: Any, given: Any) -> Any:
        return work.define(words, {**weights, **given})

    def step(weights: Any, means: Any, squares: Any, count: Any, given: Any) -> Any:
        loss, dws = jax.value_and_grad(loss_of)(weights, given)
        if work.optimizer == "sgd":
            new = {k: w - work.rate * dws[k] for k, w in weights.items()}
            return loss, new, means, squares, count
        count = count + 1
        means = {k: 0.9 * means[k] + 0.1 * dws[k] for k in weights}
        squares = {k: 0.999 * squares[k] + 0.001 * dws[k] ** 2 for k in weights}
        rate = work.rate * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        new = {
            k: (w - rate * means[k] / (jnp.sqrt(squares[k]) + 1e-8)).astype(w.dtype)
            for k, w in weights.items()
        }
        return loss, new, means, squares, count

    compiled = jax.jit(step, donate_argnums=(0, 1, 2))
    weights = put(work.weights)
    begin = ({k: jnp.zeros_like(w) for k, w in weights.items()} for _ in range(2))
    state = [weights, *begin, jnp.float32(0)]

    def run_step() -> Any:
        loss, *state[:] = compiled(*state, inputs)
        return loss

    return run_step
