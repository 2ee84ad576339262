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


class ParleyError(Exception):
    """Something went wrong in a way that the client is told about.

    The message says what was wrong, where, and what to do; `code` and the class's name go on the wire.
    """

    code: ClassVar[int] = 0
    text: ClassVar[str] = "something went wrong"

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


class SessionExpired(ParleyError):
    code = 1002
    text = "no session has this key any more; say Hello without `resume`"


class TooManySessions(ParleyError):
    code = 1003
    text = "the sidecar has as many sessions as it allows (`max_sessions`)"


class ShuttingDown(ParleyError):
    code = 2001
    text = "the sidecar is shutting down"


class SessionNotReady(ParleyError):
    code = 2002
    text = "say Hello first"


class InvalidAgentId(ParleyError):
    code = 3001
    text = "no agent has this agent_id"


class AgentDestroyed(ParleyError):
    code = 3002
    text = "this agent was destroyed"


class WorkflowInvalid(ParleyError):
    code = 3003
    text = "the workflow cannot run"


class AgentBusy(ParleyError):
    code = 3004
    text = "a turn of this agent is running; wait for its TurnComplete or cancel it"


class UnknownNode(ParleyError):
    code = 3005
    text = "the workflow has no node of this name"


class ParamNotMutable(ParleyError):
    code = 3006
    text = "this parameter is fixed when the agent is created"


class InvalidValue(ParleyError):
    code = 3007
    text = "a value is out of its bounds or of the wrong type"


class InvalidExitTarget(ParleyError):
    code = 3008
    text = "an exit names a node that the workflow does not have"


class StorageOutsideRoot(ParleyError):
    code = 3009
    text = "the path leaves the session's storage folder"


class StorageFileNotFound(ParleyError):
    code = 3010
    text = "no such file in the session's storage folder"


class StorageKindMismatch(ParleyError):
    code = 3011
    text = "the storage is of another kind than the node needs"


class InvalidDialog(ParleyError):
    code = 3012
    text = "the dialog cannot be read"


class UnknownToolCall(ParleyError):
    code = 3013
    text = "no tool call of this call_id is waiting"


class LimitExceeded(ParleyError):
    code = 3014
    text = "a limit of this sidecar is reached"


class InferenceFailed(ParleyError):
    code = 4001
    text = "the model failed while it was generating"


class TurnTimeout(ParleyError):
    code = 4002
    text = "the turn made no progress for `turn_timeout_s`"


class MaxStepsExceeded(ParleyError):
    code = 4003
    text = "the turn took more steps than the agent allows"


class PromptTooLong(ParleyError):
    code = 4004
    text = "the prompt does not fit the context window"


class SpeechFailed(ParleyError):
    code = 4005
    text = "the voice failed"


class MalformedMessage(ParleyError):
    code = 5001
    text = "the message cannot be read"


class UnknownMessageType(ParleyError):
    code = 5002
    text = "this sidecar knows no message of this type"


class MessageTooLarge(ParleyError):
    code = 5003
    text = "the message is too large"


class ProtocolMismatch(ParleyError):
    code = 5004
    text = "this sidecar speaks another protocol version"


class DownloadFailed(ParleyError):
    code = 6001
    text = "the download failed"


class DownloadNotAvailable(ParleyError):
    code = 6002
    text = "this model cannot be downloaded"


class InsufficientDiskSpace(ParleyError):
    code = 6003
    text = "the disk has too little room for the model"


class DownloadActive(ParleyError):
    code = 6004
    text = "a download of this model is running"


class ModelNotFound(ParleyError):
    code = 6005
    text = "the catalog has no model of this name"


class ModelCorrupt(ParleyError):
    code = 6006
    text = "the model file cannot be read"


class ModelLoadFailed(ParleyError):
    code = 6007
    text = "the model could not be loaded"


class InvalidStorageName(ParleyError):
    code = 7001
    text = "a storage name must match [A-Za-z_][A-Za-z0-9_]*, at most 64 characters"


class StorageExists(ParleyError):
    code = 7002
    text = "a string storage of this name exists"


class InvalidStorageData(ParleyError):
    code = 7003
    text = "the storage's data cannot be read"


class StorageNameInUse(ParleyError):
    code = 7004
    text = "the name is also a file in the storage folder"


class InvalidEmbeddedStorageName(ParleyError):
    code = 8001
    text = "a storage name must match [A-Za-z_][A-Za-z0-9_]*, at most 64 characters"


class EmbeddedStorageExists(ParleyError):
    code = 8002
    text = "an embedded storage of this name exists"


class InvalidEmbeddedStorageData(ParleyError):
    code = 8003
    text = "the embedded storage's data cannot be read"


def _family(root: type[ParleyError]) -> list[type[ParleyError]]:
    return [child for cls in root.__subclasses__() for child in (cls, *_family(cls))]


BY_CODE: dict[int, type[ParleyError]] = {cls.code: cls for cls in sorted(_family(ParleyError), key=lambda c: c.code)}
"""The error class of every wire code, in the order of the codes."""
