"""Messages, errors and settings: complete by discovery."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from bridge import errors, protocol
from bridge.config import Settings, load_settings, settings_table
from bridge.errors import BY_CODE, InvalidValue

CODES = {
    1001: "Unauthorized", 1002: "SessionExpired", 1003: "TooManySessions", 2001: "ShuttingDown",
    2002: "SessionNotReady", 3001: "InvalidAgentId", 3002: "AgentDestroyed", 3003: "WorkflowInvalid",
    3004: "AgentBusy", 3005: "UnknownNode", 3006: "ParamNotMutable", 3007: "InvalidValue",
    3008: "InvalidExitTarget", 3009: "StorageOutsideRoot", 3010: "StorageFileNotFound",
    3011: "StorageKindMismatch", 3012: "InvalidDialog", 3013: "UnknownToolCall", 3014: "LimitExceeded",
    4001: "InferenceFailed", 4002: "TurnTimeout", 4003: "MaxStepsExceeded", 4004: "PromptTooLong",
    4005: "SpeechFailed", 5001: "MalformedMessage", 5002: "UnknownMessageType", 5003: "MessageTooLarge",
    5004: "ProtocolMismatch", 6001: "DownloadFailed", 6002: "DownloadNotAvailable", 6003: "InsufficientDiskSpace",
    6004: "DownloadActive", 6005: "ModelNotFound", 6006: "ModelCorrupt", 6007: "ModelLoadFailed",
    7001: "InvalidStorageName", 7002: "StorageExists", 7003: "InvalidStorageData", 7004: "StorageNameInUse",
    8001: "InvalidEmbeddedStorageName", 8002: "EmbeddedStorageExists", 8003: "InvalidEmbeddedStorageData",
}  # fmt: skip


def test_every_error_code_has_its_class() -> None:
    assert {code: cls.__name__ for code, cls in BY_CODE.items()} == CODES
    assert all(name in (errors.__doc__ or "") for name in CODES.values())
    assert all(cls.text != errors.ParleyError.text for cls in BY_CODE.values())


def test_every_message_is_of_one_direction() -> None:
    groups = [set(protocol.REQUESTS), set(protocol.REPLIES), set(protocol.PUSHES)]
    assert sum(map(len, groups)) == len(protocol.MESSAGES)
    assert all(model.__doc__ for model in protocol.MESSAGES.values())


def test_messages_refuse_wrong_types() -> None:
    with pytest.raises(ValidationError):
        protocol.SendMessage.model_validate_json(b'{"agent_id": "a", "text": 5}')
    with pytest.raises(ValidationError):
        protocol.CancelTurn.model_validate_json(b'{"agent_id": "a", "turn_id": true}')
    with pytest.raises(ValidationError):
        protocol.CreateAgent.model_validate_json(b'{"workflow": []}')


def test_the_fingerprint_follows_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    before = protocol.schema_fingerprint()
    assert before == protocol.schema_fingerprint()
    monkeypatch.delitem(protocol.MESSAGES, "Pong")
    assert protocol.schema_fingerprint() != before


# ---- settings ------------------------------------------------------------------------------------------------


def test_later_layers_win(tmp_path: Path) -> None:
    file = tmp_path / "parley.toml"
    file.write_text("n_threads = 1\nprompt_chunk = 2\nresident_sequences = 3\n", encoding="utf-8")
    settings = load_settings(
        file, {"PARLEY_PROMPT_CHUNK": "20", "PARLEY_RESIDENT_SEQUENCES": "30", "HOME": "/"}, {"resident_sequences": 40}
    )
    assert (settings.n_threads, settings.prompt_chunk, settings.resident_sequences) == (1, 20, 40)


@pytest.mark.parametrize(
    ("toml", "environment", "says"),
    [
        ("nope = 1", {}, "nope"),
        ("", {"PARLEY_NOPE": "1"}, "PARLEY_NOPE"),
        ("n_threads = -1", {}, "n_threads"),
        ("n_threads = [", {}, "TOML"),
        ("", {"PARLEY_DETERMINISTIC": "perhaps"}, "deterministic"),
        ('log_level = "loud"', {}, "log_level"),
    ],
)
def test_bad_settings_are_named(toml: str, environment: dict[str, str], says: str, tmp_path: Path) -> None:
    file = tmp_path / "parley.toml"
    file.write_text(toml, encoding="utf-8")
    with pytest.raises(InvalidValue, match=says):
        load_settings(file, environment)


def test_a_settings_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"gone\.toml"):
        load_settings(tmp_path / "gone.toml", {})


def test_the_settings_table_says_all() -> None:
    rows = settings_table()
    assert [row[0] for row in rows] == list(Settings.model_fields)
    assert all(scope and meaning for _, scope, _, _, meaning in rows)
    assert next(row for row in rows if row[0] == "prompt_chunk")[3] == "≥ 1, ≤ 8192"
