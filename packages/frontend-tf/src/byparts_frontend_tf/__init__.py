"""TensorFlow 1.15's API: `import byparts_frontend_tf as tf`.

A name is found when it is first used (`symbols.py`).  What programs see as `tf.__version__` is that
of the TensorFlow whose programs run here; the first below is that of this part.
"""

from typing import Any

__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    import sys

    from byparts_frontend_tf.symbols import resolve

    return resolve(sys.modules[__name__], "", name)


def __dir__() -> list[str]:
    from byparts_frontend_tf.symbols import names_in

    return names_in("")


def _install() -> None:
    from byparts_frontend_tf.assembly import UpperFunctions
    from byparts_frontend_tf.graph import upper
    from byparts_frontend_tf.symbols import install_namespaces

    upper.fill(UpperFunctions())
    install_namespaces()


_install()
__version__ = "1.15.0"
