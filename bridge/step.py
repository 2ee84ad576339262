"""One execution of a node: what it may do, how its prompt comes about, and what it leaves in the diagnostics."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import to_jsonable_python

from bridge import template
from bridge.asking import Asking
from bridge.classify import Label
from bridge.errors import LimitExceeded
from bridge.node import Kind, Node, SpeakingNode, VoiceNode
from bridge.protocol import InstructionRecord, KnowledgeChunkRecord, KnowledgeRecord, Output, StepFinish, ToolCallFormat
from bridge.speech_step import Manner, StepSpeech
from bridge.tool_call import Call, ParsedReply, Tool
from bridge.variables import Value
from bridge.wording import suggest, words_of

if TYPE_CHECKING:
    from bridge.filter import Filter
    from bridge.retrieval import Hit
    from bridge.turn import Turn


class Step:
    """`node.TurnView` for one execution of a node."""

    def __init__(self, turn: Turn, node: Node, number: int) -> None:
        self.turn = turn
        self.node = node
        self.number = number
        self.generating = False
        self.speech: StepSpeech | None = None
        """What of this step is heard."""
        self._spoke = False
        self._started = time.monotonic()
        self.details: dict[str, Any] = {}
        self.input: dict[str, Any] = {}
        self.facts: dict[str, Any] = {}

    @property
    def user_message(self) -> str:
        return self.turn.user_message

    def slot(self, name: str) -> str:
        return self.turn.slots.get(name, "")

    def read_input(self, name: str) -> str:
        slot = name or "user_message"
        if slot not in self.turn.slots:
            self.details["input_missing"] = slot
        text = self.slot(slot)
        self.input = {"slot": slot, "text": text}
        return text

    def variable(self, name: str) -> Value:
        return self.turn.variables[name]

    def render(self, field: str) -> str:
        return self.rendering(field, self.turn.user_message)

    def rendering(self, field: str, user_message: str) -> str:
        compiled = self.node.templates.get(field)
        if compiled is None:
            known = type(self.node).fields_of(Kind.TEMPLATE)
            if field not in known:
                raise ValueError(f"{self.node.type_name} has no template '{field}'; {suggest(field, known)}")
            return ""
        return compiled.render(
            template.scope(
                user_message=user_message,
                slots=self.turn.slots,
                variables=self.turn.variables,
                instructions=[(item.name, item.text) for item in self.turn.instructions],
                summary=self.turn.summary_text,
                intent=self.turn.intent,
                attributes=self.turn.attributes,
                knowledge=[
                    template.KnowledgeSource(
                        item.source,
                        tuple(template.KnowledgeChunk(c.id, c.text, c.distance) for c in item.chunks),
                    )
                    for item in self.turn.knowledge.values()
                ],
            ),
            self.turn.cast.settings.max_turn_chars,
        )

    def pick(self, count: int, selection: Literal["RoundRobin", "First", "Random"]) -> int:
        if selection == "First":
            return 0
        if selection == "Random":
            return self.turn.cast.random.randrange(count)
        said = self.turn.cast.picks.get(self.node.name, 0)
        self.turn.cast.picks[self.node.name] = said + 1
        return said % count

    def add_instruction(self, name: str, text: str) -> None:
        self.turn.instructions.append(InstructionRecord(name=name, text=text))

    def spend(self, work: int, most: int, what: str) -> None:
        spent = self.turn.spent[self.node.type_name] = self.turn.spent.get(self.node.type_name, 0) + work
        if spent > most:
            raise LimitExceeded(
                f"{what} is too much work for one turn: {spent} units with what was done before; {most} are allowed",
                node_name=self.node.name,
            )

    def detail(self, **values: Any) -> None:
        for name, value in values.items():
            try:
                self.details[name] = to_jsonable_python(value, fallback=repr)
            except Exception as fault:  # a value of any make: it may be cyclic, or refuse to be looked at
                self.details[name] = f"(cannot be shown: {words_of(fault)})"

    def warn(self, message: str) -> None:
        self.turn.warn(message, self.node.name)

    def speak_along(self) -> None:
        self._begin_speech()

    def speak(self, text: str) -> None:
        self._begin_speech()
        self.turn.account(len(text))  # a voice may take longer over it than a model
        if self.speech is not None:
            self.speech.say(text)
            self.speech.finish()

    def _begin_speech(self) -> None:
        self.turn.must_go_on()
        node = self.node
        if not isinstance(node, VoiceNode):
            raise TypeError(f"{node.type_name} is no VoiceNode, so it cannot speak")
        if "speech" in self.facts:
            raise RuntimeError("a node speaks once in a step; take an exit to another node for more")
        manner = Manner(node.voice, node.speaker_id, node.speed, node.min_sentence_chars, node.speak_actions)
        self.facts["speech"] = {}
        self.speech = self.turn.speech.begin(self.number, node.name, manner, self.facts["speech"])

    async def write(self, text: str, *, spoken: bool = True) -> None:
        self.may_speak()
        self.put(text, spoken=spoken)
        send = getattr(self.node, "send", "None") if spoken else "None"
        if send != "None":
            self.turn.send(self.number, self.node.name, text, is_final=True, is_delta=send == "Streamed")

    def may_speak(self) -> None:
        self.turn.must_go_on()
        if self._spoke or self.generating or self.turn.was_sent(self.number) is not None:
            raise RuntimeError("a node writes or generates once in a step; take an exit to another node for more")

    def close(self) -> None:
        """Close what the node left open: the client gets its final frame, and what it was sent is the output."""
        if self.speech is not None:
            self.speech.finish()
        if self.generating:
            self.turn.finish.append(StepFinish(step=self.number, node_name=self.node.name, reason="error"))
        if self.turn.is_open(self.number):
            self.turn.send(self.number, self.node.name, "", is_final=True)
            self.put(self.turn.was_sent(self.number) or "")

    def put(self, text: str, *, spoken: bool = True) -> None:
        """Write to the node's slot and record it."""
        self.turn.account(len(text))
        self._spoke = True
        output = output_of(self.node, self.number, text, spoken=spoken)
        self.turn.slots[output.slot] = text
        self.turn.outputs.append(output)

    # ---- models

    async def generate(self) -> str:
        return await Asking(self).generate()

    async def summarize(self, trigger_tokens: int, keep_recent_turns: int) -> None:
        await Asking(self).summarize(trigger_tokens, keep_recent_turns)

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
        self.turn.must_go_on()
        asking = Asking(self)
        return await asking.choose(
            labels,
            input_name=input_name,
            task=task,
            question=question,
            reminder=reminder,
            history_turns=history_turns,
        )

    async def ask_for_calls(
        self, tools: Sequence[Tool], format_name: ToolCallFormat | Literal[""], *, constrain: bool
    ) -> ParsedReply:
        return await Asking(self).ask_for_calls(tools, format_name, constrain=constrain)

    async def call_tools(
        self,
        calls: Sequence[Call],
        format_name: ToolCallFormat | Literal[""],
        *,
        notify: bool,
        wait_s: float,
        keep: bool,
    ) -> list[str]:
        self.turn.must_go_on()
        shape = Asking(self).tool_format(format_name)
        return await self.turn.tools.call(
            self.number, self.node.name, calls, shape.name, notify=notify, wait_s=wait_s, keep=keep
        )

    # ---- what nodes find out

    async def search(self, storage: str, text: str, *, top_k: int, threshold: float, only: Filter | None) -> list[Hit]:
        self.turn.must_go_on()
        self.turn.touch()
        held = self.turn.cast.knowledge[storage]
        hits = await held.storage.search(
            held.model.engine, text, top_k=top_k, threshold=threshold, filter=only, variables=self.turn.variables
        )
        self.turn.touch()
        self.turn.must_go_on()
        return hits

    @property
    def intent(self) -> str:
        return self.turn.intent

    def set_intent(self, intent: str) -> None:
        self.turn.must_go_on()
        self.turn.intent = intent

    def set_attribute(self, name: str, label: str) -> None:
        self.turn.must_go_on()
        self.turn.attributes[name] = label

    def add_knowledge(self, source: str, hits: Sequence[Hit]) -> None:
        self.turn.must_go_on()
        chunks = [KnowledgeChunkRecord(id=hit.id, text=hit.text, distance=hit.distance) for hit in hits]
        self.turn.account(sum(len(chunk.text) for chunk in chunks))
        self.turn.knowledge[source] = KnowledgeRecord(source=source, chunks=chunks)

    def notify(self, event: str, data: Mapping[str, Any]) -> None:
        self.turn.must_go_on()
        self.turn.event(self.number, self.node.name, event, dict(data))

    # ---- diagnostics

    def debug(self, taken: str) -> dict[str, Any]:
        """This step's entry in the diagnostics."""
        output = next((item for item in self.turn.outputs if item.step == self.number), None)
        return {
            "step": self.number,
            "node_name": self.node.name,
            "type": self.node.type_name,
            "exit": taken,
            "start_ms": milliseconds(self._started - self.turn.started),
            "duration_ms": milliseconds(time.monotonic() - self._started),
            "input": self.input,
            "output": output.model_dump(include={"slot", "text", "send", "history_role"}) if output else None,
            **self.facts,
            "details": self.details,
        }


def output_of(node: Node, number: int, text: str, *, spoken: bool = True) -> Output:
    """The record of what a node wrote in a step. `spoken` False: neither sent nor replayed, whatever the node says."""
    if spoken and isinstance(node, SpeakingNode):
        return Output(
            step=number,
            node_name=node.name,
            slot=node.slot_name,
            text=text,
            send=node.send,
            history_role=node.history_role,
            history_name=node.history_name,
        )
    return Output(step=number, node_name=node.name, slot=node.slot_name, text=text)


def milliseconds(seconds: float) -> float:
    """Seconds as milliseconds, to the microsecond."""
    return round(seconds * 1000, 3)
