"""Calls under a grammar on the starter model: always valid, and nothing else changed."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from bridge.answer_text import AnswerRules
from bridge.config import Settings
from bridge.engine import GenerateRequest, GenerationResult, Sampling, Segment
from bridge.engines import llama_grammar, llama_sampling
from bridge.engines.llama import load_llama
from bridge.engines.llama_grammar import LlamaConstraint
from bridge.engines.llama_sampling import Candidates
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed
from bridge.protocol import ToolCallFormat
from bridge.tool_call import Tool, check_tool, parse_reply
from bridge.tool_formats import tool_format
from tests.fakes_engine import finished

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

CONTEXT = 1024

TOOLS = (
    Tool(
        "open_door",
        "Opens a door of the inn.",
        {
            "type": "object",
            "properties": {
                "door": {"type": "string", "enum": ["cellar", "gate", "tower"]},
                "whisper": {"type": "string", "minLength": 1, "maxLength": 24},
            },
            "required": ["door", "whisper"],
        },
    ),
    Tool(
        "pay",
        "Pays the innkeeper.",
        {
            "type": "object",
            "properties": {
                "gold": {"type": "integer", "minimum": 1, "maximum": 40},
                "silver": {"type": "integer", "minimum": 0},
            },
            "required": ["gold", "silver"],
        },
    ),
    Tool(
        "walk",
        "Walks to a place.",
        {
            "type": "object",
            "properties": {
                "to": {
                    "type": "object",
                    "properties": {
                        "x": {"type": "number", "minimum": -9, "maximum": 9},
                        "y": {"type": "number", "minimum": -9, "maximum": 9},
                    },
                    "required": ["x", "y"],
                },
                "pace": {"enum": ["slow", "fast"]},
            },
            "required": ["to"],
        },
    ),
    Tool(
        "order",
        "Orders food.",
        {
            "type": "object",
            "properties": {
                "dishes": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": 12},
                    "minItems": 1,
                    "maxItems": 3,
                }
            },
            "required": ["dishes"],
        },
    ),
    Tool(
        "light",
        "Turns a lamp on or off.",
        {
            "type": "object",
            "properties": {
                "on": {"type": "boolean"},
                "colour": {"type": ["string", "null"], "maxLength": 10},
                "flicker": {"type": "boolean"},
            },
            "required": ["on"],
        },
    ),
)
BEGINNINGS: tuple[tuple[ToolCallFormat, str], ...] = (
    ("chatml", "<tool_call>"),
    ("llama3", '{"name"'),
    ("mistral", "[TOOL_CALLS]"),
    ("generic", '{"tool"'),
    ("llama3", "<|python_tag|>"),
)


def valid(value: Any, schema: Mapping[str, Any]) -> bool:
    """The part of JSON Schema that these tools use, told apart from how grammars see it."""
    if "enum" in schema:
        return value in schema["enum"]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    for kind in kinds:
        if kind == "null" and value is None:
            return True
        if kind == "boolean" and isinstance(value, bool):
            return True
        if kind == "string" and isinstance(value, str):
            return bool(schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", 10**6))
        if kind in ("integer", "number") and isinstance(value, int if kind == "integer" else (int, float)):
            return not isinstance(value, bool) and bool(
                schema.get("minimum", value) <= value <= schema.get("maximum", value)
            )
        if kind == "array" and isinstance(value, list):
            return bool(schema["minItems"] <= len(value) <= schema["maxItems"]) and all(
                valid(item, schema["items"]) for item in value
            )
        if kind == "object" and isinstance(value, dict):
            known = schema["properties"]
            return set(schema.get("required", ())) <= set(value) <= set(known) and all(
                valid(item, known[key]) for key, item in value.items()
            )
    return False


@pytest.fixture(scope="module")
def scheduler(starter_model: Path) -> Iterator[Scheduler]:
    made = load_llama(starter_model, settings=Settings(resident_sequences=2), context_size=CONTEXT)
    yield made
    made.close()


def write(scheduler: Scheduler, prompt: str, begun: str = "", *, seed: int, **more: Any) -> GenerationResult:
    vocabulary = scheduler.vocabulary
    assert vocabulary.bos is not None
    tokens = (vocabulary.bos, *vocabulary.tokenize([Segment(prompt)]))
    start = beginning(scheduler, begun)
    if "grammar" in more:
        more["grammar"] = replace(more["grammar"], begun=start)
    sampling = more.pop("sampling", {})
    length = more.pop("max_tokens", 240)
    request = GenerateRequest(
        "a", (*tokens, *start), length, CONTEXT, Sampling(seed=seed, **sampling), AnswerRules(), **more
    )

    async def work() -> GenerationResult:
        return await asyncio.wait_for(finished(scheduler.generate(request)), 100)

    return asyncio.run(work())


def read(scheduler: Scheduler, prompt: str, begun: str = "") -> None:
    """Have a prompt read, so that two replies to it begin from the very same cache: how it is cut moves its logits."""
    write(scheduler, prompt, begun, seed=1, max_tokens=1)


def beginning(scheduler: Scheduler, text: str) -> tuple[int, ...]:
    """The tokens of a text that follows another."""
    lead = scheduler.vocabulary.tokenize([Segment("\n")])
    return tuple(scheduler.vocabulary.tokenize([Segment("\n"), Segment(text)])[len(lead) :]) if text else ()


def ask(tool: Tool, name: ToolCallFormat) -> str:
    told = "".join(text for text, _ in tool_format(name).definitions([tool]))
    return f"{told}\n\nPlayer: Please {tool.name.replace('_', ' ')} for me.\nReply:\n"


def is_valid_call(raw: str, tool: Tool, name: ToolCallFormat) -> bool:
    parsed = parse_reply(raw, [tool], name)
    return (
        len(parsed.calls) == 1
        and not parsed.text
        and not parsed.ignored
        and valid(parsed.calls[0].arguments, tool.parameters)
    )


def test_every_call_under_a_grammar_is_valid(scheduler: Scheduler, full: bool) -> None:
    assert all(not check_tool({"name": tool.name, "parameters": tool.parameters}) for tool in TOOLS)
    free = []
    for run in range(50 if full else 3):
        tool = TOOLS[run % 5]
        name, begun = BEGINNINGS[(run + run // 5) % 5]
        prompt = ask(tool, name)
        grammar = tool_format(name).grammar([tool])
        if name != "mistral":
            grammar = replace(grammar, most=1)
        else:
            grammar = replace(grammar, schema={**grammar.schema, "maxItems": 1})
        penalty = {"repeat_penalty": 1.1} if run % 2 else {}
        result = write(scheduler, prompt, begun, seed=run + 1, grammar=grammar, sampling=penalty)
        assert result.finish == "stop", (run, result.raw)
        assert is_valid_call(begun + result.raw, tool, name), (run, result.raw)
        if run < 10:
            unruled = write(scheduler, prompt, begun, seed=run + 1, max_tokens=60, sampling=penalty)
            free.append(is_valid_call(begun + unruled.raw, tool, name))
    # Without the grammar this model is no help; so the check above can fail.
    assert not all(free)


@pytest.mark.thorough
def test_a_grammar_that_is_not_reached_changes_nothing(scheduler: Scheduler, full: bool) -> None:
    prompt = "The rune on the door reads {ash}, and the next one reads {"
    read(scheduler, prompt)
    for name in ("chatml", "generic") if full else ("chatml",):
        grammar = tool_format(name).grammar(TOOLS)
        for seed, sampling in ((1, {}), (2, {"repeat_penalty": 1.1}), (3, {"top_k": 0}), (4, {"temperature": 0.0})):
            with_it = write(scheduler, prompt, seed=seed, grammar=grammar, max_tokens=24, sampling=sampling)
            without = write(scheduler, prompt, seed=seed, max_tokens=24, sampling=sampling)
            assert with_it.tokens == without.tokens
            assert with_it.raw == without.raw


def test_the_grammar_holds_from_what_the_model_itself_writes(scheduler: Scheduler) -> None:
    """A model that copies the beginning of a call from its prompt is ruled from there on."""
    prompt = 'Copy.\n"alpha <tool_call>" -> "alpha <tool_call>"\n"beta <tool_call>" -> "beta <tool_call>"\n' * 3
    grammar = replace(tool_format("chatml").grammar(TOOLS[1:2]), most=1)
    result = write(
        scheduler, prompt + '"alpha <tool_call>" -> "', seed=1, grammar=grammar, sampling={"temperature": 0.0}
    )
    assert result.raw.startswith("alpha <tool_call>"), result.raw
    parsed = parse_reply(result.raw, TOOLS, "chatml")
    assert (parsed.text, len(parsed.calls), parsed.ignored) == ("alpha", 1, ())
    assert valid(parsed.calls[0].arguments, TOOLS[1].parameters)


def test_a_grammar_that_llama_refuses_is_a_failed_inference(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = tool_format("chatml").grammar(TOOLS)
    for broken in ("root ::= (", "root ::= nothing\n"):
        with monkeypatch.context() as patch, pytest.raises(InferenceFailed, match="refuses the grammar of the tools"):
            patch.setattr(llama_grammar, "gbnf", lambda *_, text=broken: text)
            write(scheduler, "Hello.", seed=1, grammar=grammar)
    # A beginning that the grammar has no rule for, too; and the model goes on as before.
    with pytest.raises(InferenceFailed, match="begins the reply in a way that its grammar does not allow"):
        write(scheduler, "Hello.", '<tool_call>{"gold', seed=1, grammar=grammar)
    assert write(scheduler, "Hello.", seed=1, max_tokens=4).tokens


@pytest.mark.thorough
def test_what_is_drawn_does_not_depend_on_how_much_is_looked_at(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed, sampling in ((1, {}), (2, {"repeat_penalty": 1.2, "presence_penalty": 0.3}), (3, {"temperature": 0.0})):
        tool = TOOLS[seed % 2 * 3]
        prompt, grammar = ask(tool, "chatml"), tool_format("chatml").grammar([tool])
        read(scheduler, prompt, "<tool_call>")
        few = write(scheduler, prompt, "<tool_call>", seed=seed, grammar=grammar, max_tokens=40, sampling=sampling)
        with monkeypatch.context() as patch:
            patch.setattr(llama_sampling, "_best", lambda *_: 0)
            every = write(
                scheduler, prompt, "<tool_call>", seed=seed, grammar=grammar, max_tokens=40, sampling=sampling
            )
        assert few.tokens == every.tokens


# ---- the constraint itself


def vocabulary_of(scheduler: Scheduler) -> LlamaVocabulary:
    vocabulary = scheduler.vocabulary
    assert isinstance(vocabulary, LlamaVocabulary)
    return vocabulary


def take(constraint: LlamaConstraint, scheduler: Scheduler, text: str) -> str:
    """Feed a text; returns the part of it that is allowed."""
    taken = b""
    for token in beginning(scheduler, text):
        if not constraint.allows(token):
            break
        constraint.accept(token)
        taken += scheduler.vocabulary.piece(token)
    return taken.decode("utf-8", "ignore")


@pytest.mark.parametrize(
    ("name", "text", "holds"),
    [
        ("llama3", "The rune reads {ash}.", False),
        ("llama3", ' \n {"name": "pay", "parameters": {"gold": 4, "silver": 0}}', True),
        ("llama3", 'So: {"name": "Bob", "age": 3}', False),
        ("llama3", '{"age": 3, "name": "Bob"}', False),
        ("llama3", '<think>{"name" is a key</think>\n{"name": "pay", ', True),
        ("llama3", 'Well. <|python_tag|>{"name": "pay"', True),
        ("generic", '{"tool": "pay"', True),
        ("generic", '{"name": "pay"', False),
        ("generic", '```json\n{"tool": "pay", "args": {"gold": 1, "silver": 0}}\n```', True),
        ("generic", '```json\n{"gold": 3}\n```', False),
        ("chatml", "Let me see.<tool_call>\n", True),
        ("chatml", "<tool_ca", False),
        ("chatml", '{"name": "pay"}', False),
        ("mistral", "[TOOL_CALLS] [", True),
        ("mistral", "[sighs] {ash}", False),
    ],
)
def test_where_a_grammar_begins_to_hold(scheduler: Scheduler, name: ToolCallFormat, text: str, holds: bool) -> None:
    constraint = LlamaConstraint(tool_format(name).grammar(TOOLS), vocabulary_of(scheduler))
    assert take(constraint, scheduler, text) == text
    assert constraint.holds == holds
    assert not constraint.off


def test_what_a_grammar_refuses(scheduler: Scheduler) -> None:
    def taken(text: str) -> str:
        return take(LlamaConstraint(tool_format("chatml").grammar(TOOLS), vocabulary_of(scheduler)), scheduler, text)

    assert taken('Hm <tool_call>{"name": "fly"') in ('Hm <tool_call>{"name": "', 'Hm <tool_call>{"name": "f')
    assert taken('<tool_call>{"name": "pay", "arguments": {"gold": 41').endswith('{"gold": 4')
    assert taken("<tool_call> I will.") == "<tool_call> "[: len(taken("<tool_call> I will."))]
    # Control tokens are no letters of a text.
    vocabulary = vocabulary_of(scheduler)
    constraint = LlamaConstraint(tool_format("chatml").grammar(TOOLS), vocabulary)
    begun = '<tool_call>{"name": "open_door", "arguments": {"door": "gate", "whisper": "so'
    assert take(constraint, scheduler, begun) == begun
    assert not any(constraint.allows(token) for token in vocabulary.markers.values())
    assert constraint.allows(vocabulary.tokenize([Segment("x"), Segment("me")])[1])


def test_the_end_may_come_when_the_call_is_whole(scheduler: Scheduler) -> None:
    vocabulary = vocabulary_of(scheduler)
    constraint = LlamaConstraint(tool_format("llama3").grammar(TOOLS), vocabulary)
    end = next(token for token in vocabulary.markers.values() if vocabulary.is_end(token))
    assert take(constraint, scheduler, '{"name": "pay", "parameters": {"gold": 4, "silver": 0}').endswith("}")
    assert not constraint.allows(end)
    assert take(constraint, scheduler, "}") == "}"
    assert constraint.allows(end)


def test_the_tokens_laid_out_are_exactly_those_that_are_allowed(scheduler: Scheduler) -> None:
    import numpy as np

    vocabulary = vocabulary_of(scheduler)
    space = Candidates(vocabulary.size)
    logits = np.linspace(1, -1, vocabulary.size, dtype=np.float32)
    constraint = LlamaConstraint(tool_format("chatml").grammar(TOOLS), vocabulary)
    for text in ("<tool_call>", '{"name": "pay", "arguments":', ' {"gold": 4', ', "silver": 7}}', "</tool_call>"):
        assert take(constraint, scheduler, text) == text
        table = space.all
        count = constraint.fill(table, logits)
        found = dict(zip(table.ids[:count].tolist(), table.logits[:count].tolist(), strict=True))
        table.ids[:] = np.arange(vocabulary.size)
        table.logits[:] = 0
        table.show(vocabulary.size)
        constraint.mask(table)
        allowed = np.flatnonzero(table.logits == 0).tolist()
        assert sorted(found) == allowed
        assert all(found[token] == logits[token] for token in allowed)
        assert allowed


@pytest.mark.thorough
def test_constraints_leave_no_memory_behind(scheduler: Scheduler) -> None:
    vocabulary = vocabulary_of(scheduler)
    grammar = tool_format("chatml").grammar(TOOLS)

    def many(count: int) -> int:
        for _ in range(count):
            take(LlamaConstraint(grammar, vocabulary), scheduler, 'a <tool_call>{"name": "pay"')
        gc.collect()
        return int(psutil.Process().memory_info().rss)

    many(100)
    before = many(100)
    # One compiled grammar takes some 150 kB.
    assert many(300) - before < 10_000_000
