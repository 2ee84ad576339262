"""What a node type is: its parameters, what it sees of its turn, and the registry of all types.

A node type is one class in one file. Its fields are its parameters, declared with `param`; fields named
`<exit>_exit` are its exits; `run` does the work and returns the name of an exit. Installed packages add types
through the entry-point group `parley.nodes`, each naming a Node class.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.fields import FieldInfo

from bridge.authoring import NodeKind
from bridge.classify import Label
from bridge.errors import ParleyError
from bridge.protocol import HistoryRole, Send, Severity, StorageKind, ToolCallFormat
from bridge.storage import StringStorage
from bridge.template import Template
from bridge.wording import words_of

if TYPE_CHECKING:
    from bridge.filter import Filter, Schema
    from bridge.retrieval import Hit
    from bridge.tool_call import Call, ParsedReply, Tool

ENTRY_POINT_GROUP = "parley.nodes"
Placement = Literal["InPlaceOfUser", "BeforeUserAsUser", "BeforeUserAsSystem", "AfterUserAsUser", "AfterUserAsSystem"]


class Kind(str, Enum):
    """What a parameter means to the compiler and to the editors' pickers."""

    PLAIN = "plain"
    TEXT = "text"  # several lines
    TEMPLATE = "template"  # several lines with Mustache tags
    REGEX_LIST = "regex_list"
    STRING_STORAGE = "string_storage"  # a file under the storage folder, or a storage made by name
    EMBEDDED_STORAGE = "embedded_storage"
    FILTER = "filter"  # a tree of conditions on the fields of an embedded storage
    MODEL = "model"
    VOICE = "voice"
    FILE = "file"
    SLOT_INPUT = "slot_input"
    SLOT_OUTPUT = "slot_output"
    NAME = "name"
    VARIABLE = "variable"  # a variable that the workflow declares
    EXIT = "exit"


def param(default: Any, meaning: str, *, kind: Kind = Kind.PLAIN, structural: bool = False, **bounds: Any) -> Any:
    """Declare a parameter: default, meaning (tooltip, docs), kind, and whether it is fixed when the agent is made.

    Bounds are pydantic's (`ge`, `le`, `max_length`, …). Mutable defaults are copied per node.
    """
    extra: dict[str, Any] = {"kind": kind.value, "structural": structural or kind is Kind.EXIT}
    if isinstance(default, (list, dict)):
        return Field(
            default_factory=lambda: type(default)(default),
            description=meaning,
            json_schema_extra=extra,
            **bounds,
        )
    return Field(default=default, description=meaning, json_schema_extra=extra, **bounds)


def exit_param(meaning: str) -> Any:
    """Declare an exit; the field's name must end in `_exit`."""
    return param("", f"Next node when {meaning}; empty: the turn ends.", kind=Kind.EXIT)


class TurnView(Protocol):
    """What a node may see and do while it runs. One node runs at a time, so nothing in here is shared."""

    @property
    def user_message(self) -> str:
        """The player's line exactly as typed."""

    def slot(self, name: str) -> str:
        """The text of a slot; empty where it was not written this turn."""

    def read_input(self, name: str) -> str:
        """The text of a node's `input`: the slot, or the player's line when `name` is empty. Noted in diagnostics."""

    def variable(self, name: str) -> bool | int | float | str | frozenset[str]:
        """A variable of the game, as it was when the turn started."""

    def render(self, field: str) -> str:
        """The rendering of this node's template parameter `field`. Raises ValueError where it is none."""

    def pick(self, count: int, selection: Literal["RoundRobin", "First", "Random"]) -> int:
        """An index below `count`; round robin goes on where this node's last turn stopped."""

    async def generate(self) -> str:
        """Let the model of a ReplyNode answer; streams, records and replays it as the node says. Returns the text."""

    def speak_along(self) -> None:
        """Let the voice of a VoiceNode say what this step's `generate` writes, while it is written."""

    def speak(self, text: str) -> None:
        """Let the voice of a VoiceNode say `text`. Returns at once; the turn ends when all is said."""

    async def write(self, text: str, *, spoken: bool = True) -> None:
        """Write `text` to this node's slot; sent and replayed as the node says (not at all for types that can't).

        `spoken` False: neither sent nor replayed, whatever the node says.
        """

    async def summarize(self, trigger_tokens: int, keep_recent_turns: int) -> None:
        """Let a ModelNode's model write a new summary of the dialog where the turns without one ask for it."""

    async def choose(
        self,
        labels: Sequence[Label],
        *,
        input_name: str,
        task: str,
        question: str = "",
        reminder: str = "",
        history_turns: int,
    ) -> list[float]:
        """Let a ModelNode's model decide between at most 26 labels; the probability of each.

        `task` ends the system message, `question` stands behind the text of the input, as does `reminder`,
        except in scripts, whose examples already show how the answers go. No text is generated.
        """

    async def ask_for_calls(
        self, tools: Sequence[Tool], format_name: ToolCallFormat | Literal[""], *, constrain: bool
    ) -> ParsedReply:
        """Let a ModelNode's model read the tools' definitions and answer: which calls it makes, what it says beside.

        `format_name` empty: the model's own, else chatml.
        """

    async def call_tools(
        self,
        calls: Sequence[Call],
        format_name: ToolCallFormat | Literal[""],
        *,
        notify: bool,
        wait_s: float,
        keep: bool,
    ) -> list[str]:
        """Hand calls to the client and wait for their results; those that came in time, in call order.

        `keep`: later prompts carry each call that has a result, and the result.
        """

    async def search(self, storage: str, text: str, *, top_k: int, threshold: float, only: Filter | None) -> list[Hit]:
        """What an embedded storage has that is nearest to `text`, nearest first. `threshold` 0: however far."""

    @property
    def intent(self) -> str:
        """The intent that was found last this turn; empty where none was."""

    def set_intent(self, intent: str) -> None:
        """Let `{{intent}}` and later nodes know an intent; empty: none was found."""

    def set_attribute(self, name: str, label: str) -> None:
        """Let `{{attribute.<name>}}` know a label; empty: none was found."""

    def add_knowledge(self, source: str, hits: Sequence[Hit]) -> None:
        """Put what a search found under a source's name; what the source brought before is replaced."""

    def notify(self, event: str, data: Mapping[str, Any]) -> None:
        """Tell the client of something beside speech."""

    def add_instruction(self, name: str, text: str) -> None:
        """Put an instruction in force for the rest of the turn."""

    def spend(self, work: int, most: int, what: str) -> None:
        """Count heavy work of this node's type. Raises LimitExceeded, naming `what`, beyond `most` in one turn."""

    def detail(self, **values: Any) -> None:
        """Add facts to this step's diagnostics."""

    def warn(self, message: str) -> None:
        """Say something a developer should know; the turn goes on."""


class Checks(Protocol):
    """What a node's `prepare` may ask and report while the workflow is compiled."""

    def problem(
        self,
        message: str,
        *,
        field: str,
        severity: Severity = "error",
        error: type[ParleyError] | None = None,
        index: int | None = None,
        inside: str = "",
    ) -> None:
        """Report a finding about one of this node's parameters (or its `index`-th entry, or a path `inside` that)."""

    def strings(
        self,
        storage: str,
        inline: Sequence[str],
        default: str,
        *,
        keys: Sequence[str] = (),
        kind: StorageKind | None = None,
    ) -> StringStorage | None:
        """A node's string storage: the named one, else the inline texts (and keys), else the packaged file `default`.

        A missing or unreadable storage, and one of another kind, is reported here; the answer is then None.
        """

    def knowledge(self, storage: str, *, field: str) -> Schema | None:
        """The metadata fields of an embedded storage; None where it cannot be used, which is reported here."""

    def values(self, storage: str, field: str) -> frozenset[str] | None:
        """What the records of an embedded storage have in a field of type string (empty: their ids); None: not known.

        What cannot be read is not reported; that is `knowledge`'s part.
        """

    def filter(self, raw: Mapping[str, Any], schema: Schema, *, field: str) -> Filter | None:
        """A filter that is ready to be used; None for an empty one, and for a wrong one, which is reported here."""

    @property
    def prompt_budgets(self) -> Sequence[int]:
        """context_size - max_tokens of every node that answers, as far as it is known before models are loaded."""


class Node(BaseModel, ABC):
    """One step of a workflow: parameters as fields, behaviour in `run`. Immutable but for what `prepare` compiles."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    type_name: ClassVar[str] = ""
    """The `type` in workflow files; the class's name unless set."""
    tag_family: ClassVar[str] = ""
    """Prefix of the template tag that this node's name makes readable, such as `instruction_`."""
    tag_name_field: ClassVar[str] = ""
    """The parameter that gives that name when it is not empty."""
    offers: ClassVar[Mapping[str, str]] = {}
    """Other template tags that the type fills, each with what it stands for."""
    events: ClassVar[Mapping[str, str]] = {}
    """The NodeEvents that the type pushes, each with what its data holds."""

    name: str = param("", "The node's name; other nodes and the game know it by this.", kind=Kind.NAME, structural=True)

    _templates: dict[str, Template] = PrivateAttr(default_factory=dict)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "type_name" not in cls.__dict__:
            cls.type_name = cls.__name__

    @abstractmethod
    async def run(self, turn: TurnView) -> str:
        """Do this node's step and return the name of the exit to take, such as `default`."""

    def prepare(self, checks: Checks) -> None:
        """Compile what the parameters hold and report what cannot work. Called once, before the first turn."""

    @property
    def templates(self) -> dict[str, Template]:
        """The compiled template parameters by field; filled by the workflow compiler."""
        return self._templates

    @property
    def gives_attributes(self) -> Sequence[str]:
        """The names that this node makes readable as `{{attribute.<name>}}`."""
        return ()

    @property
    def gives_intents(self) -> Collection[str] | None:
        """The intents that this node may set; None: any. By itself a type sets some if `offers` has `{{intent}}`."""
        return None if "{{intent}}" in self.offers else ()

    @property
    def reads_intents(self) -> Collection[str]:
        """The intents that this node has something for; one that no node sets is a finding."""
        return ()

    @classmethod
    def exit_fields(cls) -> dict[str, str]:
        """Exit name → field name, in declaration order."""
        return {name[: -len("_exit")]: name for name in cls.model_fields if name.endswith("_exit")}

    @classmethod
    def fields_of(cls, kind: Kind) -> list[str]:
        """The parameters of one kind, in declaration order."""
        return [name for name, info in cls.model_fields.items() if field_kind(info) is kind]

    @classmethod
    def produces(cls) -> bool:
        """Whether the type writes a slot."""
        return bool(cls.fields_of(Kind.SLOT_OUTPUT))

    @property
    def slot_name(self) -> str:
        """The slot that this node writes; empty where the type writes none."""
        for field in type(self).fields_of(Kind.SLOT_OUTPUT):
            return str(getattr(self, field)) or self.name
        return ""


def field_kind(info: FieldInfo) -> Kind:
    """The kind a parameter was declared with."""
    extra = info.json_schema_extra
    return Kind(str(extra.get("kind", "plain"))) if isinstance(extra, dict) else Kind.PLAIN


def is_structural(info: FieldInfo) -> bool:
    """Whether a parameter is fixed when the agent is created."""
    extra = info.json_schema_extra
    return bool(extra.get("structural")) if isinstance(extra, dict) else False


class SamplingParams(BaseModel):
    """Sampling of one node; what is left out comes from the catalog."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    temperature: float | None = Field(default=None, ge=0, le=10, description="0 = always the likeliest token.")
    top_k: int | None = Field(default=None, ge=0, le=1_000_000, description="0 = off.")
    top_p: float | None = Field(default=None, ge=0, le=1, description="1 = off.")
    min_p: float | None = Field(default=None, ge=0, le=1, description="0 = off.")
    repeat_penalty: float | None = Field(default=None, gt=0, le=10, description="1 = off.")
    presence_penalty: float | None = Field(default=None, ge=-10, le=10, description="0 = off.")
    frequency_penalty: float | None = Field(default=None, ge=-10, le=10, description="0 = off.")
    seed: int | None = Field(default=None, ge=0, le=2**32 - 1, description="0 = a random one each time.")


class Example(BaseModel):
    """One line of an example script."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    speaker: str = Field(min_length=1, max_length=200, description="The label before the colon.")
    text: str = Field(max_length=4000, description="What is said.")


class ModelNode(Node):
    """The parameters that every node with a language model has."""

    chooses: ClassVar[bool] = False
    """The type uses `TurnView.choose`; its model must have a token for each letter."""

    model: str = param(
        "", "Model of the catalog; empty: the workflow's default_model.", kind=Kind.MODEL, structural=True
    )
    context_size: int = param(0, "Tokens of the window; 0: the model's own.", structural=True, ge=0, le=2**20)
    max_tokens: int = param(256, "Longest reply, in tokens.", structural=True, ge=1, le=2**20)
    system_prompt: str = param("", "Who the model is; kept byte for byte at the start of the prompt.", kind=Kind.TEXT)
    sampling: SamplingParams = param(SamplingParams(), "How tokens are drawn; unset fields come from the catalog.")
    stop: list[Annotated[str, Field(max_length=256)]] = param(
        [], "Strings that end the reply; they are not shown.", max_length=64
    )
    examples: list[Example] = param([], "Example lines before the conversation (transcript format).", max_length=256)


class SpeakingNode(Node):
    """The parameters of nodes whose text may be sent and replayed. Subclasses set their own defaults."""

    output_name: str = param("", "Slot to write; empty: the node's name.", kind=Kind.SLOT_OUTPUT, structural=True)
    send: Send = param("None", "What the client sees.")
    history_role: HistoryRole = param("None", "How later prompts replay the text.")
    history_name: str = param(
        "", "Prefix of the replayed text, so that small models tell speakers apart.", max_length=200
    )


class ReplyNode(SpeakingNode, ModelNode):
    """The parameters of nodes whose model writes a reply; `TurnView.generate` does the work."""

    input: str = param("", "Slot that becomes the user message; empty: the player's line.", kind=Kind.SLOT_INPUT)
    template: str = param("", "Mustache text for the user message.", kind=Kind.TEMPLATE)
    placement: Placement = param("InPlaceOfUser", "Where the rendered template stands.")
    send: Send = param("Streamed", "What the client sees.")
    history_role: HistoryRole = param("Assistant", "How later prompts replay the text.")
    strip_reasoning: bool = param(True, "Keep <think>…</think> and kin out of the answer; diagnostics show it.")


class VoiceNode(Node):
    """The parameters of nodes that are heard."""

    voice: str = param("", "Voice of the catalog; required.", kind=Kind.VOICE, structural=True)
    speaker_id: int = param(0, "Which of the voice's speakers, from 0.", ge=0, le=100_000)
    speed: float = param(1.0, "1.0: as the voice speaks by itself; 2.0: twice as fast.", ge=0.1, le=3.0)
    min_sentence_chars: int = param(
        12, "A sentence with fewer characters is said together with the next one.", ge=0, le=400
    )
    speak_actions: bool = param(False, "Say *stage directions* too; the text always has them.")


Registry = Mapping[str, type[Node]]


class NodeTypeClash(RuntimeError):
    """The installed node types cannot be used together: a name taken twice, an entry point that is none."""


def build_registry(packaged: Sequence[type[Node]], installed: Sequence[EntryPoint]) -> dict[str, type[Node]]:
    """Node types by name. Raises NodeTypeClash, naming both classes, when a name is taken twice."""
    found: dict[str, type[Node]] = {}
    for cls in [*packaged, *(_load_entry_point(entry) for entry in installed)]:
        known = found.get(cls.type_name)
        if known is not None and known is not cls:
            raise NodeTypeClash(
                f"the node type '{cls.type_name}' is declared twice: {_where(known)} and {_where(cls)}; rename one"
            )
        found[cls.type_name] = cls
    return dict(sorted(found.items()))


@lru_cache(maxsize=1)
def default_registry() -> Registry:
    """Every packaged and installed node type."""
    return build_registry(list(packaged_nodes()), list(entry_points(group=ENTRY_POINT_GROUP)))


def packaged_registry() -> Registry:
    """The packaged node types only."""
    return build_registry(list(packaged_nodes()), [])


def packaged_nodes() -> Iterator[type[Node]]:
    """The node types of `bridge.nodes`: every public class that each file defines itself."""
    package = importlib.import_module("bridge.nodes")
    for module_info in pkgutil.iter_modules(package.__path__, "bridge.nodes."):
        module = importlib.import_module(module_info.name)
        for cls in vars(module).values():
            if isinstance(cls, type) and issubclass(cls, Node) and cls.__module__ == module.__name__:
                yield cls


def node_kinds(registry: Registry) -> dict[str, NodeKind]:
    """What the authoring rules need to know of each type."""
    return {
        name: NodeKind(
            produces=cls.produces(),
            template_fields=frozenset(cls.fields_of(Kind.TEMPLATE)),
            input_fields=frozenset(cls.fields_of(Kind.SLOT_INPUT)),
            tag_family=cls.tag_family,
            tag_name_field=cls.tag_name_field,
        )
        for name, cls in registry.items()
    }


def _load_entry_point(entry: EntryPoint) -> type[Node]:
    try:
        loaded = entry.load()
    except Exception as fault:
        # A package of somebody else is being imported: whatever it raises, the message must name it.
        raise NodeTypeClash(
            f"the entry point '{entry.name}' of {ENTRY_POINT_GROUP} ({entry.value}) cannot be loaded: "
            f"{words_of(fault)}; {_remedy(entry)}"
        ) from fault
    if not (isinstance(loaded, type) and issubclass(loaded, Node)):
        raise NodeTypeClash(
            f"the entry point '{entry.name}' of {ENTRY_POINT_GROUP} names {loaded!r}, which is no Node class; "
            f"{_remedy(entry)}"
        )
    return loaded


def _remedy(entry: EntryPoint) -> str:
    """How to go on without a broken entry point, or to mend it."""
    if entry.dist is None:
        return "mend or uninstall the package that declares it"
    return f"mend or uninstall the package that declares it: python -m pip uninstall {entry.dist.name}"


def _where(cls: type[Node]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
