"""The page of storages: what their files hold, which node takes which, and what filters may say."""

from __future__ import annotations

from typing import get_args

from bridge.codegen.markdown import code, page, prose, table
from bridge.errors import NAME_RULE
from bridge.filter import MAX_DEPTH, MAX_NODES, FieldType, operators
from bridge.knowledge import config_fields
from bridge.node import Kind, Registry

TYPES: dict[FieldType, tuple[str, str, str]] = {
    "int": ("a whole number", "`3`", "a number"),
    "float": ("a number; not NaN, not infinite", "`0.5`", "a number"),
    "string": ("a text", '`"mill"`', "a string"),
    "bool": ("yes or no", "`true`", "a boolean"),
    "set<string>": ("a set of texts", '`["mira", "bram"]`', "a set of strings"),
}
"""Type of a field: what it holds, as JSON, and as what filters compare it."""
STRINGS: tuple[tuple[str, str, str, str], ...] = (
    ("`.txt`", "List", "a text a line, UTF-8", "Blank lines and lines that begin with `#` are left out."),
    ("`.json`", "Map", 'an array of `{"id", "text"}`; every id once', "Other keys of an entry are comments."),
    ("`.mm.json`", "Multimap", 'an array of `{"id", "text"}`; an id may stand there often', "As in a Map."),
)
OPERANDS: tuple[tuple[str, str, str], ...] = (
    ('`{"knowledge": "chapter"}`', "a field of the record", "Without a value where the record leaves it out."),
    ('`{"agent": "chapter"}`', "a variable of the workflow", "As it was when the turn began."),
    ('`{"value": 3}`', "a value", "A text, a number or a boolean; an array of texts only as a haystack."),
)
CONFIG = {
    "version": "The version of this format.",
    "embedding_model": "A model of the catalog, of type embedding.",
    "records_file": "The records. The path starts at the config's own folder (for a config in a message: at the "
    "storage folder) and stays inside the storage folder.",
    "index_file": "Where the vectors are kept, from the same folder; null: `records_file` with `.index` for `.json`. "
    "It may be deleted at any time, and is made anew where the records have changed.",
    "fields": "The fields that records have in `metadata`: `name`, `type`, and if need be `default`, `optional`, "
    "`filterable`.",
}
"""What each field of a config file means."""


def storages_page(mark: str, registry: Registry) -> str:
    """Everything about storages that is looked up."""
    users = [
        (
            f"[{name}](nodes/{name}.md)",
            ", ".join(code(field) for field in cls.fields_of(Kind.STRING_STORAGE)),
            ", ".join(code(field) for field in cls.fields_of(Kind.EMBEDDED_STORAGE)),
            ", ".join(code(field) for field in cls.fields_of(Kind.FILTER)),
        )
        for name, cls in registry.items()
        if any(cls.fields_of(kind) for kind in (Kind.STRING_STORAGE, Kind.EMBEDDED_STORAGE))
    ]
    return page(
        mark,
        "# Storages",
        "Texts that nodes use: *string storages* are lists and maps, *embedded storages* are records that are found by "
        "meaning ([Knowledge](../howto/knowledge.md), [Intents](../howto/intents.md)). A node names a file below the "
        "session's storage folder, which [ConfigureSession](messages.md#configuresession) sets (for `parley chat` and "
        "`parley validate`: the folder of the workflow), or a storage that was made under a name by "
        "[CreateStringStorage](messages.md#createstringstorage) or "
        "[CreateEmbeddedStorage](messages.md#createembeddedstorage). The name comes first.",
        table(("node type", "string storage", "embedded storage", "filter"), users),
        "## Names",
        prose(
            f"A name: {NAME_RULE}. A name that is also a file of "
            "the storage folder is refused (7004): nodes can name the file as it is. Files are relative paths with "
            "`/` between folders; whatever leaves the storage folder, links included, is refused (3009). Who uses a "
            "storage keeps it when its name is released."
        ),
        "## Files of string storages",
        table(("file", "kind", "holds", "comments"), STRINGS),
        "A Map or Multimap made by a message has `keys` beside `strings`. IntentToInstruction needs a Map; the others "
        "take any kind and use its texts.",
        "## The config of an embedded storage",
        table(("field", "default", "meaning"), [(code(n), d, prose(CONFIG[n])) for n, d in config_fields()]),
        'Its records are an array of `{"id", "text", "metadata"}`: ids once each, `metadata` an object of the fields. '
        "A field without `default` that is not `optional` is needed in every record. A key beside these three is an "
        "error; a key in `metadata` that is no field is a warning of `parley validate` and `parley kb build`, and has "
        "no effect.",
        "## Types of fields",
        table(("type", "holds", "as JSON", "in filters"), [(code(n), *TYPES[n]) for n in get_args(FieldType)]),
        "`filterable` false keeps a field out of filters; it can still be the `metadata_field` of a ClassifyIntent.",
        "## Filters",
        f"A tree of operations, at most {MAX_DEPTH} deep and {MAX_NODES} in all; `{{}}` is none.",
        table(
            ("`op`", "keys", "is true where"),
            [(code(op), ", ".join(map(code, keys)), meaning) for op, keys, meaning in operators()],
        ),
        "Both sides of a comparison are of one kind: numbers (int and float alike), strings, booleans, sets. With a "
        "field that a record leaves out, a comparison is false.",
        table(("operand", "is", ""), OPERANDS),
    )
