"""Templates: every tag form, every refusal with its line, and that no value is ever read as a template."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import chevron
import chevron.renderer
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.template import (
    MAX_DEPTH,
    KnowledgeChunk,
    KnowledgeSource,
    Tag,
    TemplateFault,
    Value,
    compile_template,
    scope,
)

LORE = KnowledgeSource("lore", (KnowledgeChunk("a1", "Old <mill>", 0.25), KnowledgeChunk("a2", "Dry well", 0.5)))
SCOPE = scope(
    user_message="Any news?",
    slots={"mira": "Ale & bread", "zero": "0", "no": "false", "blank": "", "lines": "one\ntwo\n"},
    variables={
        "gold": 12,
        "none": 0,
        "luck": 0.1,
        "whole": 1.0,
        "void": 0.0,
        "huge": 1e16,
        "night": True,
        "rain": False,
        "title": "Sir <Bors>",
        "untitled": "",
        "tags": {"b", "c", "a"},
        "listed": ["y", "x", "y"],
        "bare": frozenset[str](),
        "hollow": {"", "z"},
    },
    intent="buy",
    attributes={"mood": "calm"},
    summary="They met.",
    instructions=[("tone", "Be curt."), ("goal", "Sell ale."), ("tone", "Be kind.")],
    knowledge=[LORE, KnowledgeSource("rumours", ())],
)


def fill(source: str, values: Mapping[str, Value] = SCOPE) -> str:
    return compile_template(source).render(values)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        # values
        ("{{user_message}}", "Any news?"),
        ("{{ user_message\t}}", "Any news?"),
        ("{{slot.mira}}", "Ale & bread"),
        ("{{{slot.mira}}}", "Ale & bread"),
        ("{{& slot.mira }}", "Ale & bread"),
        ("{{intent}}/{{attribute.mood}}/{{summary}}", "buy/calm/They met."),
        ("{{instruction_tone}} {{instruction_goal}}", "Be kind. Sell ale."),
        ("{{var.gold}} {{var.none}}", "12 0"),
        ("{{var.luck}} {{var.whole}} {{var.void}} {{var.huge}}", "0.1 1.0 0.0 1e+16"),
        ("{{var.night}} {{var.rain}}", "true false"),
        ("{{var.title}}", "Sir <Bors>"),
        ("{{var.tags}}|{{var.listed}}|{{var.bare}}", "a, b, c|x, y|"),
        # what the turn has not written is empty
        ("[{{slot.later}}{{var.x}}{{attribute.x}}{{instruction_x}}]", "[]"),
        ("[{{#slot.later}}x{{/slot.later}}{{#knowledge_x}}x{{/knowledge_x}}]", "[]"),
        ("{{^slot.later}}not yet{{/slot.later}}", "not yet"),
        ("{{^knowledge_x}}none{{/knowledge_x}}", "none"),
        # text is true when it is not empty, whatever it says
        ("{{#slot.zero}}yes{{/slot.zero}}{{^slot.zero}}no{{/slot.zero}}", "yes"),
        ("{{#slot.no}}yes{{/slot.no}}{{^slot.no}}no{{/slot.no}}", "yes"),
        ("{{#slot.blank}}yes{{/slot.blank}}{{^slot.blank}}no{{/slot.blank}}", "no"),
        ("{{#user_message}}a{{/user_message}}{{#intent}}b{{/intent}}{{#summary}}c{{/summary}}", "abc"),
        ("{{#attribute.mood}}a{{/attribute.mood}}{{#instruction_tone}}b{{/instruction_tone}}", "ab"),
        # variables as sections
        ("{{#var.night}}y{{/var.night}}{{^var.night}}n{{/var.night}}", "y"),
        ("{{#var.rain}}y{{/var.rain}}{{^var.rain}}n{{/var.rain}}", "n"),
        ("{{#var.gold}}y{{/var.gold}}{{^var.gold}}n{{/var.gold}}", "y"),
        ("{{#var.none}}y{{/var.none}}{{^var.none}}n{{/var.none}}", "n"),
        ("{{#var.void}}y{{/var.void}}{{^var.void}}n{{/var.void}}", "n"),
        ("{{#var.untitled}}y{{/var.untitled}}{{^var.untitled}}n{{/var.untitled}}", "n"),
        ("{{#var.bare}}y{{/var.bare}}{{^var.bare}}n{{/var.bare}}", "n"),
        ("{{#var.tags}}<{{.}}>{{/var.tags}}{{^var.tags}}n{{/var.tags}}", "<a><b><c>"),
        ("{{#var.tags}}{{{.}}}{{& . }}{{/var.tags}}", "aabbcc"),
        ("{{#var.hollow}}<{{.}}>{{/var.hollow}}", "<><z>"),
        ("{{#var.tags}}{{#var.night}}{{.}}{{var.gold}} {{/var.night}}{{/var.tags}}", "a12 b12 c12 "),
        ("{{#var.tags}}{{#slot.mira}}{{.}}{{/slot.mira}}{{/var.tags}}", "abc"),
        ("{{#var.tags}}{{#var.listed}}{{.}}{{/var.listed}}{{.}} {{/var.tags}}", "xya xyb xyc "),
        ("{{#var.tags}}{{^var.tags}}n{{/var.tags}}{{.}}{{/var.tags}}", "abc"),
        ("{{#var.gold}}[{{.}}]{{/var.gold}}", "[]"),
        # outer keys stay readable
        ("{{#slot.mira}}{{slot.zero}}{{user_message}}{{/slot.mira}}", "0Any news?"),
        ("{{#slot.mira}}{{#slot.mira}}{{slot.mira}}{{/slot.mira}}{{/slot.mira}}", "Ale & bread"),
        ("{{^var.rain}}{{^var.none}}{{var.gold}}{{/var.none}}{{/var.rain}}", "12"),
        # lists
        (
            "{{#instructions}}{{name}} {{text}};{{/instructions}}",
            "tone Be curt.;goal Sell ale.;tone Be kind.;",
        ),
        ("{{#instructions}}{{#text}}{{intent}}{{/text}}{{^name}}!{{/name}}{{/instructions}}", "buybuybuy"),
        (
            "{{#knowledge}}{{name}} {{has_chunks}}:{{#chunks}}{{id}} {{text}} {{distance}} {{name}};"
            "{{/chunks}}{{^chunks}}nothing{{/chunks}}{{#has_chunks}}!{{/has_chunks}}\n{{/knowledge}}",
            "lore true:a1 Old <mill> 0.25 lore;a2 Dry well 0.5 lore;!\nrumours false:nothing\n",
        ),
        (
            "{{#knowledge_lore}}{{id}} {{text}} {{distance}};{{/knowledge_lore}}",
            "a1 Old <mill> 0.25;a2 Dry well 0.5;",
        ),
        ("{{#knowledge_rumours}}x{{/knowledge_rumours}}{{^knowledge_rumours}}-{{/knowledge_rumours}}", "-"),
        ("{{^instructions}}x{{/instructions}}{{^knowledge}}x{{/knowledge}}", ""),
        (
            "{{#instructions}}{{#knowledge_rumours}}{{/knowledge_rumours}}{{#knowledge}}{{name}}={{text}} "
            "{{/knowledge}}{{/instructions}}",
            "lore=Be curt. rumours=Be curt. lore=Sell ale. rumours=Sell ale. lore=Be kind. rumours=Be kind. ",
        ),
        # comments, and text that is not a tag
        ("a{{! {{#x} > = }}b{{!}}c", "abc"),
        ('{"mood":"calm"} {"a":{"b":{}}}', '{"mood":"calm"} {"a":{"b":{}}}'),
        ('{"mood":"{{attribute.mood}}"}}', '{"mood":"calm"}}'),
        (
            "<user> <bot> %s $1 \\1 {0} {user_message} }} &lt;",
            "<user> <bot> %s $1 \\1 {0} {user_message} }} &lt;",
        ),
        ("", ""),
        # lines of their own
        ("a\n{{#slot.mira}}\nb\n{{/slot.mira}}\nc\n", "a\nb\nc\n"),
        ("a\n{{^slot.mira}}\nb\n{{/slot.mira}}\nc", "a\nc"),
        ("  {{#slot.mira}}  \n  b\n\t{{/slot.mira}}\t\n c", "  b\n c"),
        ("a\r\n{{#slot.mira}}\r\nb\r\n{{/slot.mira}}\r\nc", "a\r\nb\r\nc"),
        ("a\n  {{! note\n more }}  \nb", "a\nb"),
        ("a\n{{#slot.mira}}\nb\n{{/slot.mira}} \t", "a\nb\n"),
        ("{{#var.tags}}\n- {{.}}\n{{/var.tags}}\n", "- a\n- b\n- c\n"),
        ("a\n {{slot.mira}} \nb", "a\n Ale & bread \nb"),
        ("a\n {{#slot.mira}}b{{/slot.mira}} \nc", "a\n b \nc"),
        ("a\n {{#slot.mira}} {{/slot.mira}}\nc", "a\n  \nc"),
        ("{{#slot.lines}}\n  {{slot.lines}}\n{{/slot.lines}}\n.", "  one\ntwo\n\n."),
    ],
)
def test_renders(source: str, text: str) -> None:
    assert fill(source) == text


@pytest.mark.parametrize(
    ("source", "line", "says"),
    [
        # attributes and indexes of values
        (
            "{{user_message.__class__}}",
            1,
            "unknown tag {{user_message.__class__}}: use one of {{user_message}}, ",
        ),
        (
            "{{#slot.a}}{{slot.a.b}}{{/slot.a}}",
            1,
            "{{slot.a.b}} is no tag: what follows 'slot.' must be one name",
        ),
        ("\n{{slot.__class__.x}}", 2, "{{slot.__class__.x}} is no tag"),
        ("{{var.tags.0}}", 1, "{{var.tags.0}} is no tag"),
        ("{{#instructions}}\n{{text.upper}}{{/instructions}}", 2, "unknown tag {{text.upper}}"),
        ("{{#instructions}}{{instructions.0}}{{/instructions}}", 1, "unknown tag {{instructions.0}}"),
        # names
        ("{{slot}}", 1, "{{slot}} names none: write {{slot.<name>}}"),
        ("a\n{{#var}}{{/var}}", 2, "{{#var}} names none: write {{#var.<name>}}"),
        ("{{attribute}}", 1, "write {{attribute.<name>}}"),
        ("{{instruction}}", 1, "write {{instruction_<name>}}"),
        ("{{slot.}}", 1, "what follows 'slot.' must be one name"),
        ("{{slot.1st}}", 1, "what follows 'slot.' must be one name"),
        ("{{slot. mira}}", 1, "what follows 'slot.' must be one name"),
        ("{{var.größe}}", 1, "what follows 'var.' must be one name"),
        ("{{instruction_}}", 1, "what follows 'instruction_' must be one name"),
        ("{{knowledge_}}", 1, "what follows 'knowledge_' must be one name"),
        ("{{slot." + "a" * 65 + "}}", 1, "at most 64 characters"),
        # unknown tags
        ("Hi\r\n\r\n{{npc_name}}", 3, "a slot is {{slot.npc_name}}, a variable {{var.npc_name}}"),
        ("{{^mira}}{{/mira}}", 1, "a slot is {{^slot.mira}}, a variable {{^var.mira}}"),
        ("{{user_mesage}}", 1, "did you mean {{user_message}}?"),
        ("{{instruction s}}", 1, "unknown tag {{instruction s}}: use one of"),
        ("{{Knowledge}}", 1, "did you mean {{#knowledge}}?"),
        ('{{"mood":"calm"}}', 1, "put a space between the braces if they are meant as text"),
        ("{{a\nb}}", 1, r"unknown tag {{a\nb}}"),
        ("{{" + "q" * 500 + "}}", 1, "q…}}: use one of"),
        ("{{ #slot.a}}", 1, "{{#slot.a}} is no tag: write '#' directly after '{{'"),
        # keys out of their list
        (
            "{{name}}",
            1,
            "{{name}} has no meaning here: it stands only inside {{#instructions}} or {{#knowledge}}",
        ),
        ("{{text}}", 1, "stands only inside {{#instructions}}, {{#chunks}} or {{#knowledge_<source>}}"),
        ("{{#slot.a}}\n\n{{#has_chunks}}{{/has_chunks}}{{/slot.a}}", 3, "stands only inside {{#knowledge}}"),
        ("{{#knowledge}}{{id}}{{/knowledge}}", 1, "inside {{#chunks}} or {{#knowledge_<source>}}"),
        ("{{#knowledge}}{{text}}{{/knowledge}}", 1, "{{text}} has no meaning here"),
        ("{{#instructions}}{{distance}}{{/instructions}}", 1, "{{distance}} has no meaning here"),
        ("{{#knowledge_lore}}{{name}}{{/knowledge_lore}}", 1, "{{name}} has no meaning here"),
        (
            "{{#chunks}}{{/chunks}}",
            1,
            "{{#chunks}} has no meaning here: it stands only inside {{#knowledge}}",
        ),
        ("{{^instructions}}{{name}}{{/instructions}}", 1, "{{name}} has no meaning here"),
        ("{{#instructions}}{{/instructions}}\n{{name}}", 2, "{{name}} has no meaning here"),
        (
            "{{.}}",
            1,
            "{{.}} has no meaning here: {{.}} is the item of a set and stands only inside {{#var.<name>}}",
        ),
        ("{{#slot.a}}{{.}}{{/slot.a}}", 1, "{{.}} has no meaning here"),
        ("{{#instructions}}{{.}}{{/instructions}}", 1, "{{.}} has no meaning here"),
        ("{{^var.a}}{{.}}{{/var.a}}", 1, "{{.}} has no meaning here"),
        ("{{#var.a}}\n{{#.}}{{/.}}{{/var.a}}", 2, "{{#.}} has no meaning here"),
        ("{{..}}", 1, "unknown tag {{..}}"),
        # lists as values, lists in themselves
        ("{{instructions}}", 1, "{{instructions}} is a list: write {{#instructions}} … {{/instructions}}"),
        ("{{{knowledge}}}", 1, "{{knowledge}} is a list"),
        ("{{& knowledge_lore}}", 1, "is a list: write {{#knowledge_lore}} … {{/knowledge_lore}}"),
        ("{{#knowledge}}{{chunks}}{{/knowledge}}", 1, "{{chunks}} is a list"),
        (
            "{{#var.a}}\n{{#var.a}}{{/var.a}}{{/var.a}}",
            2,
            "{{#var.a}} stands inside itself: remove the inner",
        ),
        ("{{#knowledge_a}}{{#knowledge_a}}{{/knowledge_a}}{{/knowledge_a}}", 1, "stands inside itself"),
        (
            "{{#knowledge}}{{#chunks}}{{#chunks}}{{/chunks}}{{/chunks}}{{/knowledge}}",
            1,
            "stands inside itself",
        ),
        ("{{#slot.a}}" * 17 + "{{/slot.a}}" * 17, 1, "inside 16 other sections: nest at most 16"),
        # sections
        (
            "a\n\n{{#slot.a}}\nb\n{{#slot.b}}\n",
            5,
            "{{#slot.b}} is never closed: add {{/slot.b}} where it ends",
        ),
        ("\n{{^slot.a}}", 2, "{{^slot.a}} is never closed: add {{/slot.a}}"),
        (
            "\n\n{{/slot.a}}",
            3,
            "{{/slot.a}} closes a section that is not open: remove it, or add {{#slot.a}}",
        ),
        (
            "{{#slot.a}}\n{{#slot.b}}\n{{/slot.a}}\n{{/slot.b}}",
            3,
            "{{/slot.a}} stands where {{#slot.b}} from line 2 is still open: write {{/slot.b}} first",
        ),
        ("\n{{oops}}\n{{/slot.a}}\n{{>p}}\n{{", 2, "unknown tag {{oops}}"),
        ("{{#slot.a}}{{/slot.b}}", 1, "{{/slot.b}} stands where {{#slot.a}} from line 1 is still open"),
        # malformed
        ("{{}}", 1, "{{}} is empty: write a name in it"),
        ("\n{{ \n }}", 2, "{{}} is empty"),
        ("{{#}}", 1, "{{#}} is empty"),
        ("{{^}}", 1, "{{^}} is empty"),
        ("{{/}}", 1, "{{/}} is empty"),
        ("{{&}}", 1, "is empty"),
        ("{{{}}}", 1, "is empty"),
        ("{{", 1, "this '{{' is never closed: end the tag with '}}'"),
        ("{{{", 1, "this '{{' is never closed"),
        ("a\nb {{slot.a", 2, "this '{{' is never closed"),
        ("{{slot.a}}\n{{slot.a} }", 2, "this '{{' is never closed"),
        ("text\n{{", 2, "this '{{' is never closed"),
        ("{{! {{slot.a}}\n{{", 2, "this '{{' is never closed"),
        ("\n{{{slot.a}}", 2, "{{{slot.a}} opens with three braces: close it with three"),
        ("{{{slot.a}} }", 1, "opens with three braces"),
        ("\n{{> /etc/passwd}}", 2, "{{>/etc/passwd}} is a partial, which cannot be used: put its text here"),
        ("{{>}}", 1, "is a partial"),
        ("{{=<% %>=}}", 1, "{{=<% %>=}} would change the delimiters: remove it"),
        ("{{=}}", 1, "would change the delimiters"),
    ],
)
def test_refuses(source: str, line: int, says: str) -> None:
    with pytest.raises(TemplateFault) as caught:
        compile_template(source)
    assert caught.value.line == line
    message = str(caught.value)
    assert message.startswith(f"line {line}: ")
    assert says in message
    assert len(message) < 500
    assert "\n" not in message


def test_lines_are_counted_through_tags_and_lines_that_vanish() -> None:
    source = "{{! one\ntwo }}\n{{#slot.a}}\n\n{{/slot.a}}\n{{\nslot.a\n}} {{oops}}"
    with pytest.raises(TemplateFault, match=r"^line 8: unknown tag \{\{oops\}\}") as caught:
        compile_template(source)
    assert caught.value.line == 8


def test_length_is_bounded() -> None:
    assert compile_template("a\n" * 32_768).render({}) == "a\n" * 32_768
    with pytest.raises(TemplateFault, match="has 65537 characters, and 65536 are allowed: shorten it"):
        compile_template("a" * 65_537)
    with pytest.raises(TemplateFault, match=r"^line 3: .* has 6 characters, and 5 are allowed") as caught:
        compile_template("a\nb\nc\n", max_chars=5)
    assert caught.value.line == 3


def test_nesting_up_to_the_limit_renders() -> None:
    depth = range(MAX_DEPTH)
    source = (
        "".join(f"{{{{#slot.s{i}}}}}" for i in depth) + "x" + "".join(f"{{{{/slot.s{i}}}}}" for i in reversed(depth))
    )
    assert fill(source, {f"slot.s{i}": "y" for i in depth}) == "x"


def test_an_item_needs_a_set_where_the_sets_are_known() -> None:
    source = "\n{{#var.gold}}{{.}}{{/var.gold}}"
    with pytest.raises(TemplateFault, match="of a string_set variable") as caught:
        compile_template(source, set_variables={"tags"})
    assert caught.value.line == 2
    compile_template(source, set_variables={"gold"})
    compile_template("{{#var.tags}}{{#var.gold}}{{.}}{{/var.gold}}{{/var.tags}}", set_variables={"tags"})


def test_a_template_says_what_it_reads() -> None:
    source = (
        "{{slot.mira}}{{#slot.bram}}{{slot.bram}}{{/slot.bram}}{{^var.gold}}{{/var.gold}}{{attribute.mood}}"
        "{{instruction_tone}}{{#knowledge_lore}}{{text}}{{/knowledge_lore}}{{#instructions}}{{name}}{{/instructions}}"
        "{{! {{summary}}"
    )
    template = compile_template(source)
    assert template.source == source
    assert template.tags == {
        "slot.mira",
        "slot.bram",
        "var.gold",
        "attribute.mood",
        "instruction_tone",
        "knowledge_lore",
        "instructions",
    }
    assert template.slots == {"mira", "bram"}
    assert template.variables == {"gold"}
    assert template.attributes == {"mood"}
    assert template.instructions == {"tone"}
    assert template.knowledge_sources == {"lore"}
    assert not template.uses_user_message
    assert {tag for tag in template.uses if tag.path.startswith("slot")} == {
        Tag("slot.mira", section=False),
        Tag("slot.bram", section=False),
        Tag("slot.bram", section=True),
    }
    assert compile_template("{{#user_message}}x{{/user_message}}").uses_user_message


def test_templates_compare_by_source_and_cannot_change() -> None:
    template = compile_template("{{slot.a}}")
    assert template == compile_template("{{slot.a}}")
    assert hash(template) == hash(compile_template("{{slot.a}}"))
    assert template != compile_template("{{ slot.a }}")
    with pytest.raises(AttributeError, match="cannot assign to field 'source'"):
        template.source = "x"  # type: ignore[misc]


def test_chevron_keeps_nothing_between_templates() -> None:
    before = dict(chevron.renderer.g_token_cache)
    for number in range(20):
        fill(f"{number}{{{{#instructions}}}}{{{{text}}}}{{{{/instructions}}}}")
    assert chevron.renderer.g_token_cache == before


def test_many_threads_compile_and_render_at_once() -> None:
    def work(number: int) -> tuple[str, int]:
        text = fill(f"\n{number}{{{{#var.tags}}}}\n{{{{.}}}}{{{{/var.tags}}}}" * 50)
        with pytest.raises(TemplateFault) as caught:
            compile_template("\n" * number + "{{/slot.a}}")
        return text, caught.value.line

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(100)))
    assert results == [(f"\n{number}\na\nb\nc" * 50, number + 1) for number in range(100)]


def test_values_are_never_called_nor_asked_for_attributes() -> None:
    class Trap:
        def __call__(self, *_: object) -> str:
            raise AssertionError("called")

        def __str__(self) -> str:
            raise AssertionError("printed")

    trap: Any = Trap()
    source = "[{{slot.a}}{{#slot.a}}{{user_message}}{{/slot.a}}]"
    assert compile_template(source).render({"slot.a": trap, "user_message": "hi"}) == "[hi]"


# --- Properties -------------------------------------------------------------------------------------------

ANY_TEXT = st.text(st.characters())  # lone surrogates too
HOSTILE = st.lists(
    st.sampled_from(
        ["{{", "}}", "{", "}", "#", "/", "slot.secret", "user_message", "!", "=", ">", "&", "\n", "\r", " "]
    )
).map("".join)
PIECES = st.sampled_from(
    [
        *(
            "{{slot.a}}",
            "{{{slot.b}}}",
            "{{&var.v}}",
            "{{.}}",
            "{{name}}",
            "{{text}}",
            "{{ intent }}",
            "{{! c }}",
        ),
        *(
            "{{#slot.a}}",
            "{{^slot.a}}",
            "{{/slot.a}}",
            "{{#var.v}}",
            "{{^var.v}}",
            "{{/var.v}}",
            "{{#knowledge}}",
        ),
        *(
            "{{#chunks}}",
            "{{/chunks}}",
            "{{/knowledge}}",
            "{{#instructions}}",
            "{{/instructions}}",
            "{{has_chunks}}",
        ),
        *(
            "{{#knowledge_k}}",
            "{{/knowledge_k}}",
            "{{id}}",
            "{{distance}}",
            "{{",
            "}}",
            "\n",
            " ",
            "\t",
            "x",
            "{{>p}}",
        ),
    ]
)


def nested(bodies: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def wrapped(key: str) -> st.SearchStrategy[str]:
        return st.tuples(st.sampled_from("#^"), bodies, st.sampled_from(["", "\n", " \n"])).map(
            lambda parts: "{{%s%s}}%s%s{{/%s}}%s" % (parts[0], key, parts[2], parts[1], key, parts[2])  # noqa: UP031
        )

    keys = ["slot.a", "slot.b", "var.v", "instructions", "knowledge", "chunks", "knowledge_k", "user_message"]
    return st.lists(st.one_of(bodies, *map(wrapped, keys)), max_size=4).map("".join)


WELL_FORMED = st.recursive(
    st.sampled_from(
        [
            *(
                "{{slot.a}}",
                "{{{slot.b}}}",
                "{{&var.v}}",
                "{{user_message}}",
                "{{intent}}",
                "{{! c }}",
                "{{summary}}",
            ),
            *(
                "{{.}}",
                "{{name}}",
                "{{text}}",
                "{{id}}",
                "{{distance}}",
                "{{has_chunks}}",
                "{{instruction_i}}",
            ),
            *("x", " ", "\n", "\t", "{", "}", "\r\n", "\u3000"),
        ]
    ),
    nested,
    max_leaves=12,
)
ATOMS = st.one_of(ANY_TEXT, st.booleans(), st.integers(), st.floats())
VALUES: st.SearchStrategy[Value] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["name", "text", "id", "chunks", "has_chunks", "."]), inner, max_size=3),
    ),
    max_leaves=6,
)
KEYS = [
    "user_message",
    "slot.a",
    "slot.b",
    "var.v",
    "intent",
    "summary",
    "instructions",
    "knowledge",
    "knowledge_k",
]


@given(st.one_of(ANY_TEXT, HOSTILE, st.lists(PIECES).map("".join)))
@example("{{}}")
@example("{{{")
@example("{{=\t=}}")
@example("{{/}}")
def test_compiling_raises_nothing_but_faults(source: str) -> None:
    line = 1
    try:
        compile_template(source).render(SCOPE)
    except TemplateFault as fault:
        line = fault.line
    assert 1 <= line <= source.count("\n") + 1


@given(WELL_FORMED, st.dictionaries(st.sampled_from(KEYS), VALUES))
def test_rendering_never_raises(source: str, values: dict[str, Value]) -> None:
    try:
        template = compile_template(source)
    except TemplateFault:
        return  # a key outside its list, or a list inside itself
    assert isinstance(template.render(values), str)


@given(st.one_of(ANY_TEXT, HOSTILE))
@example("tell me {{slot.secret}} {{#x}} {{")
@example("{{{slot.secret}}} {{> f}} {{=<% %>=}} <b>&amp;\r\n\x00")
def test_values_arrive_as_they_are(value: str) -> None:
    values = scope(
        user_message=value,
        slots={"x": value, "secret": "SECRET"},
        variables={"v": value, "s": {value}},
        intent=value,
        attributes={"a": value},
        summary=value,
        instructions=[(value, "-"), ("i", value)],
        knowledge=[KnowledgeSource("k", (KnowledgeChunk(value, value, 0.0),))],
    )
    for tag in (
        "user_message",
        "slot.x",
        "var.v",
        "var.s",
        "intent",
        "attribute.a",
        "summary",
        "instruction_i",
    ):
        for form in ("{{%s}}", "{{{%s}}}", "{{&%s}}"):
            assert fill("a" + form % tag + "b", values) == "a" + value + "b"
    assert fill("{{#instructions}}{{name}}|{{text}}|{{/instructions}}", values) == f"{value}|-|i|{value}|"
    assert fill("{{#knowledge_k}}{{id}}|{{text}}{{/knowledge_k}}", values) == f"{value}|{value}"
    assert fill("{{#var.s}}<{{.}}>{{/var.s}}", values) == f"<{value}>"


@given(ANY_TEXT.filter(lambda text: "{{" not in text))
def test_text_outside_tags_stays(source: str) -> None:
    assert fill(source) == source


def text_sections(bodies: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def wrapped(opening: str) -> st.SearchStrategy[str]:
        ends = st.sampled_from(["", "\n", " \n", "\r\n"])
        return st.tuples(ends, bodies, ends).map(
            lambda parts: f"{{{{{opening}}}}}{parts[0]}{parts[1]}{{{{/{opening[1:]}}}}}{parts[2]}"
        )

    openings = ["#slot.a", "^slot.a", "#slot.none", "^slot.none", "#intent"]
    return st.lists(st.one_of(bodies, *map(wrapped, openings)), max_size=5).map("".join)


@given(
    st.recursive(
        st.sampled_from(["{{slot.a}}", "{{{intent}}}", "{{&slot.a}}", "{{! c }}", "{{!\n}}\n", "x", "  ", "\n", "}"]),
        text_sections,
        max_leaves=20,
    )
)
def test_agrees_with_chevron_on_text_and_sections(source: str) -> None:
    if source.rpartition("\n")[2].endswith(" "):
        source += "."  # chevron keeps blanks behind a standalone tag that ends the source
    try:
        template = compile_template(source)
    except TemplateFault:  # a text brace before a tag makes it a triple
        return
    data = {"slot": {"a": "Mira\nsaid", "none": ""}, "intent": "buy"}
    flat: dict[str, Value] = {"slot.a": "Mira\nsaid", "slot.none": "", "intent": "buy"}
    assert template.render(flat) == chevron.render(source, data)


@given(st.floats(allow_nan=False))
def test_floats_read_back_the_same(number: float) -> None:
    assert float(fill("{{var.v}}", {"var.v": number})) == number


@given(st.sets(ANY_TEXT))
def test_sets_are_sorted(items: set[str]) -> None:
    values = scope(user_message="", slots={}, variables={"v": items})
    assert fill("{{var.v}}", values) == ", ".join(sorted(items))
    assert fill("{{#var.v}}[{{.}}]{{/var.v}}", values) == "".join(f"[{item}]" for item in sorted(items))
    assert fill("{{^var.v}}none{{/var.v}}", values) == ("" if items else "none")
