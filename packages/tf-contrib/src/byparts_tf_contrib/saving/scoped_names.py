"""Names of operations as meta graphs keep them: in a scope that is taken off and put on again."""

from __future__ import annotations

import re
from typing import Any

from byparts_frontend_tf.symbols import symbol

_PREFIXES = r"[\^]|loc:@"


@symbol("python.framework.ops.strip_name_scope")
def strip_name_scope(name: Any, export_scope: str | None) -> Any:
    """A name without the scope that it is in; what is no name as it is."""
    if not export_scope:
        return name
    scope = export_scope.rstrip("/") + "/"
    return re.sub(rf"^({_PREFIXES}|){re.escape(scope)}", r"\1", str(name))


@symbol("python.framework.ops.prepend_name_scope")
def prepend_name_scope(name: Any, import_scope: str | None) -> Any:
    """A name in a scope; what is no name as it is."""
    if not import_scope:
        return name
    return re.sub(rf"^({_PREFIXES}|)", rf"\1{import_scope.rstrip('/')}/", str(name))


@symbol("python.framework.ops.register_proto_function")
def register_proto_function(
    collection_name: str, proto_type: Any = None, to_proto: Any = None, from_proto: Any = None
) -> None:
    """Accepted: a meta graph keeps what is in collections of names, numbers and variables."""
