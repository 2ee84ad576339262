"""Values for every field of every model of the wire: hypothesis strategies that follow the annotations."""

from __future__ import annotations

import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le, MaxLen
from hypothesis import strategies as st
from pydantic import BaseModel

TEXTS = (
    "2026-11-30T17:36:01Z", "2026-11-30T17:36:01.1234567+02:00", "2026-11-30", "/Date(1417388161000)/",
    "/Date(1417388161000+0200)/", "0001-01-01T00:00:00", "NaN", "-Infinity", "null", "true", "1e5", "0x10", "",
    "\u0000", "\u2028\u2029", "\ufeff", "\ufffd", "\uffff", "İıiI", "酒場 Ünï", "👩‍👩‍👧", "𐐷", 'a"b\\c/d\b\f\n\r\t',
    "$type", "</script>", "\u0085", "e\u0301",
)  # fmt: skip
NUMBERS = (0, -1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**40)
FLOATS = (0.0, -0.0, 0.1, 1.0, 1e15, 1e16, 1e22, 1e-7, 1.79769313486231e308, 2.2250738585073e-308)

texts = st.sampled_from(TEXTS) | st.text(max_size=30)
# Mono writes some numbers with 15 digits that need 17, and reads those below 2.2e-308 with fewer than they have.
floats = st.sampled_from(FLOATS) | st.floats(-1e300, 1e300, allow_subnormal=False).map(lambda x: float(f"{x:.15g}"))
integers = st.sampled_from(NUMBERS) | st.integers(-(2**63), 2**63 - 1)
scalars = st.none() | st.booleans() | integers | floats | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)


def anything_for(annotation: Any, metadata: Sequence[Any] = ()) -> st.SearchStrategy[Any]:
    """Whatever JSON a field of this annotation takes."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return anything_for(arguments[0], [*metadata, *arguments[1:]])
    if origin in (typing.Union, types.UnionType):
        return st.one_of([anything_for(argument, metadata) for argument in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(anything_for(arguments[0]) if arguments else values, max_size=3)
    if origin is dict:
        return st.dictionaries(texts, anything_for(arguments[1]), max_size=3)
    if annotation is Any:
        return values
    if annotation is types.NoneType:
        return st.none()
    if annotation is bool:
        return st.booleans()
    if annotation is float:
        return floats
    if annotation is int:
        least = next((int(str(item.ge)) for item in metadata if isinstance(item, Ge)), -(2**63))
        most = next((int(str(item.le)) for item in metadata if isinstance(item, Le)), 2**63 - 1)
        return st.integers(least, most) | st.sampled_from([least, most])
    if annotation is str:
        most = next((item.max_length for item in metadata if isinstance(item, MaxLen)), 10**6)
        return texts.map(lambda text: text[:most])
    assert issubclass(annotation, BaseModel), annotation
    return st.fixed_dictionaries(
        {
            (info.alias or name): anything_for(info.annotation, info.metadata)
            for name, info in annotation.model_fields.items()
        }
    )
