"""Every message on the wire, as one pydantic model each, and the version of the protocol.

The class name is the message type. Models ignore fields they do not know, so that a newer peer can add some.
`REQUESTS`, `REPLIES` and `PUSHES` are filled by declaring a class: a message cannot be forgotten.

Protocol versions:
1  the first.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

PROTOCOL_VERSION = 1

Send = Literal["None", "Whole", "Streamed"]
HistoryRole = Literal["None", "Assistant"]
TurnStatus = Literal["Success", "Error", "Cancelled"]
FinishReason = Literal["stop", "length", "cancelled", "error"]
Severity = Literal["error", "warning"]
ModelStatus = Literal["Absent", "Downloading", "Downloaded", "Local", "Loaded"]
VariableValue = bool | int | float | str | list[str]

MAX_U64 = 2**64 - 1


class Record(BaseModel):
    """A value inside messages. Immutable once made."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        populate_by_name=True,
        serialize_by_alias=True,
    )


class Message(Record):
    """One message. `type_name` is what part 1 of the frames says."""

    type_name: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.type_name = cls.__name__


class Request(Message):
    """What a client sends. Each is answered exactly once, with its request_id."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        REQUESTS[cls.__name__] = cls


class Reply(Message):
    """What answers a request."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        REPLIES[cls.__name__] = cls


class Push(Message):
    """What the sidecar sends unasked, with request_id 0."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        PUSHES[cls.__name__] = cls


REQUESTS: dict[str, type[Request]] = {}
REPLIES: dict[str, type[Reply]] = {}
PUSHES: dict[str, type[Push]] = {}


# ---- values --------------------------------------------------------------------------------------------------


class Problem(Record):
    """One finding of the workflow compiler."""

    severity: Severity = Field(description="An error stops the workflow from running; a warning never does.")
    code: int = Field(description="The error code of this kind of finding.")
    node_name: str = Field(default="", description="The node it is about; empty: the workflow itself.")
    field: str = Field(default="", description="The parameter it is about.")
    path: str = Field(default="", description="Where in the workflow's JSON, such as $.nodes[2].template.")
    message: str = Field(description="What is wrong and what would be right.")


class Output(Record):
    """What one executed step wrote."""

    step: int = Field(ge=1, description="Counts the executions of a turn from 1.")
    node_name: str
    slot: str = Field(description="The slot that was written.")
    text: str
    send: Send = "None"
    history_role: HistoryRole = "None"
    history_name: str = ""


class InstructionRecord(Record):
    """An instruction that was in force for one turn."""

    name: str
    text: str


class Interaction(Record):
    """The record of one turn, as the dialog history keeps it."""

    turn_id: int = Field(ge=0)
    user: str = Field(description="The player's line, exactly as typed.")
    outputs: list[Output] = Field(default_factory=list)
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    intent: str = ""
    attributes: dict[str, str] = Field(default_factory=dict)
    instructions: list[InstructionRecord] = Field(default_factory=list)
    knowledge: list[dict[str, Any]] = Field(default_factory=list)
    status: TurnStatus = "Success"
    time: str = Field(default="", description="When the turn ended: UTC, ISO 8601.")


class Summary(Record):
    """A record of the oldest turns, standing in for them in prompts."""

    text: str
    covers: int = Field(ge=1, description="How many turns from the first on it stands for.")


class DialogDocument(Record):
    """A dialog history as it is exported, saved and seeded."""

    version: Literal[1] = 1
    interactions: list[Interaction] = Field(default_factory=list, description="Oldest first.")
    summary: Summary | None = Field(default=None, description="In a piece of an export: only in the last piece.")


class ShortReply(Record):
    """What one character says in the short form of a dialog."""

    node_name: str = Field(description="A node of the workflow, or any label.")
    text: str


class ShortInteraction(Record):
    """One turn in the short form of a dialog."""

    user: str = ""
    replies: list[ShortReply] = Field(default_factory=list)


class CacheInfo(Record):
    """What one node of an agent keeps of its prompt."""

    node_name: str
    tokens: int
    bytes: int = Field(description="Bytes of the KV cache: of the resident part, or of the parked copy.")
    where: Literal["resident", "parked", "none"]


class TurnError(Record):
    """Why a turn ended with status Error."""

    code: int
    name: str
    message: str
    node_name: str = ""


class StepFinish(Record):
    """How one generating step ended."""

    step: int
    node_name: str
    reason: FinishReason


class AgentInfo(Record):
    """One row of `Agents`."""

    agent_id: str
    workflow_name: str = ""
    busy: bool
    turns: int = Field(description="How many turns the dialog history holds.")


class ModelInfo(Record):
    """One row of `Models`."""

    name: str
    type: Literal["language", "embedding", "tts"]
    engine: str
    status: ModelStatus
    context_size: int = 0
    license: str = ""
    bytes_on_disk: int = 0
    bytes_in_memory: int = 0
    backend: str = ""
    layers_offloaded: int = 0


# ---- session -------------------------------------------------------------------------------------------------


class Hello(Request):
    """The first message on a socket."""

    protocol: int = Field(description="The protocol version that the client speaks.")
    client: str = Field(default="", max_length=256, description="Who is asking, for the log.")
    token: str = Field(default="", description="The token of the ready line.")
    resume: str | None = Field(default=None, description="The session_key of the session to take up again.")
    last_seq: int | None = Field(default=None, ge=0, le=MAX_U64, description="The last `seq` that was received.")


class SessionReady(Reply):
    """Answers Hello."""

    protocol: int
    session_id: str
    session_key: str = Field(description="Secret; lets this client take the session up again.")
    resumed: bool
    last_request_id: int = Field(description="The highest request_id that this session has answered.")
    server_version: str
    schema_fingerprint: str = Field(description="Equal fingerprints: both sides were made from one schema.")
    heartbeat_s: float = Field(description="Seconds between two Pings of the client.")


class Ping(Request):
    """Says that the client is there and acknowledges what came."""

    last_seq: int = Field(default=0, ge=0, le=MAX_U64, description="The last `seq` that was received in order.")


class Pong(Reply):
    """Answers Ping."""


class Bye(Request):
    """Ends the session: its turns are cancelled and its agents destroyed."""


class Shutdown(Request):
    """Stops the sidecar; only for a session that said Hello with the owner's token."""


class ConfigureSession(Request):
    """Sets what the session may touch. Fields that are left out stay as they are."""

    storage_folder: str | None = Field(default=None, description="Folder that file names in workflows lie under.")
    allow_model_download: bool | None = None
    game_name: str | None = Field(default=None, max_length=256)


class Ok(Reply):
    """Answers a request that has nothing to tell."""


class Error(Reply):
    """Answers a request that failed."""

    code: int
    name: str
    message: str
    agent_id: str = ""
    node_name: str = ""
    path: str = ""
    problems: list[Problem] = Field(default_factory=list)


# ---- agents --------------------------------------------------------------------------------------------------


class CreateAgent(Request):
    """Compiles a workflow and makes a conversation of it. Loads the models it needs."""

    workflow: dict[str, Any]
    variables: dict[str, VariableValue] = Field(default_factory=dict)
    enable_diagnostics: bool = False
    max_steps: int = Field(default=64, ge=1, le=10_000)
    seed_dialog: dict[str, Any] | list[Any] | None = Field(default=None, description="As the dialog of SeedDialog.")


class AgentCreated(Reply):
    """Answers CreateAgent."""

    agent_id: str
    warnings: list[Problem] = Field(default_factory=list)


class DestroyAgent(Request):
    """Ends a conversation; a running turn is cancelled first."""

    agent_id: str


class ListAgents(Request):
    """Asks for the session's agents."""


class Agents(Reply):
    """Answers ListAgents."""

    agents: list[AgentInfo]


class SendMessage(Request):
    """Starts a turn with the player's line."""

    agent_id: str
    text: str = Field(description="The player's line; empty: the character speaks first.")


class TurnStarted(Reply):
    """Answers SendMessage, before any frame of the turn."""

    agent_id: str
    turn_id: int


class CancelTurn(Request):
    """Stops a turn. Without effect when the agent is idle or runs another turn."""

    agent_id: str
    turn_id: int | None = None


class SetVariables(Request):
    """Changes variables of the game, all or nothing; a running turn keeps what it saw at its start."""

    agent_id: str
    values: dict[str, VariableValue]


class ExportDialog(Request):
    """Asks for the dialog history, whole or in pieces."""

    agent_id: str
    from_: int = Field(default=0, ge=0, alias="from", description="The first turn wanted.")
    count: int | None = Field(default=None, ge=0, description="How many turns at most; absent: all.")


class Dialog(Reply):
    """Answers ExportDialog."""

    dialog: DialogDocument
    total: int = Field(description="How many turns the dialog history holds.")


class SeedDialog(Request):
    """Replaces the dialog history, or continues it. Needs an idle agent."""

    agent_id: str
    dialog: dict[str, Any] | list[Any] = Field(
        description="An export, or the short form: a list of {user, replies: [{node_name, text}]}."
    )
    append: bool = Field(default=False, description="Put it behind what is there instead.")


class EditDialog(Request):
    """Changes one turn of the dialog history. Needs an idle agent."""

    agent_id: str
    index: int = Field(ge=0, description="The turn, counted from 0.")
    user: str | None = None
    replies: list[ShortReply] | None = None


class TruncateDialog(Request):
    """Forgets all but the first turns of the dialog history. Needs an idle agent."""

    agent_id: str
    keep: int = Field(ge=0, description="How many turns stay.")


class ManageCache(Request):
    """Looks at, parks or drops what the nodes of an agent keep of their prompts."""

    agent_id: str
    action: Literal["Stats", "Park", "Drop"]


class CacheStats(Reply):
    """Answers ManageCache: how things are after the action."""

    nodes: list[CacheInfo]


class ValidateWorkflow(Request):
    """Asks for every finding of the compiler without making an agent."""

    workflow: dict[str, Any]


class Validation(Reply):
    """Answers ValidateWorkflow."""

    problems: list[Problem]


class ListModels(Request):
    """Asks for the catalog."""


class Models(Reply):
    """Answers ListModels."""

    models: list[ModelInfo]


class LoadModel(Request):
    """Loads a model and keeps it loaded until UnloadModel, whoever uses it."""

    model: str


class UnloadModel(Request):
    """Takes LoadModel back: the model goes when no agent uses it."""

    model: str


# ---- pushes --------------------------------------------------------------------------------------------------


class AnswerText(Push):
    """Text of one step for the player's eyes."""

    agent_id: str
    turn_id: int
    node_name: str = Field(description="Who speaks.")
    step: int = Field(ge=1, description="Counts the executions of a turn from 1.")
    text: str
    is_delta: bool = Field(description="True: append to what this step said before. False: the whole text.")
    is_final: bool = Field(description="The step says nothing more.")


class TurnComplete(Push):
    """The last message of a turn."""

    agent_id: str
    turn_id: int
    status: TurnStatus
    error: TurnError | None = None
    tokens_generated: int = 0
    finish: list[StepFinish] = Field(default_factory=list)
    dropped_turns: int = Field(default=0, description="Earlier turns that some prompt of this turn left out.")
    interaction: Interaction | None = Field(default=None, description="What was recorded; null: nothing.")
    debug: dict[str, Any] | None = Field(default=None, description="With enable_diagnostics on the agent.")


class NodeEvent(Push):
    """Something a node did beside speaking."""

    agent_id: str
    turn_id: int
    node_name: str
    step: int = Field(ge=1)
    event: str = Field(description="summary_written: data is {covers, text}.")
    data: dict[str, Any] = Field(default_factory=dict)


class Progress(Push):
    """How far a long task is."""

    task: str
    model: str = ""
    storage: str = ""
    done: int
    total: int
    unit: str


class Warning(Push):
    """Something a developer should know; nothing stopped."""

    code: int
    message: str
    agent_id: str = ""
    node_name: str = ""


class Goodbye(Push):
    """The sidecar ends this session or this socket."""

    reason: Literal["shutdown", "replaced", "bye", "expired"]


MESSAGES: dict[str, type[Message]] = {**REQUESTS, **REPLIES, **PUSHES}
"""Every message type by name."""


def json_schema() -> dict[str, Any]:
    """The JSON Schema of all messages, under `$defs`, with the type names by direction."""
    _, schema = models_json_schema(
        [(model, "validation") for _, model in sorted(MESSAGES.items())], ref_template="#/$defs/{model}"
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Parley messages",
        "protocol": PROTOCOL_VERSION,
        "requests": sorted(REQUESTS),
        "replies": sorted(REPLIES),
        "pushes": sorted(PUSHES),
        "$defs": schema["$defs"],
    }


def schema_fingerprint() -> str:
    """16 hexadecimal digits that change whenever the schema of the messages does."""
    text = json.dumps(json_schema(), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
