"""The contract between what speaks (nodes, turns) and what computes (engines): plain values and narrow protocols.

A `TextModel` is one loaded language model, shared by every agent. Its scheduler thread owns all sequences; the event
loop hands it `GenerateRequest`s and reads `Generation`s.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from bridge.answer_text import AnswerRules
from bridge.protocol import FinishReason

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Vectors: TypeAlias = "npt.NDArray[np.float32]"
"""Rows of vectors."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt that is tokenized by itself.

    `tokens` None: `text` is plain text; marker strings in it stay letters. Otherwise `tokens` are the exact ids that
    stand for `text`: a control token of the template, or what the model itself wrote earlier.
    """

    text: str
    tokens: tuple[int, ...] | None = None


class Vocabulary(Protocol):
    """A model's tokenizer. Threading: safe from any thread."""

    @property
    def markers(self) -> Mapping[str, int]:
        """Every control token that a chat template may write, by its text."""

    @property
    def bos(self) -> int | None:
        """The id that must begin a prompt; None where the model wants none."""

    @property
    def eos(self) -> int | None:
        """The id that templates write as `eos_token`; None where the model has none."""

    def tokenize(self, segments: Sequence[Segment]) -> list[int]:
        """Ids of a whole prompt. Never adds BOS by itself, never reads a marker in plain text."""

    def piece(self, token: int) -> bytes:
        """The bytes that a token shows as; empty for control tokens, except those that `AnswerText` looks for."""

    def is_end(self, token: int) -> bool:
        """Whether the token ends a reply."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn; the values are llama.cpp's. `seed` 0 = a random one, `temperature` 0 = greedy."""

    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Wrapping:
    """One way in which the part of a reply that a grammar rules may begin and end."""

    opening: str
    """The text before the value."""
    closing: str = ""
    """The text after it."""
    heads: tuple[str, ...] = ()
    """None: the grammar holds from `opening`, wherever in the reply that stands. Otherwise from `opening` and one of
    these, the first characters of the value, and only where the reply begins so (white space before it aside)."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """What a reply must look like once it has begun to look like that; until then nothing is ruled.

    From there to its end the reply is one wrapped JSON value, or several with white space between.
    """

    schema: Mapping[str, Any]
    """JSON Schema of a value; `tool_schema` says what of it can be expressed."""
    wrappings: tuple[Wrapping, ...]
    most: int = 1
    """How many values a reply may have."""
    one_line: bool = False
    """No line break stands in or between the values."""
    begun: tuple[int, ...] = ()
    """The last tokens of the prompt, where they count as the beginning of the reply."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several labels between which a model decides."""

    token: int
    """The token that stands for it."""
    description: str
    """What it means; only the mock engine reads it."""


@dataclass(frozen=True, slots=True)
class GenerateRequest:
    """One reply to be written, or one decision to be made."""

    sequence: str
    """Whose cache this prompt continues: one name per (agent, node)."""
    prompt: tuple[int, ...]
    max_tokens: int
    context_size: int
    """Cells that this sequence may use; prompt + reply never pass it."""
    sampling: Sampling
    answer: AnswerRules
    replay: int | None = None
    """How many tokens of `prompt` the sequence's next prompt will certainly begin with. None: all of them, and then the
    reply as far as its text shows it. A sequence that is parked meanwhile may be cut back to that: where it is too
    much, the next prompt is read anew; where it is too little, the rest of it is read again."""
    user_text: str = ""
    """The last user message as it stands in the prompt; only the mock engine reads it."""
    grammar: Grammar | None = None
    choices: tuple[Choice, ...] = ()
    """Not empty: nothing is written; `GenerationResult.scores` says how likely each one's token comes next."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one generation cost."""

    prompt_tokens: int
    cached_tokens: int
    """Prompt tokens that the sequence still held."""
    evaluated_tokens: int
    """Prompt tokens that the model had to read: prompt_tokens − cached_tokens."""
    generated_tokens: int
    ttft_ms: float
    """Milliseconds from the request to its first generated token."""
    tokens_per_s: float
    """Generated tokens a second after the first; 0 where there were fewer than two."""
    dropped: bool
    """The sequence was known but its cache had to be given up, so the prompt was read anew."""


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """How a generation ended."""

    text: str
    raw: str
    """All that was generated, before any rule of `AnswerRules`."""
    reasoning: str
    tokens: tuple[int, ...]
    """The generated ids, without the one that ended the reply."""
    finish: FinishReason
    usage: Usage
    scores: tuple[float, ...] = ()
    """The logit of every choice of the request, in its order."""


class Generation(Protocol):
    """A reply while it is written. Read on the event loop.

    Iterating yields visible text as it comes (never an empty string) and ends with the reply, a cancelled one too;
    it raises InferenceFailed (or the ParleyError that the engine gives). `result` is there once the iteration ended
    without an error; its text is all the yielded text joined. Whoever stops reading must cancel.
    """

    def __aiter__(self) -> AsyncIterator[str]: ...

    @property
    def result(self) -> GenerationResult: ...

    @property
    def steps(self) -> int:
        """Decodes that worked on this generation so far, prompt reading included: grows while it gets on."""

    @property
    def tokens_generated(self) -> int:
        """Tokens written so far."""

    def cancel(self) -> None:
        """Stop at the next step. Idempotent; safe after the end."""


CacheAction = Literal["Stats", "Park", "Drop"]


@dataclass(frozen=True, slots=True)
class CacheState:
    """What is kept for one sequence."""

    tokens: int
    bytes: int
    """In the context: of the cells that it fills. Parked: of the copy."""
    where: Literal["resident", "parked", "none"]


class TextModel(Protocol):
    """A loaded language model."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def trained_context(self) -> int:
        """Tokens of context the model was trained for."""

    @property
    def chat_template(self) -> str:
        """The Jinja template of the model file; empty where it has none."""

    def generate(self, request: GenerateRequest) -> Generation:
        """Queue a reply. Called on the event loop."""

    def forget(self, sequences: Sequence[str]) -> None:
        """Free what is kept for these sequences; running ones are cancelled."""

    async def manage_cache(self, sequence: str, action: CacheAction) -> CacheState:
        """Park or drop what is kept for a sequence, or just look, and say how it is then. A running one stays."""

    def status(self) -> EngineStatus:
        """What `ListModels` and `parley doctor` show."""

    def load(self) -> EngineLoad:
        """How much it has to do now. Called on the event loop; waits for nothing."""

    def close(self) -> None:
        """Stop the scheduler thread and free the model. Blocks until both are done; call it off the event loop."""


class EmbeddingModel(Protocol):
    """A loaded embedding model. Its work is done on a thread of its own, one batch after the other."""

    @property
    def dimension(self) -> int:
        """Numbers of one vector."""

    @property
    def max_tokens(self) -> int:
        """Tokens of the window; a longer text is cut there."""

    async def embed(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> tuple[Vectors, list[bool]]:
        """Unit vectors, float32 of shape (len(texts), dimension), and of each text whether it was cut at the window.

        A blank text, and one whose vector is no number, has a row of zeros. `progress(done, total)` is called on the
        event loop. Cancelling stops behind the running batch. Raises InferenceFailed.
        """

    def status(self) -> EngineStatus:
        """What `ListModels` and `parley doctor` show."""

    def load(self) -> EngineLoad:
        """How much it has to do now. Called on the event loop; waits for nothing."""

    def close(self) -> None:
        """Stop the thread and free the model. Blocks until both are done; call it off the event loop."""


class SpeechModel(Protocol):
    """A loaded voice, shared by every agent. Its work is done on a thread of its own."""

    @property
    def sample_rate(self) -> int:
        """Samples a second."""

    @property
    def speakers(self) -> Sequence[str]:
        """Names of those it can speak as, at least one; the index is the `speaker_id`."""

    def speak(self, text: str, *, speaker_id: int = 0, speed: float = 1.0) -> AsyncGenerator[bytes, None]:
        """The sound of a text, piece by piece as it is made: mono, signed 16 bits, little end first; none is empty.

        Read on the event loop. Whoever stops reading must `aclose` it: the work ends at the next piece. It goes no more
        than a few pieces ahead of its reader, and one that does not read holds up nobody else. Raises SpeechFailed.
        """

    def status(self) -> EngineStatus:
        """What `ListModels` and `parley doctor` show."""

    def load(self) -> EngineLoad:
        """How much it has to do now. Called on the event loop; waits for nothing."""

    def close(self) -> None:
        """Stop the thread and free the voice. Blocks until both are done; call it off the event loop."""


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """Where a loaded model runs and what it holds."""

    backend: str
    layers_offloaded: int = 0
    bytes_in_memory: int = 0
    residents: int = 0
    """Sequences in the model's context."""
    parked: int = 0
    """Sequences in host memory."""
    bytes_parked: int = 0
    notes: tuple[str, ...] = field(default=())
    """Plain sentences about fallbacks, such as a GPU that is not used."""


class EngineLoad(NamedTuple):
    """What an engine has to do: replies, or texts to embed. Three looks at another thread's work, not one."""

    waiting: int = 0
    """Not begun."""
    reading: int = 0
    """Replies whose prompt is read."""
    running: int = 0
    """Replies that are written, or texts that are embedded."""
