"""IntentToInstruction: a direction for the models of this turn that depends on the intent."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import PrivateAttr

from bridge.errors import InvalidStorageData
from bridge.node import Checks, Kind, Node, TurnView, exit_param, param


class IntentToInstruction(Node):
    """Adds the instruction that belongs to the intent found this turn; without one it goes on and adds nothing."""

    tag_family = "instruction_"
    tag_name_field = "instruction_name"

    string_storage: str = param(
        "", "A Map from intent to instruction: a file or a created storage.", kind=Kind.STRING_STORAGE
    )
    inline_keys: list[str] = param([], "The intents, where no storage is named.", structural=True)
    inline_strings: list[str] = param([], "The instruction of each of them.", structural=True)
    instruction_name: str = param("", "Name in {{instruction_<name>}}; empty: the node's name.", kind=Kind.NAME)
    output_name: str = param("", "Slot to write; empty: the node's name.", kind=Kind.SLOT_OUTPUT, structural=True)
    default_exit: str = exit_param("the instruction is in force, or there is none")

    _texts: dict[str, str] = PrivateAttr(default_factory=dict)

    @property
    def reads_intents(self) -> Collection[str]:
        return list(self._texts) if self.string_storage or self.inline_keys else ()

    def prepare(self, checks: Checks) -> None:
        found = checks.strings(
            self.string_storage, self.inline_strings, "intent_instructions.json", keys=self.inline_keys, kind="Map"
        )
        if found is not None and not found.texts:
            field = "string_storage" if self.string_storage else "inline_strings"
            checks.problem("the map has no instructions; add one", field=field, error=InvalidStorageData)
        if found is not None:
            self._texts = dict(zip(found.keys, found.texts, strict=True))

    async def run(self, turn: TurnView) -> str:
        text = self._texts.get(turn.intent) if turn.intent else None
        turn.detail(intent=turn.intent, found=text is not None)
        if text is not None:
            turn.add_instruction(self.instruction_name or self.name, text)
            await turn.write(text)
        return "default"
