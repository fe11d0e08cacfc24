"""Reverse and forward mode over graphs: gradients are ordinary graphs."""

from byparts_autodiff.check_gradient import check_gradient
from byparts_autodiff.errors import GradientError
from byparts_autodiff.gradients import gradients
from byparts_autodiff.jvp import hessian_vector_product, jvp

__all__ = ["GradientError", "check_gradient", "gradients", "hessian_vector_product", "jvp"]

__version__ = "0.2.0"
