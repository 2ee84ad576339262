"""Every error that Parley raises: one family, one class per wire code.

ParleyError
├── 1xxx who may talk        Unauthorized, SessionExpired, TooManySessions
├── 2xxx not now             ShuttingDown, SessionNotReady
├── 3xxx what was asked      InvalidAgentId, AgentDestroyed, WorkflowInvalid, AgentBusy, UnknownNode,
│                            ParamNotMutable, InvalidValue, InvalidExitTarget, StorageOutsideRoot,
│                            StorageFileNotFound, StorageKindMismatch, InvalidDialog, UnknownToolCall, LimitExceeded
├── 4xxx a turn failed       InferenceFailed, TurnTimeout, MaxStepsExceeded, PromptTooLong, SpeechFailed
├── 5xxx the wire            MalformedMessage, UnknownMessageType, MessageTooLarge, ProtocolMismatch
├── 6xxx models              DownloadFailed, DownloadNotAvailable, InsufficientDiskSpace, DownloadActive,
│                            ModelNotFound, ModelCorrupt, ModelLoadFailed
├── 7xxx string storages     InvalidStorageName, StorageExists, InvalidStorageData, StorageNameInUse
└── 8xxx embedded storages   InvalidEmbeddedStorageName, EmbeddedStorageExists, InvalidEmbeddedStorageData
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from bridge.protocol import Problem

NAME_RULE = "letters, digits, `_`, `.`, `-` and spaces, at most 128, beginning with a letter, digit or `_`"
"""What the name of a storage may be."""


class ParleyError(Exception):
    """Something went wrong in a way that the client is told about.

    The message says what was wrong, where, and what to do; `code` and the class's name go on the wire.
    """

    code: ClassVar[int] = 0
    text: ClassVar[str] = "something went wrong"
    remedy: ClassVar[str] = "read the message"
    """What to do about it, for the reference and the editors."""

    def __init__(
        self,
        message: str = "",
        *,
        agent_id: str = "",
        node_name: str = "",
        path: str = "",
        problems: Sequence[Problem] = (),
    ) -> None:
        super().__init__(message or self.text)
        self.agent_id = agent_id
        self.node_name = node_name
        self.path = path
        self.problems = tuple(problems)
        self.request_id = 0
        """The request that could not be read; 0: not even its id could, or the error is about something else."""

    @property
    def name(self) -> str:
        return type(self).__name__

    @property
    def message(self) -> str:
        return str(self)


class Unauthorized(ParleyError):
    code = 1001
    text = "the token is not this sidecar's token"
    remedy = "take the token from the sidecar's ready line; a new sidecar has a new one"


class SessionExpired(ParleyError):
    code = 1002
    text = "no session has this key any more; say Hello without `resume`"
    remedy = "say Hello without `resume` and make the agents again; a saved dialog can be seeded"


class TooManySessions(ParleyError):
    code = 1003
    text = "the sidecar has as many sessions as it allows (`max_sessions`)"
    remedy = "end sessions with Bye, or raise `max_sessions`"


class ShuttingDown(ParleyError):
    code = 2001
    text = "the sidecar is shutting down"
    remedy = "connect to the next sidecar; the agents are made again there"


class SessionNotReady(ParleyError):
    code = 2002
    text = "say Hello first"
    remedy = "wait for SessionReady before the first request"


class InvalidAgentId(ParleyError):
    code = 3001
    text = "no agent has this agent_id"
    remedy = "use the agent_id of an AgentCreated of this session"


class AgentDestroyed(ParleyError):
    code = 3002
    text = "this agent was destroyed"
    remedy = "make a new agent; a dialog exported before can be seeded into it"


class WorkflowInvalid(ParleyError):
    code = 3003
    text = "the workflow cannot run"
    remedy = "read `problems`: each names node, field and JSON path; `parley validate` lists the same"


class AgentBusy(ParleyError):
    code = 3004
    text = "a turn of this agent is running; wait for its TurnComplete or cancel it"
    remedy = "wait for TurnComplete, or send CancelTurn"


class UnknownNode(ParleyError):
    code = 3005
    text = "the workflow has no node of this name"
    remedy = "use the name of a node as it stands in the workflow"


class ParamNotMutable(ParleyError):
    code = 3006
    text = "this parameter is fixed when the agent is created"
    remedy = "make a new agent with the changed workflow; the node's reference page says which parameters are fixed"


class InvalidValue(ParleyError):
    code = 3007
    text = "a value is out of its bounds or of the wrong type"
    remedy = "the message and `path` name the value and what would be right"


class InvalidExitTarget(ParleyError):
    code = 3008
    text = "an exit names a node that the workflow does not have"
    remedy = "name a node of the workflow, or leave the exit empty to end the turn"


class StorageOutsideRoot(ParleyError):
    code = 3009
    text = "the path leaves the session's storage folder"
    remedy = "use a relative path that stays inside the folder, links included"


class StorageFileNotFound(ParleyError):
    code = 3010
    text = "no such file in the session's storage folder"
    remedy = "check the name, and that ConfigureSession named the folder"


class StorageKindMismatch(ParleyError):
    code = 3011
    text = "the storage is of another kind than the node needs"
    remedy = "use a file or storage of the kind that the message names"


class InvalidDialog(ParleyError):
    code = 3012
    text = "the dialog cannot be read"
    remedy = "`path` names the place in the dialog; nothing was changed"


class UnknownToolCall(ParleyError):
    code = 3013
    text = "no tool call of this call_id is waiting"
    remedy = "answer each `tool_call` event once, before its turn goes on"


class LimitExceeded(ParleyError):
    code = 3014
    text = "a limit of this sidecar is reached"
    remedy = "the message names the limit and its setting"


class InferenceFailed(ParleyError):
    code = 4001
    text = "a model failed while it was generating, or the code of a node type did"
    remedy = "the message says which; the agent is usable: try the line again, or mend the node type (the log has more)"


class TurnTimeout(ParleyError):
    code = 4002
    text = "the turn made no progress for `turn_timeout_s`"
    remedy = "look for a stuck model or tool in the log, or raise `turn_timeout_s`"


class MaxStepsExceeded(ParleyError):
    code = 4003
    text = "the turn took more steps than the agent allows"
    remedy = "look for a loop in the workflow, or raise `max_steps` on the agent"


class PromptTooLong(ParleyError):
    code = 4004
    text = "the prompt does not fit the context window"
    remedy = "shorten system prompt, template or line, lower `max_tokens`, or raise `context_size`"


class SpeechFailed(ParleyError):
    code = 4005
    text = "the voice failed"
    remedy = "the text was sent as usual; the message says what the voice could not do"


class MalformedMessage(ParleyError):
    code = 5001
    text = "the message cannot be read"
    remedy = "the message names part and field; both sides should be of one version"


class UnknownMessageType(ParleyError):
    code = 5002
    text = "this sidecar knows no message of this type"
    remedy = "check the spelling, or update the older side"


class MessageTooLarge(ParleyError):
    code = 5003
    text = "the message is too large"
    remedy = "send less, export dialogs in pieces, or raise `max_json_bytes`"


class ProtocolMismatch(ParleyError):
    code = 5004
    text = "this sidecar speaks another protocol version"
    remedy = "use plugin and sidecar of one version"


class DownloadFailed(ParleyError):
    code = 6001
    text = "the download failed"
    remedy = "try again: it goes on where it stopped; check the connection"


class DownloadNotAvailable(ParleyError):
    code = 6002
    text = "this model cannot be downloaded"
    remedy = "put the file where the catalog says, or allow downloads in ConfigureSession"


class InsufficientDiskSpace(ParleyError):
    code = 6003
    text = "the disk has too little room for the model"
    remedy = "free the space that the message names, or set `models_folder` to another disk"


class DownloadActive(ParleyError):
    code = 6004
    text = "a download of this model is running"
    remedy = "wait for its Progress to end"


class ModelNotFound(ParleyError):
    code = 6005
    text = "the catalog has no model of this name"
    remedy = "`parley models` lists the names; a game adds its own in its catalog"


class ModelCorrupt(ParleyError):
    code = 6006
    text = "the model file cannot be read"
    remedy = "fetch the file again; the message says what is wrong with it"


class ModelLoadFailed(ParleyError):
    code = 6007
    text = "the model could not be loaded"
    remedy = "the message says why; `parley doctor` shows what this machine can do"


class InvalidStorageName(ParleyError):
    code = 7001
    text = f"no name for a string storage ({NAME_RULE}), or none that there is"
    remedy = "create: choose such a name; destroy: say the name as CreateStringStorage did, in the same session"


class StorageExists(ParleyError):
    code = 7002
    text = "a string storage of this name exists"
    remedy = "choose another name, or destroy the old storage first"


class InvalidStorageData(ParleyError):
    code = 7003
    text = "the storage's data cannot be read"
    remedy = "the message names file, line or entry"


class StorageNameInUse(ParleyError):
    code = 7004
    text = "the name is also a file in the storage folder"
    remedy = "choose a name that no file in the storage folder has"


class InvalidEmbeddedStorageName(ParleyError):
    code = 8001
    text = f"no name for an embedded storage ({NAME_RULE}), or none that there is"
    remedy = "create: choose such a name; destroy: say the name as CreateEmbeddedStorage did, in the same session"


class EmbeddedStorageExists(ParleyError):
    code = 8002
    text = "an embedded storage of this name exists"
    remedy = "choose another name, or destroy the old storage first"


class InvalidEmbeddedStorageData(ParleyError):
    code = 8003
    text = "the embedded storage's data cannot be read"
    remedy = "the message names file, record or field"


def _family(root: type[ParleyError]) -> list[type[ParleyError]]:
    return [child for cls in root.__subclasses__() for child in (cls, *_family(cls))]


BY_CODE: dict[int, type[ParleyError]] = {cls.code: cls for cls in sorted(_family(ParleyError), key=lambda c: c.code)}
"""The error class of every wire code, in the order of the codes."""
