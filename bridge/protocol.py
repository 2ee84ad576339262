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

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.json_schema import models_json_schema

PROTOCOL_VERSION = 1

Send = Literal["None", "Whole", "Streamed"]
HistoryRole = Literal["None", "Assistant"]
TurnStatus = Literal["Success", "Error", "Cancelled"]
FinishReason = Literal["stop", "length", "cancelled", "error"]
Severity = Literal["error", "warning"]
ToolCallFormat = Literal["chatml", "llama3", "mistral", "generic"]
AudioEncoding = Literal["s16le"]
GapReason = Literal["merged", "sound", "dropped"]
StorageKind = Literal["List", "Map", "Multimap"]
ModelStatus = Literal["Absent", "Downloading", "Downloaded", "Local", "Loaded"]
ModelType = Literal["language", "embedding", "tts"]
CachePlace = Literal["resident", "parked", "none"]
CacheAction = Literal["Stats", "Park", "Drop"]
GoodbyeReason = Literal["shutdown", "replaced", "bye", "expired"]
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
    node_name: str = Field(description="The node that wrote it.")
    slot: str = Field(description="The slot that was written.")
    text: str = Field(description="The text, whole.")
    send: Send = Field(default="None", description="What the client saw of it.")
    history_role: HistoryRole = Field(default="None", description="How later prompts replay it.")
    history_name: str = Field(default="", description="The label that the replayed text has.")


class InstructionRecord(Record):
    """An instruction that was in force for one turn."""

    name: str = Field(description="Its name, as templates write it.")
    text: str = Field(description="The instruction, rendered.")


class ToolCallRecord(Record):
    """A call that a model made, with what became of it."""

    call_id: str = Field(description="Names the call; ToolResult says it again.")
    step: int = Field(ge=1, description="The step that made it.")
    node_name: str = Field(description="The node whose model made it.")
    tool: str = Field(description="The name of the tool.")
    arguments: dict[str, Any] = Field(default_factory=dict, description="What the tool is called with.")
    format: ToolCallFormat = Field(default="chatml", description="The shape in which later prompts carry it.")
    result: str | None = Field(default=None, description="What the game answered; null: nothing in time.")
    error: str = Field(default="", description="Why the tool failed, as the game said; empty: it did not.")
    replayed: bool = Field(default=False, description="Later prompts carry the call and its result.")


class KnowledgeChunkRecord(Record):
    """A passage that a search found."""

    id: str = Field(description="The record's id.")
    text: str = Field(description="The passage.")
    distance: float = Field(description="1 - cosine: 0 is the same, 1 has nothing in common.")


class KnowledgeRecord(Record):
    """What one source brought in a turn."""

    source: str = Field(description="The source's name.")
    chunks: list[KnowledgeChunkRecord] = Field(default_factory=list, description="Nearest first.")


class Interaction(Record):
    """The record of one turn, as the dialog history keeps it."""

    turn_id: int = Field(ge=0, description="The turn, counted within its agent.")
    user: str = Field(description="The player's line, exactly as typed.")
    outputs: list[Output] = Field(default_factory=list, description="What each step wrote, in order.")
    tool_calls: list[ToolCallRecord] = Field(default_factory=list, description="The calls that models made, in order.")
    intent: str = Field(default="", description="The intent that was found; empty: none.")
    attributes: dict[str, str] = Field(default_factory=dict, description="The label that was found for each attribute.")
    instructions: list[InstructionRecord] = Field(
        default_factory=list, description="The instructions that were in force, in order."
    )
    knowledge: list[KnowledgeRecord] = Field(default_factory=list, description="What each source brought.")
    status: TurnStatus = Field(
        default="Success", description="How the turn ended; what was sent of an unsuccessful one is kept too."
    )
    time: str = Field(default="", description="When the turn ended: UTC, ISO 8601.")


class Summary(Record):
    """A record of the oldest turns, standing in for them in prompts."""

    text: str = Field(description="The summary.")
    covers: int = Field(ge=1, description="How many turns from the first on it stands for.")


class DialogDocument(Record):
    """A dialog history as it is exported, saved and seeded."""

    version: Literal[1] = Field(default=1, description="The version of this format.")
    interactions: list[Interaction] = Field(default_factory=list, description="Oldest first.")
    summary: Summary | None = Field(default=None, description="In a piece of an export: only in the last piece.")


class ShortReply(Record):
    """What one character says in the short form of a dialog."""

    node_name: str = Field(description="A node of the workflow, or any label.")
    text: str = Field(description="What it says.")


class ShortInteraction(Record):
    """One turn in the short form of a dialog."""

    user: str = Field(default="", description="The player's line; empty: a character began.")
    replies: list[ShortReply] = Field(default_factory=list, description="What the characters say, in order.")


class CacheInfo(Record):
    """What one node of an agent keeps of its prompt."""

    node_name: str = Field(description="The node.")
    tokens: int = Field(description="Tokens of its prompt that are kept.")
    bytes: int = Field(description="Bytes of the KV cache: of the resident part, or of the parked copy.")
    where: CachePlace = Field(description="resident: in the model's context; parked: in host memory.")


class TurnError(Record):
    """Why a turn ended with status Error."""

    code: int = Field(description="The error code.")
    name: str = Field(description="The error's name.")
    message: str = Field(description="What was wrong, where, and what to do.")
    node_name: str = Field(default="", description="The node whose step failed; empty: none.")


class StepFinish(Record):
    """How one generating step ended."""

    step: int = Field(description="Counts the executions of a turn from 1.")
    node_name: str = Field(description="The node.")
    reason: FinishReason = Field(description="stop: by itself; length: max_tokens is reached.")


class AgentInfo(Record):
    """One row of `Agents`."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    workflow_name: str = Field(default="", description="Not used: a workflow file has no name.")
    busy: bool = Field(description="Whether a turn runs.")
    turns: int = Field(description="How many turns the dialog history holds.")


class ModelInfo(Record):
    """One row of `Models`."""

    name: str = Field(description="What workflows call it.")
    type: ModelType = Field(description="What it can do.")
    engine: str = Field(description="What runs it.")
    status: ModelStatus = Field(description="Whether its file is there, and whether it is in memory.")
    context_size: int = Field(default=0, description="Tokens of the window; 0: as the file says.")
    license: str = Field(default="", description="The licence that the catalog names.")
    bytes_on_disk: int = Field(default=0, description="Size of its files.")
    bytes_in_memory: int = Field(default=0, description="What it holds while it is loaded.")
    backend: str = Field(default="", description="Where it computes while it is loaded, such as CPU.")
    layers_offloaded: int = Field(default=0, description="Layers on the GPU while it is loaded.")
    source: str = Field(default="", description="Where its files come from: package, path or huggingface, and which.")
    bytes_partial: int = Field(default=0, description="Bytes on disk of a download that is not complete.")
    speakers: list[str] = Field(
        default_factory=list,
        description="Of a voice: those it can speak as, by their numbers; empty: not known before it is loaded.",
    )


class SessionStatus(Record):
    """One session, as `Status` shows it."""

    session_id: str = Field(description="The session in the sidecar's log.")
    game_name: str = Field(default="", description="What ConfigureSession said; empty: nothing.")
    client: str = Field(default="", description="What Hello said.")
    attached: bool = Field(default=True, description="Whether its client is heard.")
    agents: int = Field(default=0, description="Its agents.")
    busy: int = Field(default=0, description="Its agents whose turn runs.")
    waiting_bytes: int = Field(default=0, description="Bytes that are kept for its client until it confirms them.")
    unacknowledged: int = Field(default=0, description="Frames that its client has not confirmed.")


class ModelLoad(Record):
    """A model in memory and what it has to do, as `Status` shows it."""

    name: str = Field(description="What workflows call it.")
    type: ModelType = Field(description="What it can do.")
    backend: str = Field(default="", description="Where it computes, such as CPU.")
    users: int = Field(default=0, description="Agents and storages that hold it, and LoadModel.")
    bytes_in_memory: int = Field(default=0, description="What it holds.")
    residents: int = Field(default=0, description="Sequences in its context.")
    max_residents: int = Field(default=0, description="Sequences that its context has places for; 0: it has none.")
    parked: int = Field(default=0, description="Sequences in host memory.")
    bytes_parked: int = Field(default=0, description="What those hold.")
    max_bytes_parked: int = Field(default=0, description="What they may hold (park_bytes).")
    waiting: int = Field(default=0, description="Replies, or texts to embed, that are not begun.")
    reading: int = Field(default=0, description="Replies whose prompt is read.")
    running: int = Field(default=0, description="Replies that are written, or texts that are embedded.")


class ErrorCount(Record):
    """How often an error came."""

    code: int = Field(description="The error code; 0: InternalError.")
    name: str = Field(description="The error's name.")
    count: int = Field(description="How often requests and turns failed with it.")


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

    protocol: int = Field(description="The protocol version that is spoken from now on.")
    session_id: str = Field(description="The session in the sidecar's log; not secret.")
    session_key: str = Field(description="Secret; lets this client take the session up again.")
    resumed: bool = Field(description="Whether an earlier session was taken up again.")
    last_request_id: int = Field(ge=0, le=MAX_U64, description="The highest request_id that this session has answered.")
    server_version: str = Field(description="The version of the sidecar.")
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

    storage_folder: str | None = Field(
        default=None, description="Absolute path of an existing folder; file names in workflows lie under it."
    )
    allow_model_download: bool | None = Field(
        default=None, description="Whether DownloadModel may fetch files; until it is said, it may not."
    )
    game_name: str | None = Field(default=None, max_length=256, description="Which game it is, for the log.")


class Ok(Reply):
    """Answers a request that has nothing to tell."""

    def __str__(self) -> str:
        return "Ok"


class GetStatus(Request):
    """Asks what the sidecar does. Only a session that said the sidecar's own token sees more than itself."""


class Status(Reply):
    """Answers GetStatus. Counts are of the whole time since the start."""

    version: str = Field(description="The version of the sidecar.")
    uptime_s: float = Field(description="Seconds since it started.")
    is_whole: bool = Field(
        default=True,
        description="False: the session did not say the sidecar's own token. `sessions` has only itself, `agents` and "
        "`busy_agents` are its own, and all that follows is empty.",
    )
    sessions: list[SessionStatus] = Field(default_factory=list, description="One entry for each session.")
    agents: int = Field(default=0, description="Agents of all sessions.")
    busy_agents: int = Field(default=0, description="Agents whose turn runs.")
    pid: int = Field(default=0, description="The sidecar's process id.")
    turns_started: int = Field(default=0, description="Turns that were begun.")
    turns_succeeded: int = Field(default=0, description="Turns that ended with status Success.")
    turns_failed: int = Field(default=0, description="Turns that ended with status Error.")
    turns_cancelled: int = Field(default=0, description="Turns that ended with status Cancelled.")
    tokens_generated: int = Field(default=0, description="Tokens that models wrote, those of running turns included.")
    tokens_evaluated: int = Field(default=0, description="Prompt tokens that models had to read, of finished replies.")
    tokens_cached: int = Field(default=0, description="Prompt tokens that models still held, of finished replies.")
    models: list[ModelLoad] = Field(default_factory=list, description="One entry for each model in memory.")
    errors: list[ErrorCount] = Field(default_factory=list, description="By code; those that never came are left out.")
    rss_bytes: int = Field(default=0, description="Memory that the process has in use (resident set).")
    threads: int = Field(default=0, description="Threads of the process.")
    open_files: int = Field(default=0, description="Open files and sockets (Windows: handles); 0: not known.")


class Error(Reply):
    """Answers a request that failed."""

    code: int = Field(description="The error code.")
    name: str = Field(description="The error's name.")
    message: str = Field(description="What was wrong, where, and what would be right.")
    agent_id: str = Field(default="", description="The conversation it is about; empty: none.")
    node_name: str = Field(default="", description="The node it is about; empty: none.")
    path: str = Field(default="", description="Where in the request's JSON; empty: nowhere in particular.")
    problems: list[Problem] = Field(default_factory=list, description="Every finding about a workflow that cannot run.")


# ---- agents --------------------------------------------------------------------------------------------------


class CreateAgent(Request):
    """Compiles a workflow and makes a conversation of it. Loads the models it needs."""

    workflow: dict[str, Any] = Field(description="A workflow, as its file holds it.")
    variables: dict[str, VariableValue] = Field(
        default_factory=dict, description="Values that take the place of those the workflow declares."
    )
    enable_diagnostics: bool = Field(
        default=False, description="Put what each step read, wrote and cost into TurnComplete.debug."
    )
    max_steps: int = Field(default=64, ge=1, le=10_000, description="Steps of one turn; more end it with 4003.")
    seed_dialog: dict[str, Any] | list[Any] | None = Field(default=None, description="As the dialog of SeedDialog.")


class AgentCreated(Reply):
    """Answers CreateAgent."""

    agent_id: str = Field(description="Names the conversation from now on.")
    warnings: list[Problem] = Field(default_factory=list, description="Findings that do not stop the workflow.")


class DestroyAgent(Request):
    """Ends a conversation; a running turn is cancelled first."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")


class ListAgents(Request):
    """Asks for the session's agents."""


class Agents(Reply):
    """Answers ListAgents."""

    agents: list[AgentInfo] = Field(description="One entry for each agent of the session.")


class SendMessage(Request):
    """Starts a turn with the player's line."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    text: str = Field(description="The player's line; empty: the character speaks first.")


class TurnStarted(Reply):
    """Answers SendMessage, before any frame of the turn."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int = Field(description="Names the turn; counts up within the agent.")


class CancelTurn(Request):
    """Stops a turn. Without effect when the agent is idle or runs another turn."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int | None = Field(default=None, description="The turn; absent: whichever runs.")


class SetVariables(Request):
    """Changes variables of the game, all or nothing; a running turn keeps what it saw at its start."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    values: dict[str, VariableValue] = Field(description="New values by the names of variables.")


class ChangeParams(Request):
    """Changes parameters of a node between turns, all or nothing. Needs an idle agent; structural ones are refused."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    node_name: str = Field(description="The node to change.")
    params: dict[str, Any] = Field(description="Only what changes. sampling is sparse too; null in it: the catalog's.")


class GetParams(Request):
    """Asks for a node's parameters."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    node_name: str = Field(description="The node to look at.")


class Params(Reply):
    """Answers GetParams."""

    params: dict[str, Any] = Field(description="What the next turn will use, defaults included.")
    baseline: dict[str, Any] = Field(description="What they were when the agent was made.")


class ToolResult(Request):
    """Says what a tool call brought. Only while its turn waits for it, or still runs."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    call_id: str = Field(max_length=200, description="As the tool_call event said.")
    result: str = Field(default="", description="What the tool brought, for the model to read.")
    error: str | None = Field(default=None, description="Why the tool failed; the model reads that instead.")


class ExportDialog(Request):
    """Asks for the dialog history, whole or in pieces. A long one comes only in pieces."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    from_: int = Field(default=0, ge=0, alias="from", description="The first turn wanted.")
    count: int | None = Field(default=None, ge=0, description="How many turns at most; absent: all.")


class Dialog(Reply):
    """Answers ExportDialog."""

    dialog: DialogDocument = Field(description="The turns that were asked for, as many as one message can hold.")
    total: int = Field(description="How many turns the dialog history holds. Ask for the rest where there are more.")

    _prepared: bytes | None = PrivateAttr(None)

    def prepare(self, json: bytes) -> None:
        """Set the JSON of the message, which was made where nobody waits for it."""
        self._prepared = json

    def take_prepared(self) -> bytes | None:
        """That JSON, once: it may be large."""
        json, self._prepared = self._prepared, None
        return json


class SeedDialog(Request):
    """Replaces the dialog history, or continues it. Needs an idle agent."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    dialog: dict[str, Any] | list[Any] = Field(
        description="An export, or the short form: a list of {user, replies: [{node_name, text}]}."
    )
    append: bool = Field(default=False, description="Put it behind what is there instead.")


class EditDialog(Request):
    """Changes one turn of the dialog history. Needs an idle agent."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    index: int = Field(ge=0, description="The turn, counted from 0.")
    user: str | None = Field(default=None, description="The player's line; absent: it stays.")
    replies: list[ShortReply] | None = Field(
        default=None, description="What the characters say, in order; absent: it stays."
    )


class TruncateDialog(Request):
    """Forgets all but the first turns of the dialog history. Needs an idle agent."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    keep: int = Field(ge=0, description="How many turns stay.")


class ManageCache(Request):
    """Looks at, parks or drops what the nodes of an agent keep of their prompts."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    action: CacheAction = Field(
        description="Stats only looks; Park moves it out of the model's context, Drop forgets it."
    )


class CacheStats(Reply):
    """Answers ManageCache: how things are after the action."""

    nodes: list[CacheInfo] = Field(description="One entry for each node with a model.")


class ValidateWorkflow(Request):
    """Asks for every finding of the compiler without making an agent."""

    workflow: dict[str, Any] = Field(description="A workflow, as its file holds it.")


class Validation(Reply):
    """Answers ValidateWorkflow."""

    problems: list[Problem] = Field(description="Every finding, errors first.")


class CreateStringStorage(Request):
    """Makes a string storage that nodes of this session can name. From `strings` (and `keys`), or from a `file`."""

    name: str = Field(description="What nodes name in string_storage; see the error InvalidStorageName.")
    kind: StorageKind | None = Field(default=None, description="Absent: Map where there are keys, else List.")
    strings: list[str] | None = Field(default=None, description="The texts.")
    keys: list[str] | None = Field(default=None, description="One for each string.")
    file: str | None = Field(default=None, max_length=4096, description="A path under the storage folder.")


class DestroyStringStorage(Request):
    """Releases the name of a string storage; agents that use it keep it."""

    name: str = Field(description="As CreateStringStorage said.")


class CreateEmbeddedStorage(Request):
    """Makes an embedded storage that nodes of this session can name. From a `config`, or from `strings`."""

    name: str = Field(description="What nodes name in embedded_storage; see the error InvalidEmbeddedStorageName.")
    config: dict[str, Any] | None = Field(
        default=None, description="As in a config file; its files lie under the folder."
    )
    strings: list[str] | None = Field(default=None, description="Texts; their ids count from 0.")
    embedding_model: str = Field(default="", max_length=200, description="For strings: a model of the catalog.")


class DestroyEmbeddedStorage(Request):
    """Releases the name of an embedded storage; agents that use it keep it."""

    name: str = Field(description="As CreateEmbeddedStorage said.")


class StorageCreated(Reply):
    """Answers CreateStringStorage and CreateEmbeddedStorage."""

    name: str = Field(description="The name that was asked for.")
    count: int = Field(description="Texts in the storage.")
    dimension: int = Field(default=0, description="Numbers of one vector; 0 for string storages.")


class ListModels(Request):
    """Asks for the catalog."""


class Models(Reply):
    """Answers ListModels."""

    models: list[ModelInfo] = Field(description="One entry for each model of the catalog.")


class LoadModel(Request):
    """Loads a model and keeps it loaded until the session's UnloadModel or its end, whoever uses it.

    Each session keeps it for itself: a second LoadModel of one session adds nothing, and no other session takes it
    back.
    """

    model: str = Field(description="A model of the catalog.")


class UnloadModel(Request):
    """Takes the session's LoadModel back: the model goes when no agent uses it and no other session keeps it loaded."""

    model: str = Field(description="A model of the catalog.")


class DownloadModel(Request):
    """Downloads a model; needs allow_model_download. Progress comes meanwhile, Ok when the files are there, checked."""

    model: str = Field(description="A model of the catalog.")


class CancelDownload(Request):
    """Stops the download of a model for all who wait for it. What is there is kept, and the next one goes on."""

    model: str = Field(description="A model of the catalog.")


class DeleteModel(Request):
    """Removes the files of a model that was downloaded, and what is there of an unfinished download."""

    model: str = Field(description="A model of the catalog.")


# ---- pushes --------------------------------------------------------------------------------------------------


class AnswerText(Push):
    """Text of one step for the player's eyes."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int = Field(description="The turn, as TurnStarted named it.")
    node_name: str = Field(description="Who speaks.")
    step: int = Field(ge=1, description="Counts the executions of a turn from 1.")
    text: str = Field(description="What the step says with this frame.")
    is_delta: bool = Field(description="True: append to what this step said before. False: the whole text.")
    is_final: bool = Field(description="The step says nothing more.")


class TurnComplete(Push):
    """The last message of a turn."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int = Field(description="The turn, as TurnStarted named it.")
    status: TurnStatus = Field(description="How the turn ended.")
    error: TurnError | None = Field(default=None, description="Why, where the status is Error.")
    tokens_generated: int = Field(default=0, description="Tokens that all steps wrote together.")
    finish: list[StepFinish] = Field(default_factory=list, description="How each generating step ended, in order.")
    dropped_turns: int = Field(default=0, description="Earlier turns that some prompt of this turn left out.")
    interaction: Interaction | None = Field(default=None, description="What was recorded; null: nothing.")
    debug: dict[str, Any] | None = Field(default=None, description="With enable_diagnostics on the agent.")


class NodeEvent(Push):
    """Something a node did beside speaking."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int = Field(description="The turn, as TurnStarted named it.")
    node_name: str = Field(description="The node that did it.")
    step: int = Field(ge=1, description="Counts the executions of a turn from 1.")
    event: str = Field(
        description="tool_call {call_id, tool, arguments}, intent_classified {intent, found, …}, "
        "attributes_classified {attributes, …}, summary_written {covers, text}."
    )
    data: dict[str, Any] = Field(default_factory=dict, description="What the event tells; the fields hang on it.")


class AudioFormat(Push):
    """How the sound of one speaking step is written; comes once, before its first AudioChunk."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int = Field(description="The turn, as TurnStarted named it.")
    node_name: str = Field(description="Who speaks.")
    step: int = Field(ge=1, description="Counts the executions of a turn from 1.")
    sample_rate: int = Field(ge=1, description="Samples a second.")
    channels: int = Field(default=1, ge=1, description="Samples of one moment; always 1.")
    encoding: AudioEncoding = Field(default="s16le", description="s16le: signed 16 bits, little end first.")


class AudioChunk(Push):
    """Sound of one speaking step; its samples are the binary part of the message, perhaps none."""

    agent_id: str = Field(description="The conversation, as AgentCreated named it.")
    turn_id: int = Field(description="The turn, as TurnStarted named it.")
    node_name: str = Field(description="Who speaks.")
    step: int = Field(ge=1, description="Counts the executions of a turn from 1.")
    sentence: int = Field(ge=0, description="Counts the sentences of the step from 0.")
    index: int = Field(ge=0, description="Counts the chunks of the step from 0.")
    text: str | None = Field(
        default=None, description="On a sentence's first chunk: the sentence. All of a step, joined, are its text."
    )
    envelope: list[float] = Field(
        default_factory=list, description="Loudness of every 20 ms of the chunk (root mean square, 0 to 1)."
    )
    is_final: bool = Field(description="The step has no more sound.")


class Progress(Push):
    """How far a long task is."""

    task: str = Field(description="What is being done, such as load or download.")
    model: str = Field(default="", description="The model it is about; empty: none.")
    storage: str = Field(default="", description="The storage it is about; empty: none.")
    done: int = Field(description="How much is done, in units.")
    total: int = Field(description="How much there is in all; 0: not known.")
    unit: str = Field(description="What is counted, such as bytes.")


class Warning(Push):
    """Something a developer should know; nothing stopped."""

    code: int = Field(description="The error code of this kind of trouble.")
    message: str = Field(description="What is the matter and what to do about it.")
    agent_id: str = Field(default="", description="The conversation it is about; empty: none.")
    node_name: str = Field(default="", description="The node it is about; empty: none.")


class Gap(Push):
    """Stands in the place of frames that are not kept any more. Its own `seq` is `to_seq`."""

    from_seq: int = Field(ge=0, le=MAX_U64, description="The first `seq` that is not sent again.")
    to_seq: int = Field(ge=0, le=MAX_U64, description="The last one.")
    reason: GapReason = Field(
        default="dropped",
        description="merged: nothing is lost, their text is in a later frame of the same step; sound: audio is lost; "
        "dropped: more had to be kept than resume_buffer_bytes allows.",
    )


class Goodbye(Push):
    """The sidecar ends this session or this socket."""

    reason: GoodbyeReason = Field(description="Why: replaced means that another socket took the session up.")


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
