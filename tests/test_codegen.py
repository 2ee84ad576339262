"""Generated files: fresh, complete, the same everywhere, and `parley codegen` itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args

import pytest
import typer
from pydantic import BaseModel
from typer.testing import CliRunner

import bridge
from bridge import protocol
from bridge.catalog import CatalogEntry
from bridge.cli import app
from bridge.codegen import TARGETS, CannotEmit, cpp_text, difference, emit, unreal_text, write
from bridge.codegen.cpp_nodes import json_expression
from bridge.codegen.csharp_nodes import ATTRIBUTES
from bridge.codegen.csharp_text import literal, number, summary
from bridge.codegen.csharp_types import members_of
from bridge.codegen.docs import answers, missing_meanings
from bridge.codegen.docs_cli import commands
from bridge.codegen.docs_workflow import HISTORY_ROLE, KINDS, PLACEMENT, SEND, TAGS, VARIABLES
from bridge.codegen.fields import default_of, rows_of
from bridge.codegen.markdown import page, prose, table
from bridge.codegen.shapes import Form, Names, Shape, fields_of, records, shape_of
from bridge.codegen.source_text import pascal
from bridge.codegen.unreal_types import properties_of, type_of
from bridge.config import Settings
from bridge.errors import BY_CODE
from bridge.node import (
    Kind,
    Node,
    Placement,
    SpeakingNode,
    TurnView,
    build_registry,
    exit_param,
    packaged_nodes,
    param,
)
from bridge.session import Session
from bridge.template import TAGS as TAGS_TEXT
from bridge.template import compile_template
from bridge.variables import VARIABLE_TYPES

ROOT = Path(bridge.__file__).resolve().parent.parent
DOCS = TARGETS["docs"]
UNITY = TARGETS["unity"]
REGISTRY = build_registry(list(packaged_nodes()), [])
PAGES = emit(DOCS, REGISTRY)
CSHARP = emit(UNITY, REGISTRY)
UNREAL = TARGETS["unreal"]
CPP = emit(UNREAL, REGISTRY)


def parley(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["codegen", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


class Shout(Node):
    """Says it | louder, as <b> would."""

    tag_family = "instruction_"

    volume: float = param(0.5, "How loud: `a|b`, 1 * 2, [x].", ge=0, lt=1)
    mood: str = param("a|b", "", max_length=5, kind=Kind.TEXT)
    words: list[str] = param([], "Which words.", min_length=1, structural=True)
    done_exit: str = exit_param("it is said")

    async def run(self, turn: TurnView) -> str:
        return "done"


# ---- the pages -----------------------------------------------------------------------------------------------


def test_the_reference_is_fresh() -> None:
    assert difference(DOCS, PAGES, ROOT / DOCS.folder) == "", "run: parley codegen docs"


def test_every_page_says_which_command_made_it() -> None:
    assert [name for name, text in PAGES.items() if DOCS.mark not in text.partition("\n")[0]] == []


def test_everything_has_a_meaning() -> None:
    assert missing_meanings(REGISTRY) == []


def test_what_has_no_meaning_is_named() -> None:
    assert missing_meanings({"Shout": Shout})[0] == "Shout.mood"


def test_nothing_is_left_out() -> None:
    for name, cls in REGISTRY.items():
        text = PAGES[f"nodes/{name}.md"]
        assert f"(nodes/{name}.md)" in PAGES["nodes.md"]
        assert [field for field in cls.model_fields if f"| `{field}` |" not in text] == []
    assert [name for name in protocol.MESSAGES if f"### {name}\n" not in PAGES["messages.md"]] == []
    assert [code for code, cls in BY_CODE.items() if f"| {code} | `{cls.__name__}` |" not in PAGES["errors.md"]] == []
    assert [key for key in Settings.model_fields if f"| `{key}` |" not in PAGES["settings.md"]] == []
    assert [name for name in CatalogEntry.model_fields if f"| `{name}` |" not in PAGES["catalog.md"]] == []
    assert [c.usage for c in commands() if f"\n{c.usage}\n" not in PAGES["cli.md"]] == []


def test_a_node_page() -> None:
    lines = emit(DOCS, {"Shout": Shout})["nodes/Shout.md"].splitlines()
    assert lines[2:5] == ["# Shout", "", "Says it \\| louder, as &lt;b> would."]
    assert "| `volume` | number | `0.5` | ≥ 0, < 1 | plain | no | How loud: `a\\|b`, 1 \\* 2, \\[x]. |" in lines
    assert '| `mood` | string | `"a\\|b"` | at most 5 characters | text | no |  |' in lines
    assert "| `words` | list of string | `[]` | at least 1 entries | plain | yes | Which words. |" in lines
    assert "| `done` | `done_exit` | Next node when it is said; empty: the turn ends. |" in lines
    assert "- No slot." in lines
    assert "- The tag `{{instruction_<name>}}`: what it adds to the turn; the name is its own name." in lines


def test_tags_and_events_are_those_that_the_types_declare() -> None:
    assert "- The tag `{{summary}}`: " in PAGES["nodes/Summarize.md"]
    assert "- The [NodeEvent](../messages.md#nodeevent) `tool_call`: " in PAGES["nodes/ToolCall.md"]
    lines = PAGES["templates.md"].splitlines()
    fillers = {line.split("`")[1]: line.rsplit(" | ", 1)[1] for line in lines if line.startswith("| `{{")}
    assert "ClassifyIntentLLM" in fillers["{{intent}}"]
    assert "ClassifyAttributesLLM" in fillers["{{attribute.<name>}}"]
    assert [tag for tag, types in fillers.items() if tag.startswith("{{#knowledge") and "Retrieve" not in types] == []


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_event_is_declared(name: str) -> None:
    cls = REGISTRY[name]
    source = inspect.getsource(cls)
    pushed = set(re.findall(r'notify\(\s*"(\w+)"', source))
    assert pushed <= set(cls.events)
    assert "set_intent(" not in source or "{{intent}}" in cls.offers
    assert "set_attribute(" not in source or "{{attribute.<name>}}" in cls.offers


def test_a_message_says_what_answers_it() -> None:
    assert "| [CreateAgent](#createagent) | [AgentCreated](#agentcreated) |" in PAGES["messages.md"]
    assert "| `workflow` | object | required |" in PAGES["messages.md"]
    unnamed = set(protocol.REPLIES) - set(answers().values()) - {"Error"}
    assert unnamed == set(), "say in the docstring: Answers <request>."


def test_replies_are_those_that_the_session_gives() -> None:
    checked = 0
    for request, reply in answers().items():
        handler = getattr(Session, "on" + re.sub(r"([A-Z])", lambda letter: "_" + letter[1].lower(), request), None)
        source = inspect.getsource(handler) if handler is not None else ""
        given = set(re.findall(r"\b([A-Z]\w+)\(", source)) & set(protocol.REPLIES)
        if given:
            checked += 1
            assert given == {reply}, request
    assert checked >= 15


def test_values_are_all_explained() -> None:
    assert set(SEND) == set(get_args(protocol.Send))
    assert set(HISTORY_ROLE) == set(get_args(protocol.HistoryRole))
    assert set(PLACEMENT) == set(get_args(Placement))
    assert set(VARIABLES) == set(VARIABLE_TYPES)


def test_every_tag_is_explained_and_compiles() -> None:
    written = [tag.replace("<name>", "x").replace("<source>", "x") for tag, _ in TAGS]
    for tag in written:
        assert compile_template(tag).uses
    assert [tag for tag in TAGS_TEXT.split(", ") if not any(known.startswith(tag) for known, _ in TAGS)] == []


# ---- C# ------------------------------------------------------------------------------------------------------


def test_the_unity_package_is_fresh() -> None:
    assert difference(UNITY, CSHARP, ROOT / UNITY.folder) == "", "run: parley codegen unity"


def test_every_csharp_file_says_which_command_made_it() -> None:
    assert sorted(CSHARP) == [
        "ErrorCodes.g.cs", "Messages.g.cs", "NodeTypes.g.cs", "Nodes.g.cs", "Protocol.g.cs",
    ]  # fmt: skip
    for text in CSHARP.values():
        first = text.partition("\n")[0]
        assert first == "// <auto-generated> Generated by `parley codegen unity`; do not edit."


def classes(text: str) -> dict[str, str]:
    """Every sealed class of a generated file, by its name and base."""
    _, *parts = text.split("    public sealed class ")
    return {part.partition("\n")[0]: part.partition("\n    }\n")[0] for part in parts}


def test_nothing_is_left_out_of_csharp() -> None:
    messages, nodes = classes(CSHARP["Messages.g.cs"]), classes(CSHARP["Nodes.g.cs"])
    families: dict[str, Mapping[str, type[BaseModel]]] = {
        "Request": protocol.REQUESTS, "Reply": protocol.REPLIES, "Push": protocol.PUSHES,
        "Record": {record.__name__: record for record in records()},
    }  # fmt: skip
    assert len(messages) == sum(map(len, families.values()))
    for base, models in families.items():
        for name, model in models.items():
            fields = [info.alias or field for field, info in model.model_fields.items()]
            text = messages[f"{name} : {base}"]
            missing = [field for field in fields if f'(json, "{field}"' not in text and f'Value("{field}"' not in text]
            assert (name, missing) == (name, [])
            assert (name, [field for field in fields if f'json.Add("{field}", ' not in text]) == (name, [])
    for name, cls in REGISTRY.items():
        text = nodes[f"{name} : Node"]
        assert (name, [field for field in cls.model_fields if field != "name" and text.count(f'"{field}"') < 2]) == (
            name, [],
        )  # fmt: skip
        assert f'Name = "{name}",' in CSHARP["NodeTypes.g.cs"]
    assert [code for code in BY_CODE if f" = {code}," not in CSHARP["ErrorCodes.g.cs"]] == []


def test_every_kind_of_parameter_has_its_picker_and_its_meaning() -> None:
    assert set(ATTRIBUTES) == set(Kind) - {Kind.PLAIN}
    assert {kind.value for kind in Kind} - set(KINDS) == set()
    declared = (ROOT / "unity_package/Runtime/Core/Attributes.cs").read_text(encoding="utf-8")
    used = {attribute.partition("(")[0] for attribute in ATTRIBUTES.values()}
    assert [name for name in sorted(used) if f"public sealed class {name}Attribute : " not in declared] == []


def test_a_default_is_written_one_way() -> None:
    class Part(BaseModel):
        colour: str
        dim: float | None = None
        count: int = 3

    class Whole(BaseModel):
        part: Part = Part(colour="red")
        parts: list[Part] = []

    assert default_of(Whole.model_fields["part"]) == {"colour": "red"}
    assert default_of(Whole.model_fields["parts"]) == []


def test_csharp_is_plain_text() -> None:
    for text in CSHARP.values():
        assert "\r" not in text and "\t" not in text
        assert [line for line in text.splitlines() if line != line.rstrip()] == []


def test_codegen_writes_and_checks_csharp(tmp_path: Path) -> None:
    out = str(tmp_path / "Generated")
    code, diff, err = parley("unity", "--out", out, "--check")
    assert code == 1
    assert "+++ " in diff
    assert "is stale; run: parley codegen unity --out" in err
    assert parley("unity", "--out", out)[0] == 0
    assert parley("unity", "--out", out, "--check") == (0, "", "")
    leftover = tmp_path / "Generated" / "Old.g.cs"
    leftover.write_text(f"// <auto-generated> {UNITY.mark}\n", encoding="utf-8")
    meta = tmp_path / "Generated" / "Old.g.cs.meta"
    meta.write_text("guid: 1\n", encoding="utf-8")
    code, diff, _ = parley("unity", "--out", out, "--check")
    assert code == 1
    assert [line for line in diff.splitlines() if line.startswith("-//")] == [f"-// <auto-generated> {UNITY.mark}"]
    assert parley("unity", "--out", out) == (0, f"{leftover}\n", "")
    assert meta.exists(), "what was not made by this is not removed by it"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ('say "no" \\ never', '"say \\"no\\" \\\\ never"'),
        ("a\nb\rc\td", '"a\\nb\\rc\\td"'),
        ("≥\x00\x7f", '"\\u2265\\u0000\\u007f"'),
        ("🙂", '"\\ud83d\\ude42"'),
    ],
)
def test_a_csharp_literal_is_ascii(text: str, shown: str) -> None:
    assert literal(text) == shown


def test_names_in_csharp() -> None:
    assert [pascal(name) for name in ("turn_id", "is_delta", "llama3", "q4_0", "4bit", "a-b c", "TurnComplete")] == [
        "TurnId", "IsDelta", "Llama3", "Q40", "N4bit", "ABC", "TurnComplete",
    ]  # fmt: skip


def test_numbers_in_csharp() -> None:
    assert [number(value) for value in (0, -1.0, 2**20, 2**32, 0.25, 1e300)] == [
        "0", "-1", "1048576", "4294967296L", "0.25d", "1e+300d",
    ]  # fmt: skip
    with pytest.raises(CannotEmit, match="no literal for inf"):
        number(float("inf"))


def test_comments_in_csharp_are_xml() -> None:
    assert summary("Less `a < b` & more.") == ["/// <summary>Less a &lt; b &amp; more.</summary>"]
    assert summary("") == []
    assert max(map(len, summary("word " * 100))) <= 118


def test_what_csharp_has_no_type_for_is_named() -> None:
    class Odd(BaseModel):
        when: complex

    class Twice(BaseModel):
        turn_id: int
        turnId: int

    class Perhaps(BaseModel):
        depth: int | None = 3

    with pytest.raises(CannotEmit, match=r"Odd\.when: no C# type for <class 'complex'>"):
        shape_of(Odd.model_fields["when"].annotation, [], Names("Words"), "Odd", "when")
    with pytest.raises(CannotEmit, match="Twice: two fields would be called TurnId"):
        members_of(Twice, Names("Words"))
    with pytest.raises(CannotEmit, match=r"Perhaps\.depth: what may be null must be null by default"):
        members_of(Perhaps, Names("Words"))


def test_a_type_of_others_that_csharp_has_no_form_for_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Oracle(Node):
        """Knows."""

        answer: tuple[int, ...] = param((), "What.")
        default_exit: str = exit_param("it has spoken")

        async def run(self, turn: TurnView) -> str:
            return "default"

    installed = build_registry([*packaged_nodes(), Oracle], [])
    monkeypatch.setattr("bridge.node.default_registry", lambda: installed)
    code, out, err = parley("unity", "--out", str(tmp_path / "mine"))
    assert (code, out) == (1, "")
    assert err == "parley: cannot generate unity: Oracle.answer: no C# type for tuple[int, ...]\n"


# ---- C++ -----------------------------------------------------------------------------------------------------


def test_the_unreal_plugin_is_fresh() -> None:
    assert difference(UNREAL, CPP, ROOT / UNREAL.folder) == "", "run: parley codegen unreal"


def test_every_cpp_file_says_which_command_made_it() -> None:
    assert sorted(CPP) == [
        "Core/Generated/ErrorCodes.cpp", "Core/Generated/ErrorCodes.h", "Core/Generated/MessageId.h",
        "Core/Generated/Messages.cpp", "Core/Generated/Messages.h", "Core/Generated/NodeTypes.cpp",
        "Core/Generated/NodeTypes.h", "Core/Generated/Protocol.h", "Private/Generated/ParleyErrorCode.cpp",
        "Private/Generated/ParleyMessages.cpp", "Private/Generated/ParleyNodes.cpp",
        "Public/Generated/ParleyErrorCode.h", "Public/Generated/ParleyMessages.h", "Public/Generated/ParleyNodes.h",
    ]  # fmt: skip
    for name, text in CPP.items():
        assert text.partition("\n")[0] == "// Generated by `parley codegen unreal`; do not edit."
        assert text.isascii(), f"{name}: not every compiler reads sources as UTF-8"
        assert "\r" not in text and "\t" not in text
        assert [line for line in text.splitlines() if line != line.rstrip()] == []


def bodies(text: str, head: str) -> dict[str, str]:
    """What stands in braces behind each match of `head`, by the match's first group."""
    return {match[1]: text[match.end() :].partition("\n}")[0] for match in re.finditer(head, text)}


def test_nothing_is_left_out_of_cpp() -> None:
    families: dict[str, Mapping[str, type[BaseModel]]] = {
        " final : Request": protocol.REQUESTS, " final : Reply": protocol.REPLIES, " final : Push": protocol.PUSHES,
        "": {record.__name__: record for record in records()},
    }  # fmt: skip
    header, source = CPP["Core/Generated/Messages.h"], CPP["Core/Generated/Messages.cpp"]
    reads, writes = bodies(source, r"\nbool (\w+)::Read\("), bodies(source, r"\nJson (\w+)::ToJson\(")
    engine = bodies(CPP["Public/Generated/ParleyMessages.h"], r"\nstruct PARLEY_API FParley(\w+)\n")
    assert len(reads) == len(writes) == len(engine) - 1 == sum(map(len, families.values()))
    for base, models in families.items():
        for name, model in models.items():
            assert f"\nstruct PARLEY_CORE_API {name}{base}\n" in header
            fields = [info.alias or field for field, info in model.model_fields.items()]
            assert (name, [field for field in fields if f'"{field}"' not in reads[name]]) == (name, [])
            assert (name, [field for field in fields if f'"{field}"' not in writes[name]]) == (name, [])
            shown = engine[name]
            assert (name, [field for field in fields if not re.search(rf"\bb?{pascal(field)}\b", shown)]) == (name, [])
    source = CPP["Private/Generated/ParleyNodes.cpp"]
    reads, writes = bodies(source, r"U(\w+)::ReadFields\("), bodies(source, r"U(\w+)::WriteFields\(")
    for name, cls in REGISTRY.items():
        fields = [field for field in cls.model_fields if field != "name"]
        for body in (reads[f"Parley{name}Node"], writes[f"Parley{name}Node"]):
            assert (name, [field for field in fields if f'"{field}"' not in body]) == (name, [])
        assert f'Type.Name = "{name}";' in CPP["Core/Generated/NodeTypes.cpp"]
    assert [code for code in BY_CODE if f" = {code}," not in CPP["Core/Generated/ErrorCodes.h"]] == []


ITEM = r"(FString|int64|double|FParley\w+|EParley\w+)"
ALLOWED = rf"(bool|int32|int64|double|FString|EParley\w+|FParley\w+|TArray<{ITEM}>)"


def test_the_header_tool_has_a_property_for_every_type() -> None:
    found = 0
    for name in ("Public/Generated/ParleyMessages.h", "Public/Generated/ParleyNodes.h"):
        for declared in re.findall(r"UPROPERTY\(.*\)\n *(.*?) b?[A-Z]\w*(?: = [^;]*)?;", CPP[name]):
            assert re.fullmatch(ALLOWED, declared), declared
            found += 1
        assert CPP[name].count("UPROPERTY(") == found
        assert f'#include "{Path(name).stem}.generated.h"\n\n' in CPP[name]
        found = 0


def test_the_header_tool_wants_every_bool_to_begin_with_b() -> None:
    for name in ("Public/Generated/ParleyMessages.h", "Public/Generated/ParleyNodes.h"):
        bools = re.findall(r"\n    bool (\w+)", CPP[name])
        assert bools
        assert [each for each in bools if not re.match(r"b[A-Z]", each)] == []


@pytest.mark.thorough
def test_codegen_writes_and_checks_cpp(tmp_path: Path) -> None:
    out = str(tmp_path / "Parley")
    code, diff, err = parley("unreal", "--out", out, "--check")
    assert (code, "+++ " in diff) == (1, True)
    assert "is stale; run: parley codegen unreal --out" in err
    assert parley("unreal", "--out", out)[0] == 0
    assert parley("unreal", "--out", out, "--check") == (0, "", "")
    changed = tmp_path / "Parley/Core/Generated/Messages.h"
    changed.write_text(changed.read_text(encoding="utf-8").replace("std::string Token", "int Token"), encoding="utf-8")
    leftover = tmp_path / "Parley/Public/Generated/Old.h"
    leftover.write_text(f"// {UNREAL.mark}\n", encoding="utf-8")
    own = tmp_path / "Parley/Core/Json.h"
    own.write_text("// A JSON value.\n", encoding="utf-8")
    code, diff, _ = parley("unreal", "--out", out, "--check")
    assert (code, "-    int Token" in diff, f"-// {UNREAL.mark}" in diff) == (1, True, True)
    assert parley("unreal", "--out", out) == (0, f"{changed}\n{leftover}\n", "")
    assert own.exists(), "what was not made by this is not removed by it"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('say "no" \\ never', '"say \\"no\\" \\\\ never"'),
        ("a\nb\rc\td", '"a\\nb\\rc\\td"'),
        ("≥7\x00\x7f", '"\\342\\211\\2457\\000\\177"'),
        ("🙂", '"\\360\\237\\231\\202"'),
    ],
)
def test_a_cpp_literal_is_ascii(text: str, shown: str) -> None:
    assert cpp_text.literal(text) == shown


def test_half_a_character_has_no_cpp_literal() -> None:
    with pytest.raises(CannotEmit, match="no UTF-8 for"):
        cpp_text.literal("a\ud800")


def test_numbers_in_cpp() -> None:
    assert [cpp_text.number(value) for value in (0, -1.0, 0.25, 1e300)] == ["0.0", "-1.0", "0.25", "1e+300"]
    assert [cpp_text.whole(value) for value in (0, -1, 2**31, 2**63 - 2, 2**64 - 1)] == [
        "0", "-1", "2147483648LL", "9223372036854775806LL", "18446744073709551615ULL",
    ]  # fmt: skip
    assert cpp_text.whole(-(2**63)) == "(std::numeric_limits<std::int64_t>::min)()"
    with pytest.raises(CannotEmit, match="no literal for inf"):
        cpp_text.number(float("inf"))


def test_comments_in_cpp() -> None:
    assert cpp_text.comment("Less `a < b` ≥ c.") == ["/// Less a < b >= c."]
    assert cpp_text.comment("ends with a backslash \\") == ["/// ends with a backslash"]
    assert cpp_text.comment("") == []
    assert max(map(len, cpp_text.comment("word " * 100))) <= 118
    assert unreal_text.tooltip("Ends */ here.") == ["/** Ends * / here. */"]
    assert unreal_text.tooltip("A.\nB.") == ["/**", " * A.", " * B.", " */"]
    assert unreal_text.meta_text('say "no" \\\nnever…') == '"say \\"no\\" \\\\\\nnever..."'


def test_a_default_in_cpp() -> None:
    items = "Json::Array({Json::Integer(1), Json::Real(0.5), Json::Boolean(true), Json()})"
    assert json_expression({"a": [1, 0.5, True, None], "b": {}}) == (
        f'With(With(Json::Object(), "a", {items}), "b", Json::Object())'
    )
    assert json_expression({"a": "x"}, "Parley::") == (
        'Parley::With(Parley::Json::Object(), "a", Parley::Json::String("x"))'
    )


def test_what_unreal_has_no_property_for_is_named() -> None:
    class Flags(BaseModel):
        has_depth: bool = False
        depth: int | None = None

    class Inner(BaseModel):
        depth: int = 1

    class Begun(BaseModel):
        inner: list[Inner] = [Inner()]

    names = Names("", language="C++")
    with pytest.raises(CannotEmit, match="Flags: two fields would be called bHasDepth"):
        properties_of("Flags", fields_of(Flags, names), names)
    with pytest.raises(CannotEmit, match=r"no C\+\+ expression for the default \[\{'depth': 1\}\]"):
        properties_of("Begun", fields_of(Begun, names), names)
    with pytest.raises(CannotEmit, match="Unreal has no property for a list of lists"):
        type_of(Shape(Form.LIST, item=Shape(Form.LIST, item=Shape(Form.TEXT))))


def test_a_type_of_others_that_cpp_has_no_form_for_is_named() -> None:
    class Oracle(Node):
        """Knows."""

        answer: tuple[int, ...] = param((), "What.")
        default_exit: str = exit_param("it has spoken")

        async def run(self, turn: TurnView) -> str:
            return "default"

    class Mask(Node):
        """Hides."""

        node_name: str = param("", "Whose.")
        default_exit: str = exit_param("it is on")

        async def run(self, turn: TurnView) -> str:
            return "default"

    with pytest.raises(CannotEmit, match=r"Oracle\.answer: no C\+\+ type for tuple"):
        emit(UNREAL, {**REGISTRY, "Oracle": Oracle})
    with pytest.raises(CannotEmit, match=r"Mask\.node_name: NodeName is taken in Unreal; rename it"):
        emit(UNREAL, {**REGISTRY, "Mask": Mask})


# ---- commands ------------------------------------------------------------------------------------------------


def test_commands_are_read_from_their_declarations() -> None:
    inner = typer.Typer()

    @inner.command("pull")
    def fetch(
        name: Annotated[str, typer.Argument(help="Which.")],
        folder: Annotated[Path | None, typer.Option("-o", "--out", help="Where to.")] = None,
        force: Annotated[bool, typer.Option(help="Again.")] = False,
        tries: Annotated[int, typer.Option(help="How often.", min=1, max=9)] = 3,
        tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Of those.")] = None,
    ) -> None:
        """Fetch one."""

    outer = typer.Typer()
    outer.add_typer(inner, name="models")

    @outer.command(hidden=True)
    def secret() -> None:
        """Nobody sees this."""

    (command,) = commands(outer)
    assert command.usage == "parley models pull [OPTIONS] NAME"
    shown = [(item.written, item.default, item.required, item.notes) for item in command.parameters]
    assert shown == [
        ("NAME", "", True, ()),
        ("--out / -o PATH", "", False, ()),
        ("--force / --no-force", "", False, ()),
        ("--tries INTEGER", "3", False, ("At least 1, at most 9.",)),
        ("--tag TAG", "", False, ("May be repeated.",)),
    ]
    assert list(command.undescribed()) == []


def test_the_page_of_commands_knows_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in ("40", "400"):
        monkeypatch.setenv("COLUMNS", columns)
        assert emit(DOCS, REGISTRY)["cli.md"] == PAGES["cli.md"]


# ---- writing and comparing -----------------------------------------------------------------------------------


def test_codegen_writes_what_check_then_accepts(tmp_path: Path) -> None:
    out = str(tmp_path / "reference")
    code, diff, err = parley("docs", "--out", out, "--check")
    assert code == 1
    assert "--- /dev/null\n" in diff
    assert "is stale; run: parley codegen docs --out" in err
    code, written, _ = parley("docs", "--out", out)
    assert code == 0
    assert len(written.splitlines()) >= len(PAGES)
    assert parley("docs", "--out", out, "--check") == (0, "", "")
    assert parley("docs", "--out", out) == (0, "", "")


def test_check_prints_the_difference_and_changes_nothing(tmp_path: Path) -> None:
    write(DOCS, PAGES, tmp_path)
    errors = tmp_path / "errors.md"
    edited = errors.read_text(encoding="utf-8").replace("AgentBusy", "AgentLazy")
    errors.write_text(edited, encoding="utf-8")
    code, diff, _ = parley("docs", "--out", str(tmp_path), "--check")
    assert code == 1
    assert [line[:1] for line in diff.splitlines() if "AgentLazy" in line or "AgentBusy" in line] == ["-", "+"]
    assert errors.read_text(encoding="utf-8") == edited


def test_line_ends_of_a_checkout_are_no_difference(tmp_path: Path) -> None:
    write(DOCS, PAGES, tmp_path)
    errors = tmp_path / "errors.md"
    errors.write_bytes(errors.read_bytes().replace(b"\n", b"\r\n"))
    assert difference(DOCS, PAGES, tmp_path) == ""


def test_pages_of_types_that_are_gone_are_removed_and_others_kept(tmp_path: Path) -> None:
    write(DOCS, {**PAGES, "nodes/Gone.md": page(DOCS.mark, "# Gone")}, tmp_path)
    (tmp_path / "mine.md").write_text("# Mine\n", encoding="utf-8")
    assert "+++ /dev/null" in difference(DOCS, PAGES, tmp_path)
    assert write(DOCS, PAGES, tmp_path) == ["nodes/Gone.md"]
    assert not (tmp_path / "nodes" / "Gone.md").exists()
    assert (tmp_path / "mine.md").exists()


def test_the_pages_of_parley_itself_know_no_installed_types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Lamp(SpeakingNode):
        """Gives light."""

        default_exit: str = exit_param("it burns")

        async def run(self, turn: TurnView) -> str:
            return "default"

    installed = build_registry([*packaged_nodes(), Lamp], [])
    monkeypatch.setattr("bridge.node.default_registry", lambda: installed)
    monkeypatch.chdir(tmp_path)
    for folder, there in ((None, False), ("docs/reference", False), ("mine", True)):
        assert parley("docs", *(["--out", folder] if folder else []))[0] == 0
        assert (tmp_path / (folder or "docs/reference") / "nodes" / "Lamp.md").exists() is there


def test_an_unknown_target_is_named() -> None:
    code, out, err = parley("cobol")
    assert (code, out) == (2, "")
    assert err == "parley: there is no target 'cobol'; known: docs, unity, unreal\n"


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, out, err = parley("docs", "--out", str(tmp_path / "file"))
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "cannot write" in err


# ---- Markdown ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain_text", "plain_text"),
        ("<b> `<b>` * `*`", "&lt;b> `<b>` \\* `*`"),
        ("one ` backquote <", "one \\` backquote &lt;"),
        ("[a](b)", "\\[a](b)"),
    ],
)
def test_prose_is_no_markup(text: str, shown: str) -> None:
    assert prose(text) == shown


def test_a_table_keeps_its_shape() -> None:
    assert table(("a", "b"), [("1\n2", "`x|y`")]) == ["| a | b |", "|---|---|", "| 1 2 | `x\\|y` |"]
    assert table(("a",), []) == []


def test_fields_under_another_name_are_shown_by_that_name() -> None:
    names: Any = [row.name for row in rows_of(protocol.ExportDialog, str)]
    assert names == ["agent_id", "from", "count"]
