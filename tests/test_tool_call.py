"""Calls out of raw replies: everything that small models write, and everything that only looks like a call."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridge.answer_text import END_MARKERS, TOOL_MARKERS
from bridge.near_json import MOST_DEPTH
from bridge.protocol import ToolCallFormat
from bridge.tool_call import Call, Tool, parse_reply

TOOLS = (
    Tool(
        "open_door",
        "Opens a door.",
        {
            "type": "object",
            "properties": {"door": {"type": "string"}, "how": {"type": "object"}},
            "required": ["door"],
        },
    ),
    Tool("give-item", "Hands something over.", {"type": "object", "properties": {"item": {"type": "string"}}}),
    Tool("wait", "Does nothing.", {}),
)
OPEN = ("open_door", {"door": "cellar"})
WAIT: tuple[str, dict[str, Any]] = ("wait", {})
QWEN = '{"name": "open_door", "arguments": {"door": "cellar"}}'
LLAMA = '{"name": "open_door", "parameters": {"door": "cellar"}}'
PLAIN = '{"tool": "open_door", "args": {"door": "cellar"}}'

Case = tuple[ToolCallFormat, str, str, list[tuple[str, dict[str, Any]]], list[str]]

CASES: dict[str, Case] = {
    # ---- each format as it is taught
    "qwen": ("chatml", f"<tool_call>\n{QWEN}\n</tool_call>", "", [OPEN], []),
    "qwen in one line": ("chatml", f"<tool_call>{QWEN}</tool_call>", "", [OPEN], []),
    "qwen twice": (
        "chatml",
        f"<tool_call>\n{QWEN}\n</tool_call>\n<tool_call>\n{QWEN}\n</tool_call>",
        "",
        [OPEN] * 2,
        [],
    ),
    "llama": ("llama3", LLAMA, "", [OPEN], []),
    "llama behind its token": ("llama3", f"<|python_tag|>{LLAMA}", "", [OPEN], []),
    "llama twice, by semicolon": ("llama3", f"<|python_tag|>{LLAMA}; {LLAMA}", "", [OPEN] * 2, []),
    "llama twice, bare": ("llama3", f"{LLAMA}; {LLAMA}", "", [OPEN] * 2, []),
    "llama twice, by line": ("llama3", f"{LLAMA}\n{LLAMA}", "", [OPEN] * 2, []),
    "llama with its type": ("llama3", f'{{"type": "function", {LLAMA[1:]}', "", [OPEN], []),
    "llama by tag of its name": ("llama3", '<function=open_door>{"door": "cellar"}</function>', "", [OPEN], []),
    "mistral": ("mistral", f"[TOOL_CALLS] [{QWEN}]", "", [OPEN], []),
    "mistral twice": ("mistral", f"[TOOL_CALLS][{QWEN}, {QWEN}]", "", [OPEN] * 2, []),
    "mistral with ids": ("mistral", f'[TOOL_CALLS] [{QWEN[:-1]}, "id": "abcdefghi"}}]', "", [OPEN], []),
    "mistral without a list": ("mistral", f"[TOOL_CALLS] {QWEN}", "", [OPEN], []),
    "mistral, new way": ("mistral", '[TOOL_CALLS]open_door{"door": "cellar"}', "", [OPEN], []),
    "mistral, new way twice": (
        "mistral",
        '[TOOL_CALLS]open_door[ARGS]{"door": "cellar"}[TOOL_CALLS]wait[ARGS]{}',
        "",
        [OPEN, WAIT],
        [],
    ),
    "mistral closed": ("mistral", f"[TOOL_CALLS] [{QWEN}][/TOOL_CALLS] Done.", "Done.", [OPEN], []),
    "generic": ("generic", PLAIN, "", [OPEN], []),
    "generic over lines": ("generic", json.dumps(json.loads(PLAIN), indent=2), "", [OPEN], []),
    "generic list": ("generic", f"[{PLAIN}, {PLAIN}]", "", [OPEN] * 2, []),
    # ---- one format's model writing another's
    "qwen's in llama's": ("llama3", f"<tool_call>{QWEN}</tool_call>", "", [OPEN], []),
    "mistral's in qwen's": ("chatml", f"[TOOL_CALLS] [{QWEN}]", "", [OPEN], []),
    "llama's in mistral's": ("mistral", f"<|python_tag|>{LLAMA}", "", [OPEN], []),
    "generic keys in a tag": ("chatml", f"<tool_call>{PLAIN}</tool_call>", "", [OPEN], []),
    "bare where a tag is due": ("chatml", QWEN, "", [OPEN], []),
    "openai's list": (
        "generic",
        '{"tool_calls": [{"id": "1", "type": "function", "function": '
        '{"name": "open_door", "arguments": "{\\"door\\": \\"cellar\\"}"}}]}',
        "",
        [OPEN],
        [],
    ),
    "openai's function": (
        "chatml",
        f'<tool_call>{{"type": "function", "function": {QWEN}}}</tool_call>',
        "",
        [OPEN],
        [],
    ),
    "tag of another name": ("generic", f"<function_call>{QWEN}</function_call>", "", [OPEN], []),
    "tag with bars": ("generic", f"<|tool_call|>{QWEN}", "", [OPEN], []),
    "list of tags": ("generic", f"<tool_calls>[{QWEN}]</tool_calls>", "", [OPEN], []),
    "tag in capitals": ("chatml", f"<TOOL_CALL>{QWEN}</TOOL_CALL>", "", [OPEN], []),
    # ---- text before and after
    "before": ("chatml", f"Let me see.<tool_call>\n{QWEN}\n</tool_call>", "Let me see.", [OPEN], []),
    "after": ("chatml", f"<tool_call>{QWEN}</tool_call>Done.", "Done.", [OPEN], []),
    "around": ("chatml", f"Let me see.<tool_call>{QWEN}</tool_call>Done.", "Let me see. Done.", [OPEN], []),
    "around, by line": ("chatml", f"See.\n<tool_call>{QWEN}</tool_call>\nDone.", "See.\nDone.", [OPEN], []),
    "around bare": ("llama3", f"Let me see. {LLAMA} Done.", "Let me see. Done.", [OPEN], []),
    "brace in a text, then prose": (
        "llama3",
        '{"name": "open_door", "parameters": {"door": "a } b", "how": {"with": {"key": "}}"}}}} Done.',
        "Done.",
        [("open_door", {"door": "a } b", "how": {"with": {"key": "}}"}}})],
        [],
    ),
    "between two": (
        "chatml",
        f"<tool_call>{QWEN}</tool_call> and <tool_call>{QWEN}</tool_call>",
        "and",
        [OPEN] * 2,
        [],
    ),
    "only text": ("chatml", "  Good evening, traveller.\n", "Good evening, traveller.", [], []),
    "nothing": ("chatml", "", "", [], []),
    "lines stay": ("generic", "One.\n\nTwo.", "One.\n\nTwo.", [], []),
    # ---- fences
    "fence": ("generic", f"```json\n{PLAIN}\n```", "", [OPEN], []),
    "fence without a language": ("generic", f"```\n{PLAIN}\n```", "", [OPEN], []),
    "fence in text": ("generic", f"I will.\n```json\n{PLAIN}\n```\nDone.", "I will.\nDone.", [OPEN], []),
    "fence with two": ("generic", f"```json\n{PLAIN}\n{PLAIN}\n```", "", [OPEN] * 2, []),
    "fence in a tag": ("chatml", f"<tool_call>\n```json\n{QWEN}\n```\n</tool_call>", "", [OPEN], []),
    "fence that stays open": ("generic", f"```json\n{PLAIN}", "", [OPEN], []),
    "one backtick": ("generic", f"I use `{PLAIN}`.", "I use .", [OPEN], []),
    "fence of something else": ("generic", '```json\n{"gold": 3}\n```', '```json\n{"gold": 3}\n```', [], []),
    # ---- no calls
    "rune": ("llama3", "The rune reads {ash}.", "The rune reads {ash}.", [], []),
    "rune, generic": (
        "generic",
        "{ash} is what the rune reads {so} they say",
        "{ash} is what the rune reads {so} they say",
        [],
        [],
    ),
    "sample": ("llama3", 'Such as {"name": "Bob", "age": 3}.', 'Such as {"name": "Bob", "age": 3}.', [], []),
    "sample with parameters": (
        "chatml",
        'A sword is {"name": "Fang", "parameters": {"edge": 3}}.',
        'A sword is {"name": "Fang", "parameters": {"edge": 3}}.',
        [],
        [],
    ),
    "call inside a sample": (
        "chatml",
        f'{{"id": 1, "inner": {QWEN}}}',
        f'{{"id": 1, "inner": {QWEN}}}',
        [],
        [],
    ),
    "name alone": ("llama3", '{"name": "open_door"}', '{"name": "open_door"}', [], []),
    "code": ("generic", "if (x) { return [1, 2]; }", "if (x) { return [1, 2]; }", [], []),
    "unclosed brace": ("llama3", 'He wrote {"name": and left.', 'He wrote {"name": and left.', [], []),
    "brackets": ("mistral", "[sighs] Well {shrugs}.", "[sighs] Well {shrugs}.", [], []),
    "braces before a call": ("chatml", f"{{so}} <tool_call>{QWEN}</tool_call>", "{so}", [OPEN], []),
    # ---- near-JSON
    "single quotes": ("generic", "{'tool': 'open_door', 'args': {'door': 'cellar'}}", "", [OPEN], []),
    "single quotes and an apostrophe": (
        "chatml",
        "<tool_call>{'name': 'open_door', 'arguments': {'door': \"Mira's\"}}</tool_call>",
        "",
        [("open_door", {"door": "Mira's"})],
        [],
    ),
    "trailing commas": (
        "chatml",
        '<tool_call>{"name": "open_door", "arguments": {"door": "cellar",},}</tool_call>',
        "",
        [OPEN],
        [],
    ),
    "python's words": (
        "chatml",
        "<tool_call>{'name': 'open_door', 'arguments': {'door': 'cellar', 'how': {'a': True, 'b': None}}}</tool_call>",
        "",
        [("open_door", {"door": "cellar", "how": {"a": True, "b": None}})],
        [],
    ),
    "bare keys": ("generic", '{tool: "open_door", args: {door: "cellar"}}', "", [OPEN], []),
    "near, then prose": ("generic", "{'tool': 'open_door', 'args': {'door': 'cellar'}} Done.", "Done.", [OPEN], []),
    "one brace short in a tag": ("chatml", f"<tool_call>{QWEN[:-1]}</tool_call> Done.", "Done.", [OPEN], []),
    "cut behind the value": ("llama3", LLAMA[:-2], "", [OPEN], []),
    "cut in the value": (
        "chatml",
        f"See. <tool_call>{QWEN[:-5]}",
        "See.",
        [],
        ["A call of 'open_door' was cut short."],
    ),
    "cut in a number": (
        "chatml",
        '<tool_call>{"name": "give_item", "arguments": {"item": "ale", "count": 1',
        "",
        [],
        ["A call of 'give_item' was cut short."],
    ),
    "cut behind a value": ("chatml", f"<tool_call>{QWEN[:-2]}", "", [("open_door", {"door": "cellar"})], []),
    "arguments beside the name": (
        "generic",
        '{"tool": "open_door", "door": "cellar"}',
        "",
        [("open_door", {"door": "cellar"})],
        [],
    ),
    "call-shaped JSON in prose": (
        "llama3",
        'The config is {"name": "Mira", "parameters": {"age": 40}}.',
        'The config is {"name": "Mira", "parameters": {"age": 40}}.',
        [],
        [],
    ),
    "cut before the arguments": (
        "chatml",
        '<tool_call>{"name": "open_door", "argum',
        "",
        [],
        ["A call of 'open_door' was cut short."],
    ),
    "cut before what is required": (
        "chatml",
        '<tool_call>{"name": "open_door", "arguments": {',
        "",
        [],
        ["A call of 'open_door' was cut short."],
    ),
    "bare, cut in the name": (
        "llama3",
        '{"name": "open_d',
        "",
        [],
        ["A call of 'open_door' was cut short or is beyond repair."],
    ),
    "bare, cut at once": ("llama3", f'{LLAMA}\n{{"na', "", [OPEN], ["A call was cut short."]),
    "tag closed by another": ("chatml", f"<tool_call>{QWEN}</function_call>", "", [OPEN], []),
    "tag never closed": ("chatml", f"<tool_call>\n{QWEN}\nDone.", "Done.", [OPEN], []),
    "tag never opened": ("chatml", f"{QWEN}</tool_call>", "", [OPEN], []),
    # ---- arguments
    "arguments as text": (
        "chatml",
        '<tool_call>{"name": "open_door", "arguments": "{\\"door\\": \\"cellar\\"}"}</tool_call>',
        "",
        [OPEN],
        [],
    ),
    "arguments as near-JSON text": (
        "chatml",
        '<tool_call>{"name": "open_door", "arguments": "{\'door\': \'cellar\'}"}</tool_call>',
        "",
        [OPEN],
        [],
    ),
    "arguments as other text": (
        "chatml",
        '<tool_call>{"name": "open_door", "arguments": "cellar"}</tool_call>',
        "",
        [],
        ["The arguments of 'open_door' are no object but 'cellar'."],
    ),
    "arguments as a list": (
        "llama3",
        '{"name": "open_door", "parameters": ["cellar"]}',
        "",
        [],
        ["The arguments of 'open_door' are no object but a list."],
    ),
    "arguments as a number": (
        "chatml",
        '<tool_call>{"name": "wait", "arguments": 3}</tool_call>',
        "",
        [],
        ["The arguments of 'wait' are no object but 3."],
    ),
    "no arguments": ("chatml", '<tool_call>{"name": "wait"}</tool_call>', "", [WAIT], []),
    "arguments null": ("chatml", '<tool_call>{"name": "wait", "arguments": null}</tool_call>', "", [WAIT], []),
    "arguments empty text": ("chatml", '<tool_call>{"name": "wait", "arguments": ""}</tool_call>', "", [WAIT], []),
    "not finite": (
        "chatml",
        '<tool_call>{"name": "wait", "arguments": {"s": NaN}}</tool_call>',
        "",
        [],
        ["The arguments of 'wait' cannot be used: a number is not finite."],
    ),
    "too large": (
        "chatml",
        f'<tool_call>{{"name": "wait", "arguments": {{"s": {10**30}}}}}</tool_call>',
        "",
        [],
        ["The arguments of 'wait' cannot be used: a number is too large."],
    ),
    "half a character": (
        "chatml",
        '<tool_call>{"name": "wait", "arguments": {"s": "\\ud800"}}</tool_call>',
        "",
        [("wait", {"s": "?"})],
        [],
    ),
    "the definition": (
        "chatml",
        '<tools>{"name": "open_door", "parameters": {"type": "object", "properties": {}}}</tools>',
        "",
        [],
        ["The reply repeats the definition of 'open_door'."],
    ),
    # ---- names
    "unknown": (
        "chatml",
        'Up! <tool_call>{"name": "fly", "arguments": {}}</tool_call>',
        "Up!",
        [],
        ["'fly' is no listed tool."],
    ),
    "unknown and known": (
        "mistral",
        f'[TOOL_CALLS] [{{"name": "fly", "arguments": {{}}}}, {QWEN}]',
        "",
        [OPEN],
        ["'fly' is no listed tool."],
    ),
    "unknown, bare": ("generic", '{"tool": "fly", "args": {}}', "", [], ["'fly' is no listed tool."]),
    "other case": (
        "chatml",
        '<tool_call>{"name": "Open_Door", "arguments": {"door": "cellar"}}</tool_call>',
        "",
        [OPEN],
        [],
    ),
    "other dash": (
        "generic",
        '{"tool": "give_item", "args": {"item": "ale"}}',
        "",
        [("give-item", {"item": "ale"})],
        [],
    ),
    "no name": (
        "chatml",
        '<tool_call>{"arguments": {"door": "cellar"}}</tool_call>',
        "",
        [],
        ["A call names no tool."],
    ),
    "name is no text": (
        "chatml",
        '<tool_call>{"name": 3, "arguments": {}}</tool_call>',
        "",
        [],
        ["A call names no tool."],
    ),
    # ---- what is none at all
    "list in place of a call": (
        "chatml",
        "<tool_call>[1, 2]</tool_call>",
        "",
        [],
        ["A call is an object, not 1.", "A call is an object, not 2."],
    ),
    "words in a tag": (
        "chatml",
        "<tool_call>open the door</tool_call> Now.",
        "Now.",
        [],
        ["A call is no JSON: 'open the door'."],
    ),
    "empty tag": ("chatml", "Hm. <tool_call></tool_call>", "Hm.", [], ["A call is empty."]),
    "tag at the end": ("chatml", "Hm. <tool_call>", "Hm.", [], ["The reply begins a call and writes none."]),
    "tag, then prose": (
        "chatml",
        "<tool_call> I will do it.",
        "I will do it.",
        [],
        ["The reply begins a call and writes none."],
    ),
    "code behind llama's token": (
        "llama3",
        "Hm.<|python_tag|>open_door.call(door='x')",
        "Hm.",
        [],
        ["A call is no JSON: 'open_door.call(door='x')'."],
    ),
    "stray end": ("chatml", "Well</tool_call> then.", "Well then.", [], []),
    "result made up": ("chatml", "<tool_response>open</tool_response>", "open", [], []),
    # ---- thoughts and ends
    "thought before": ("chatml", f"<think>I must.</think><tool_call>{QWEN}</tool_call>", "", [OPEN], []),
    "call only thought of": ("chatml", f"<think><tool_call>{QWEN}</tool_call></think>No.", "No.", [], []),
    "thought that began in the prompt": ("chatml", f"<tool_call>{QWEN}</tool_call></think>No.", "No.", [], []),
    "thought without an end": ("chatml", f"Hm. <think>{QWEN}", "Hm.", [], []),
    "end of turn": ("chatml", f"Hm. <tool_call>{QWEN}</tool_call><|im_end|>\n<|im_start|>user", "Hm.", [OPEN], []),
    "end of turn inside a text": (
        "chatml",
        '<tool_call>{"name": "open_door", "arguments": {"door": "</s></tool_call>"}}</tool_call>',
        "",
        [("open_door", {"door": "</s></tool_call>"})],
        [],
    ),
    "marker made by what is taken out": (
        "chatml",
        f"<tool_<tool_call>{QWEN}</tool_call>call>",
        "<tool_ call>",
        [OPEN],
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_reply_is_taken_apart(name: str) -> None:
    format_name, raw, text, calls, ignored = CASES[name]
    parsed = parse_reply(raw, TOOLS, format_name)
    assert parsed.text == text
    assert [(call.tool, call.arguments) for call in parsed.calls] == calls
    assert list(parsed.ignored) == ignored


def test_a_name_that_fits_two_tools_fits_none() -> None:
    tools = [Tool("a-b", "", {}), Tool("a_b", "", {})]
    parsed = parse_reply('<tool_call>{"name": "A_B", "arguments": {}}</tool_call>', tools, "chatml")
    assert (parsed.calls, parsed.ignored) == ((), ("'A_B' is no listed tool.",))
    assert parse_reply('<tool_call>{"name": "a_b"}</tool_call>', tools, "chatml").calls == (Call("a_b", {}),)


def test_what_nests_too_deep_is_no_call() -> None:
    for depth in (MOST_DEPTH + 1, 5_000, 200_000):
        raw = '<tool_call>{"name": "wait", "arguments": {"a": ' + "[" * depth + "]" * depth + "}}</tool_call> Done."
        parsed = parse_reply(raw, TOOLS, "chatml")
        assert (parsed.text, parsed.calls) == ("Done.", ())
        assert "too deep" in parsed.ignored[0]


BITS = (
    *(
        "<tool_call>",
        "</tool_call>",
        "[TOOL_CALLS]",
        "<|python_tag|>",
        "<function=wait>",
        "<think>",
        "</think>",
        "```json\n",
    ),
    *(
        "```",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        ":",
        ",",
        "\\",
        '"name"',
        '"wait"',
        '"arguments"',
        '{"name": "wait", ',
        "tool",
    ),
    *(
        '"args": {}',
        QWEN,
        LLAMA,
        PLAIN,
        " ",
        "\n",
        "word",
        "<|im_end|>",
        "<tool_",
        "call>",
        "\u20ac",
        "\ud800",
        "NaN",
        "1e999",
    ),
)
MARKUP = re.compile("|".join(map(re.escape, (*TOOL_MARKERS, *END_MARKERS))), re.IGNORECASE)


@given(
    st.lists(st.sampled_from(BITS) | st.text(max_size=5), max_size=30).map("".join),
    st.sampled_from(["chatml", "llama3", "mistral", "generic"]),
)
@example('{"name": "wait", "args": {}, "x": "<tool_call>"}', "chatml")
def test_any_text_can_be_read_and_no_markup_is_left(text: str, format_name: ToolCallFormat) -> None:
    parsed = parse_reply(text, TOOLS, format_name)
    assert parsed == parse_reply(text, TOOLS, format_name)
    assert parsed.text == parsed.text.strip()
    assert not MARKUP.search(parsed.text)
    known = {tool.name for tool in TOOLS}
    for call in parsed.calls:
        assert call.tool in known
        json.dumps(call.arguments, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "soup",
    [
        "{",
        "}",
        "{ ",
        "[{",
        '{"name":',
        '{"name": "wait", "arguments": ',
        '{"name": "wait", ',
        "{'name': 'wait'} ",
        "{'name': 'wait', 'args': {}} ",
        "<tool_call>",
        "<tool_call>{",
        '<tool_call>{"a": 1',
        "<tool_call>```",
        "[TOOL_CALLS]a{",
        "<function=wait>{",
        "<think>",
        "</think>",
        "`",
        '{"name": "wait", "args": {}}',
        '{"name": "wait",}<tool_call>',
        '{"name": "wait", "args": {}}{"na',
        "<|python_tag|>x",
        " ",
        '\n{"id":',
        "<tool_",
        '{"name": "wait", "args": "{',
        "\\",
        '"',
    ],
)
def test_hostile_soup_takes_no_longer_than_its_length(soup: str) -> None:
    text = soup * (200_000 // len(soup))
    started = time.process_time()
    for format_name in ("chatml", "llama3"):
        parse_reply(text, TOOLS, format_name)
        parse_reply('<tool_call>{"name": "wait", "arguments": {"x": ' + text, TOOLS, format_name)
    assert time.process_time() - started < 2
