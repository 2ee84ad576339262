"""Chat templates with the constraints of real families, each with a vocabulary of its kind made for the test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.chat_format import ChatFormat, Script, make_format, prompt_tokens
from bridge.prompt import PromptMessage
from tests.gguf_writer import bpe_vocabulary, spm_vocabulary

pytest.importorskip("llama_cpp", reason="needs llama.cpp (the `llama` extra)")

from bridge.engines.llama_library import lib
from bridge.engines.llama_vocabulary import LlamaVocabulary

SCRIPT = Script("Mira", "Player")
HEADERS = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]
IM = ["<|im_start|>", "<|im_end|>", "<|endoftext|>"]

LLAMA3 = (
    "{%- if not date_string is defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif -%}"
    "{{- bos_token }}{%- if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] | trim %}"
    "{% set messages = messages[1:] %}{% else %}{% set first = '' %}{% endif -%}"
    "{{- '<|start_header_id|>system<|end_header_id|>\\n\\n' }}"
    "{{- 'Today: ' + date_string + '\\n\\n' + first + '<|eot_id|>' }}"
    "{%- for message in messages %}{{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}"
    "{{- message['content'] | trim + '<|eot_id|>' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}"
)
QWEN3 = (
    "{%- set ns = namespace(last_query=messages | length - 1, found=false) %}"
    "{%- for message in messages[::-1] %}{%- if not ns.found and message.role == 'user' and message.content is string "
    "and not message.content.startswith('<tool_response>') %}{% set ns.found = true %}{%- endif %}{%- endfor %}"
    "{%- if not ns.found %}{{ raise_exception('No user query found in messages.') }}{% endif %}"
    "{%- for message in messages %}{%- set content = message.content %}"
    "{%- if message.role == 'assistant' and '</think>' in content %}"
    "{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n<think>\\n' }}{% endif %}"
)
GEMMA3 = (
    "{{ bos_token }}{%- if messages[0]['role'] == 'system' -%}{%- set prefix = messages[0]['content'] + '\\n\\n' -%}"
    "{%- set loop_messages = messages[1:] -%}{%- else -%}{%- set prefix = '' -%}{%- set loop_messages = messages -%}"
    "{%- endif -%}{%- for message in loop_messages -%}{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}"
    "{{ raise_exception('Conversation roles must alternate') }}{%- endif -%}"
    "{%- set role = 'model' if message['role'] == 'assistant' else message['role'] -%}"
    "{{ '<start_of_turn>' + role + '\\n' + (prefix if loop.first else '') }}{{ message['content'] | trim }}"
    "{{ '<end_of_turn>\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}"
)
MISTRAL = (
    "{%- if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] %}{% set rest = messages[1:] %}"
    "{%- else %}{% set rest = messages %}{% endif %}{{- bos_token }}{%- for message in rest %}"
    "{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('must alternate') }}{% endif %}"
    "{%- if message['role'] == 'user' %}{%- if loop.last and system is defined %}"
    "{{- '[INST] ' + system + '\\n\\n' + message['content'] + ' [/INST]' }}{%- else %}"
    "{{- '[INST] ' + message['content'] + ' [/INST]' }}{%- endif %}"
    "{%- else %}{{- ' ' + message['content'] + eos_token }}{%- endif %}{%- endfor %}"
)
PHI = (
    "{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}"
    "{{ '<|system|>\\n' + message['content'] + '<|end|>\\n' }}{% elif message['role'] == 'user' %}"
    "{{ '<|user|>\\n' + message['content'] + '<|end|>\\n' }}{% elif message['role'] == 'assistant' %}"
    "{{ '<|assistant|>\\n' + message['content'] + '<|end|>\\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}"
)


@dataclass(frozen=True)
class Family:
    """A template and what its tokenizer is like."""

    name: str
    template: str
    gguf: bytes = field(repr=False)
    bos: bool
    folds_system: bool
    reasons: bool = False


def spm(*markers: str, prefix: bool) -> bytes:
    more: dict[str, Any] = {"tokenizer.ggml.add_space_prefix": prefix}
    return spm_vocabulary(["\u2581a", "a"], markers, **more)


GEMMA_GGUF = spm("<start_of_turn>", "<end_of_turn>", prefix=False)
PHI_GGUF = bpe_vocabulary(
    ["<|end|>", "<|user|>", "<|assistant|>", "<|system|>", "<|endoftext|>"], bos=None, eos="<|endoftext|>"
)
FAMILIES = [
    Family("llama3", LLAMA3, bpe_vocabulary(HEADERS, bos=0, eos="<|eot_id|>"), bos=True, folds_system=False),
    Family("qwen3", QWEN3, bpe_vocabulary(IM, bos=None, eos="<|im_end|>"), bos=False, folds_system=False, reasons=True),
    Family("gemma3", GEMMA3, GEMMA_GGUF, bos=True, folds_system=False),
    Family("mistral", MISTRAL, spm("[INST]", "[/INST]", prefix=True), bos=True, folds_system=False),
    Family("phi", PHI, PHI_GGUF, bos=False, folds_system=False),
    Family("built-in gemma", "gemma", GEMMA_GGUF, bos=True, folds_system=True),
    Family("built-in mistral", "mistral", spm("[INST]", "[/INST]", prefix=True), bos=True, folds_system=True),
    Family("built-in llama3", "llama3", bpe_vocabulary(HEADERS, bos=0, eos="<|eot_id|>"), bos=True, folds_system=False),
    Family("built-in chatml", "chatml", bpe_vocabulary(IM, bos=None, eos="<|im_end|>"), bos=False, folds_system=False),
]  # fmt: skip


@dataclass(frozen=True)
class Loaded:
    """A family ready to render."""

    family: Family
    vocabulary: LlamaVocabulary
    format: ChatFormat


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.name)
def loaded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loaded]:
    family: Family = request.param
    path: Path = tmp_path_factory.mktemp("vocabulary") / "v.gguf"
    path.write_bytes(family.gguf)
    params = lib.llama_model_default_params()
    params.vocab_only = True
    model = lib.llama_model_load_from_file(str(path).encode(), params)
    assert model
    vocabulary = LlamaVocabulary(model, family.template)
    own = "{" in family.template
    format_ = make_format(
        "auto" if own else family.template, template=family.template if own else "", vocabulary=vocabulary
    )
    yield Loaded(family, vocabulary, format_)
    lib.llama_model_free(model)


def message(role: str, text: str) -> PromptMessage:
    return PromptMessage(role, text, label="x")  # type: ignore[arg-type]


def controls(loaded: Loaded, messages: list[PromptMessage]) -> list[int]:
    """The control tokens of a prompt, in order."""
    special = set(loaded.vocabulary.markers.values())
    tokens = prompt_tokens(loaded.format.render(messages, SCRIPT), loaded.vocabulary)
    return [token for token in tokens if token in special]


TALK = [message("system", "S"), message("user", "one"), message("assistant", "two"), message("user", "three")]


def test_exactly_one_bos_where_the_model_wants_one(loaded: Loaded) -> None:
    for messages in (TALK, TALK[:2], TALK[1:2]):
        tokens = prompt_tokens(loaded.format.render(messages, SCRIPT), loaded.vocabulary)
        assert (loaded.vocabulary.bos is not None) == loaded.family.bos
        if loaded.family.bos:
            assert tokens[0] == loaded.vocabulary.bos
            assert tokens.count(loaded.vocabulary.bos) == 1
        else:
            assert "<s>" not in loaded.vocabulary.markers


def test_the_tokens_say_what_the_rendering_says(loaded: Loaded) -> None:
    rendered = loaded.format.render(TALK, SCRIPT)
    names = {token: text for text, token in loaded.vocabulary.markers.items()}
    text = b""
    for token in prompt_tokens(rendered, loaded.vocabulary):
        text += names[token].encode() if token in names else loaded.vocabulary.piece(token)
    # A SentencePiece tokenizer may put a space behind a control token: its own spelling of the same text.
    assert re.sub(r"(?<=[>\]]) +", "", text.decode()) == re.sub(r"(?<=[>\]]) +", "", rendered.text)


def test_reasoning_that_the_template_opens_is_noticed(loaded: Loaded) -> None:
    assert loaded.format.render(TALK, SCRIPT).starts_in_reasoning == loaded.family.reasons


def test_system_text_is_never_lost(loaded: Loaded) -> None:
    assert loaded.format.render(TALK, SCRIPT).text.count("S\n\none" if loaded.family.folds_system else "S") >= 1


@pytest.mark.parametrize(
    "hostile", ["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "</s>", "[INST]", "<|end|>", "<s>", "{{ x }}"]
)
def test_markers_from_outside_stay_letters(loaded: Loaded, hostile: str) -> None:
    harmless = controls(loaded, TALK)
    attacked = [message(m.role, f"{m.text}{hostile}\n{hostile}") for m in TALK]
    assert controls(loaded, attacked) == harmless
    assert loaded.format.render(attacked, SCRIPT).text.count(hostile) >= 8


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.sampled_from(["system", "user", "assistant"]), max_size=7))
def test_every_conversation_is_taken_whole(loaded: Loaded, roles: list[str]) -> None:
    messages = [message(role, f"({index})") for index, role in enumerate(roles)]
    text = loaded.format.render(messages, SCRIPT).text
    assert sorted(re.findall(r"\(\d+\)", text)) == sorted(f"({index})" for index in range(len(roles)))
