"""`tf.contrib.training.HParams`: named values of fixed types, and the text that changes them."""

from __future__ import annotations

import json
import re
from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol

_ASSIGNMENT = re.compile(
    r"\s*(?P<name>[a-zA-Z]\w*)\s*(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:\[(?P<list>[^\]]*)\]|(?P<value>[^,\[]*))\s*(?:,|$)"
)


@symbol("contrib.training.HParams")
class HParams:
    """Values by name, each an attribute.

    Args:
        hparam_def: not taken.
        model_structure: kept.
        values: the values; lists have elements of one type.
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **values: Any) -> None:
        if hparam_def is not None:
            raise NotImplementedError("HParams from a protocol message: give values by name")
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        for name, value in values.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Add a value under a new name.

        Raises:
            ValueError: the name is taken, or a list is empty.
        """
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value; it is converted to the type that it had.

        Raises:
            KeyError: there is no such name.
            ValueError: a list where a value is meant, or the other way; another type.
        """
        kind, is_list = self._hparam_types[name]
        if isinstance(value, list) != is_list:
            raise ValueError(f"{name} is {'' if is_list else 'not '}a list, and is given {value!r}")
        if is_list:
            setattr(self, name, [_converted(name, kind, v) for v in value])
        else:
            setattr(self, name, _converted(name, kind, value))

    def del_hparam(self, name: str) -> None:
        """Without this name."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Change values by text, as `"rate=0.1,sizes=[1,2],sizes[0]=5"`.

        Raises:
            ValueError: it is no such text, names what is not there, or has a value of another type.
        """
        position = 0
        while position < len(values):
            match = _ASSIGNMENT.match(values, position)
            if match is None:
                raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
            position = match.end()
            self._assign(match)
        return self

    def _assign(self, match: re.Match[str]) -> None:
        name, index, items = match["name"], match["index"], match["list"]
        if name not in self._hparam_types:
            raise ValueError(f"Unknown hyperparameter type for {name}")
        kind, is_list = self._hparam_types[name]
        if index is not None:
            changed = list(getattr(self, name))
            changed[int(index)] = _parsed(name, kind, match["value"])
            setattr(self, name, changed)
        elif items is not None:
            if not is_list:
                raise ValueError(f"{name} is not a list, and is given [{items}]")
            setattr(self, name, [_parsed(name, kind, v) for v in items.split(",") if v.strip()])
        elif is_list:
            setattr(self, name, [_parsed(name, kind, match["value"])])
        else:
            setattr(self, name, _parsed(name, kind, match["value"]))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        """Change values by name."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, values_json: str) -> HParams:
        """Change values by a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(
        self, indent: Optional[int] = None, separators: Any = None, sort_keys: bool = False
    ) -> str:
        """Write the values as a JSON object; functions are left out."""
        values = {k: v for k, v in self.values().items() if not callable(v)}
        return json.dumps(values, indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        """All values by name."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of this name, or the default."""
        return getattr(self, key) if key in self._hparam_types else default

    def get_model_structure(self) -> Any:
        """The structure that `set_model_structure` was given."""
        return self._model_structure

    def set_model_structure(self, model_structure: Any) -> None:
        """Keep the structure of a model."""
        self._model_structure = model_structure

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"


def _parsed(name: str, kind: type, text: str) -> Any:
    text = text.strip()
    if kind is bool:
        known = {"true": True, "1": True, "false": False, "0": False}.get(text.lower())
        if known is None:
            raise ValueError(f"Could not parse hparam {name}: {text!r} is no bool")
        return known
    if kind is type(None):
        return text
    try:
        return kind(text)
    except ValueError as error:
        raise ValueError(f"Could not parse hparam {name} of {kind.__name__}: {text!r}") from error


def _converted(name: str, kind: type, value: Any) -> Any:
    """The value as one of a type: whole numbers as floats, but nothing else as what it is not."""
    if isinstance(value, kind) and not (kind is not bool and isinstance(value, bool)):
        return value
    if kind is type(None) or value is None:
        return value
    fits = {float: isinstance(value, int) and not isinstance(value, bool), str: False, bool: False}
    if kind is int:
        fits[int] = isinstance(value, float) and value == int(value)
    if not fits.get(kind, True):
        raise ValueError(f"Could not cast hparam {name} of {kind.__name__} from {value!r}")
    return kind(value)
