"""`parley chat` and `parley demo`: a conversation with a workflow, in the terminal or as lines of JSON.

`Chat` holds the conversation; a screen shows it. Threading: all of it lives on the event loop, but for the keyboard's
thread and the one that brings the sidecar's log lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic_core import PydanticSerializationError

from bridge import protocol
from bridge.chat_keyboard import Keyboard, LineEditor, ctrl_c, keyboard_of_terminal, keys_unseen
from bridge.chat_screen import JsonLines, Screen, Terminal, clean
from bridge.chat_voice import STARTER_VOICE, Hearing, has_voice, lend_voice, open_hearing
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.config import ENVIRONMENT_PREFIX
from bridge.errors import InvalidValue, ParleyError, SessionExpired, ShuttingDown, UnknownToolCall
from bridge.launch import Sidecar, SidecarFailed
from bridge.node import SpeakingNode, default_registry
from bridge.transport import run_on_selector_loop
from bridge.voice_player import CannotPlay, Sink, Speakers
from bridge.voice_recording import CannotRecord
from bridge.wording import suggest

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

HELP = """\
Type a line and press Enter; every character of the workflow may answer.
/inspect  what the models read for the last line, and what it cost; /inspect NODE shows one node only
/var      the variables of the game; /var NAME=VALUE sets one from the next line on
/reset    start a new conversation
/help     this list
/quit     leave (so do Ctrl-D, and Ctrl-C while nobody answers)
Ctrl-C    stop the answer that is being written
With --speak the next line, also an empty one, stops what is still heard."""

DONE = "done"
"""What a tool answers in the chat that --tool says nothing of."""

_USAGE_FAULTS = (5001, 5003, 6005)


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What `parley chat` is asked to do."""

    workflow: Path
    say: tuple[str, ...] = ()
    as_json: bool = False
    model: str = ""
    diagnostics: bool = False
    variables: tuple[str, ...] = ()
    """NAME=VALUE of variables of the workflow."""
    tools: tuple[str, ...] = ()
    """NAME=RESULT: what a tool answers, `{argument}` in it standing for an argument of the call."""
    config: Path | None = None
    """A settings file for the sidecar."""
    speak: bool = False
    """Whether voices are heard."""
    record: Path | None = None
    """A folder that gets what voices say."""
    voice: str = ""
    """A catalog voice in place of the workflow's."""


def run_chat(
    options: ChatOptions,
    settings_flags: Mapping[str, Any] | None = None,
    make_sink: Callable[[], Sink] = Speakers,
) -> int:
    """Hold the conversation and return the exit code.

    0; 1 where a turn was no Success or the sidecar failed; 2 for what the caller got wrong; 130 where Ctrl-C came
    before there was a prompt. `settings_flags` are settings of the sidecar by name. Raises BrokenPipeError when
    nobody reads stdout any more.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    screen = JsonLines() if options.as_json else Terminal(options.diagnostics)
    screen.model_is_given = bool(options.model)
    try:
        workflow = read_workflow(options.workflow, options.model)
        if options.voice:
            lend_voice(workflow, options.voice)
    except InvalidValue as fault:
        screen.error(str(fault))
        return EXIT_USAGE
    # Where lines are not edited here, the terminal itself does it, and must show them.
    keyboard = Keyboard.of_stdin() if options.as_json or options.say else keyboard_of_terminal()
    try:
        with keys_unseen() if isinstance(keyboard, LineEditor) else contextlib.nullcontext():
            return run_on_selector_loop(Chat(options, workflow, screen, keyboard, make_sink).run(settings_flags or {}))
    finally:
        screen.close()


def read_workflow(file: Path, model: str = "") -> dict[str, Any]:
    """The workflow of a file; `model` replaces every model that it names. Raises InvalidValue in one sentence."""
    try:
        workflow = orjson.loads(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except FileNotFoundError:
        raise InvalidValue(f"there is no file {file}") from None
    except OSError as fault:
        raise InvalidValue(f"cannot read {file}: {fault.strerror}") from None
    except orjson.JSONDecodeError as fault:
        raise InvalidValue(f"{file} is not valid JSON: {fault}") from None
    if not isinstance(workflow, dict):
        raise InvalidValue(f"{file} is no workflow: it must be a JSON object")
    if model:
        workflow["default_model"] = model
        nodes = workflow.get("nodes")
        for node in nodes if isinstance(nodes, list) else ():
            # Only where it is there: not every node type has a model, and an unknown field is an error.
            if isinstance(node, dict) and "model" in node:
                node["model"] = model
    return workflow


class Chat:
    """One run of `parley chat`: its sidecar, its agent, and what the exit code will be."""

    def __init__(
        self,
        options: ChatOptions,
        workflow: dict[str, Any],
        screen: Screen,
        keyboard: Keyboard | LineEditor,
        make_sink: Callable[[], Sink] = Speakers,
    ) -> None:
        self.failed = False
        """Whether some turn was not a Success."""
        self._tools: dict[str, str] = {}
        self._values: dict[str, Any] = {}
        """Variables that were given a value here, by --var or /var."""
        self._options = options
        self._workflow = workflow
        self._screen = screen
        self._keyboard = keyboard
        self._make_sink = make_sink
        self._hearing = Hearing()
        self._diagnostics = options.diagnostics or not (options.as_json or options.say)
        self._agent_id = ""
        self._last: protocol.TurnComplete | None = None
        self._client: ParleyClient | None = None
        self._main: asyncio.Task[Any] | None = None
        self._cancelling: asyncio.Task[None] | None = None
        self._answering = False
        self._stopping = False
        self._broken_pipe: OSError | None = None

    async def run(self, settings_flags: Mapping[str, Any]) -> int:
        """From the sidecar's start to its end; returns the exit code."""
        environment = dict(os.environ)
        environment.update({_variable(key): str(value) for key, value in settings_flags.items() if value is not None})
        if not self._options.as_json:
            environment.setdefault(_variable("log_level"), "warning")
        flags = [] if self._options.config is None else ["--config", str(self._options.config)]
        sidecar = Sidecar(*flags, on_stderr=_on_loop(self._screen.log), environment=environment)
        self._main = asyncio.current_task()
        with ctrl_c(self.interrupt):
            try:
                self.open_hearing()
                self._screen.busy("starting")
                async with sidecar:
                    client = await ParleyClient.connect(
                        sidecar.endpoint,
                        sidecar.token,
                        client="parley chat",
                        on_envelope=self.take,
                        reconnect_s=0,  # the sidecar is this process's own: gone once, it stays away
                        server_public_key=sidecar.curve_public_key,
                    )
                    async with client:
                        return await self.talk(client)
            except asyncio.CancelledError:
                if self._broken_pipe is not None:
                    raise self._broken_pipe from None
                if not self._stopping:
                    raise
                if self._options.say or not self._agent_id:
                    return EXIT_INTERRUPTED
                self._end_prompt()
                return self._exit_code()
            except BrokenPipeError:
                raise
            except (CannotPlay, CannotRecord) as fault:
                self._screen.error(str(fault))
                return EXIT_FAILED
            except SidecarFailed as fault:
                # Its other lines are the log, which has been shown.
                self._screen.error(str(fault).partition("\n")[0])
                return EXIT_USAGE if fault.exit_code == EXIT_USAGE else EXIT_FAILED
            except (ShuttingDown, SessionExpired, OSError) as fault:
                self._screen.error(f"the sidecar is gone: {fault}" if self._client else str(fault))
                return EXIT_FAILED
            except ParleyError as fault:
                self._screen.error(fault.message)
                return EXIT_FAILED
            finally:
                self._hearing.close()
                self._screen.close()

    def open_hearing(self) -> None:
        """Make ready to play or record what voices say. Raises CannotPlay and CannotRecord."""
        options, tell = self._options, self._screen.error
        self._hearing = open_hearing(options.speak, options.record, tell, _on_loop(tell), self._make_sink)

    async def talk(self, client: ParleyClient) -> int:
        """The conversation over a client that has said Hello. Raises what ends a connection."""
        self._client = client
        lost = asyncio.ensure_future(_until_lost(client))
        try:
            code = await self._begin()
            if code == EXIT_OK:
                await (self._say_lines() if self._options.say else self._converse(lost))
            return code or self._exit_code()
        finally:
            self._hearing.hush()
            lost.cancel()
            await asyncio.gather(lost, return_exceptions=True)

    def take(self, envelope: Envelope) -> None:
        """Shows one frame; nobody reading what is shown ends the chat."""
        if self._broken_pipe is not None:
            return
        self._hearing.take(envelope)
        try:
            self._screen.show(envelope)
        except OSError as fault:
            self._broken_pipe = fault
            self._stop()

    def interrupt(self) -> None:
        """Ctrl-C: cancels the turn that runs; where none does, or a second time, ends the chat."""
        if self._answering and self._cancelling is None:
            self._hearing.hush()
            self._cancelling = asyncio.ensure_future(self._cancel_turn())
            self._screen.busy("stopping")
        else:
            self._stop()

    # ---- the conversation

    async def _begin(self) -> int:
        assert self._client is not None
        options = self._options
        self._screen.busy("preparing the models")
        try:
            # A link to a workflow stands for the file that it leads to, and for that file's folder.
            folder = options.workflow.resolve().parent
            await self._client.request(protocol.ConfigureSession(storage_folder=str(folder)))
            self._tools = _tool_results(options.tools, self._workflow)
            self._values = _variables(options.variables, self._workflow, "--var")
            await self._make_agent()
        except (ShuttingDown, SessionExpired):
            raise
        except ParleyError as fault:
            if fault.problems:
                self._screen.problems(fault.problems)
            else:
                self._screen.error(fault.message)
            refused = bool(fault.problems) or 3000 <= fault.code < 4000 or fault.code in _USAGE_FAULTS
            return EXIT_USAGE if refused else EXIT_FAILED
        except (PydanticSerializationError, RecursionError):
            self._screen.error(f"{options.workflow} is nested too deeply")
            return EXIT_USAGE
        name = options.workflow.name.removesuffix(".json").removesuffix(".workflow")
        self._screen.begin(name, self._player_name(), speakers(self._workflow), has_keyboard=not options.say)
        if (options.speak or options.record) and not has_voice(self._workflow):
            self._screen.error(
                f"no node of {options.workflow.name} has a voice, so there is nothing to hear; "
                f"--voice {STARTER_VOICE} lends one to its Generate nodes"
            )
        return EXIT_OK

    async def _make_agent(self) -> None:
        assert self._client is not None
        created = await self._client.create_agent(
            self._workflow, variables=self._values, enable_diagnostics=self._diagnostics
        )
        self._agent_id = created.agent_id
        self._last = None

    async def _say_lines(self) -> None:
        for line in self._options.say:
            self._must_go_on()
            self._screen.echo(line)
            await self._turn(line)
            if self._cancelling is not None:
                return
            await self._hearing.heard()

    async def _converse(self, lost: asyncio.Future[None]) -> None:
        while True:
            line = await self._next_line(lost)
            if line is None:
                self._end_prompt()
                return
            line = clean(line)
            if not self._keyboard.is_terminal:
                self._screen.echo_typed(line)
            command = line.strip()
            if not command:
                self._hearing.hush()
            if command.startswith("/"):
                if not await self._command(command):
                    return
            elif command:
                self._cancelling = None
                await self._turn(line)
                if not self._keyboard.is_terminal:
                    await self._hearing.heard()

    async def _next_line(self, lost: asyncio.Future[None]) -> str | None:
        self._must_go_on()
        prompt = self._screen.prompt(printed=not self._keyboard.shows_prompt)
        line = self._keyboard.next_line(prompt)
        either: set[asyncio.Future[Any]] = {line, lost}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not line.done():
                line.cancel()
                # An editor puts the terminal in order first.
                await asyncio.gather(line, return_exceptions=True)
        if lost.done():
            lost.result()
        return await line

    async def _command(self, command: str) -> bool:
        """Does what a line that begins with / asks for; False: leave."""
        assert self._client is not None
        typed, *rest = command.split(maxsplit=1)
        name = typed.lower()
        if rest and name in ("/help", "/reset", "/quit"):
            self._screen.note(f"{name} takes nothing more.")
        elif name == "/quit":
            return False
        elif name == "/help":
            self._screen.note(HELP)
        elif name == "/inspect":
            self._inspect("".join(rest))
        elif name == "/var":
            await self._variable("".join(rest))
        elif name == "/reset":
            await self._client.request(protocol.DestroyAgent(agent_id=self._agent_id))
            await self._make_agent()
            self._screen.note("A new conversation.")
        else:
            self._screen.note(f"There is no command {typed}; /help lists those there are.")
        return True

    async def _variable(self, pair: str) -> None:
        """Sets a variable for the turns to come; without one, shows all."""
        assert self._client is not None
        try:
            if pair:
                changed = _variables([pair], self._workflow, "/var")
                await self._client.request(protocol.SetVariables(agent_id=self._agent_id, values=changed))
                self._values |= changed
        except InvalidValue as fault:
            self._screen.note(f"{fault.message[:1].upper()}{fault.message[1:]}.")
            return
        there = {item["name"]: item["value"] for item in self._workflow.get("variables", ())} | self._values
        shown = {name: json.dumps(value, ensure_ascii=False) for name, value in there.items()}
        self._screen.note("\n".join(f"{name} = {value}" for name, value in shown.items()) or "There are no variables.")

    def _inspect(self, node: str) -> None:
        if not self._diagnostics:
            self._screen.note("To inspect turns while --json prints them, start with --json --diagnostics.")
        elif self._last is None:
            self._screen.note("There is nothing to inspect yet: no turn has ended. Say something first.")
        elif self._last.debug is None:
            self._screen.note("There is nothing to inspect: the last turn carries no diagnostics.")
        else:
            steps = self._last.debug.get("steps", ())
            names = list(dict.fromkeys(str(step.get("node_name", "")) for step in steps))
            found = [name for name in names if name == node] or [n for n in names if n.lower() == node.lower()]
            if not node or found:
                self._screen.inspect(self._last.debug, "".join(found[:1]))
            else:
                there = f"it had {', '.join(names)}" if names else "it had no step"
                self._screen.note(f"The last turn had no step of a node '{node}'; {there}.")

    def _end_prompt(self) -> None:
        if not self._keyboard.shows_prompt:
            self._screen.echo_end()

    async def _turn(self, line: str) -> None:
        assert self._client is not None
        self._answering = True
        self._hearing.begin_turn()
        self._screen.busy("reading")
        status = "none"
        try:
            async for envelope in self._client.turn(self._agent_id, line):
                self._must_go_on()
                if isinstance(envelope.message, protocol.TurnComplete):
                    self._last = envelope.message
                    status = envelope.message.status
                elif isinstance(envelope.message, protocol.NodeEvent) and envelope.message.event == "tool_call":
                    await self._answer_call(envelope.message)
        except (ShuttingDown, SessionExpired):
            raise
        except ParleyError as fault:
            self._screen.error(fault.message)
        finally:
            self._answering = False
            self.failed = self.failed or status != "Success"

    async def _answer_call(self, event: protocol.NodeEvent) -> None:
        """Plays the game: says what a tool that the model called has brought."""
        assert self._client is not None
        tool, arguments = str(event.data.get("tool", "")), event.data.get("arguments")
        result = self._tools.get(tool, DONE)
        shown = arguments if isinstance(arguments, dict) else {}
        for name, value in shown.items():
            result = result.replace(f"{{{name}}}", str(value))
        call = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in shown.items())
        self._screen.note(f"{event.node_name} calls {tool}({call}) → {result}")
        call_id = str(event.data.get("call_id", ""))
        # A turn that does not wait for results may be over.
        with contextlib.suppress(UnknownToolCall):
            await self._client.request(protocol.ToolResult(agent_id=event.agent_id, call_id=call_id, result=result))

    async def _cancel_turn(self) -> None:
        assert self._client is not None
        # A connection that is lost meanwhile is told of by the turn itself.
        with contextlib.suppress(ParleyError, OSError):
            await self._client.cancel_turn(self._agent_id)

    def _player_name(self) -> str:
        name = self._workflow.get("player_name")
        return name if isinstance(name, str) and name else "Player"

    def _stop(self) -> None:
        if not self._stopping and self._main is not None:
            self._stopping = True
            self._main.cancel()

    def _must_go_on(self) -> None:
        """Raise CancelledError once the chat is to stop: a wait that ends in the same moment swallows a cancel."""
        if self._stopping:
            raise asyncio.CancelledError

    def _exit_code(self) -> int:
        return EXIT_FAILED if self.failed or self._hearing.failed else EXIT_OK


def speakers(workflow: Mapping[str, Any]) -> dict[str, str]:
    """Node name → the name shown, of every node of a sound workflow whose text is sent."""
    registry = default_registry()
    found = {}
    for node in workflow["nodes"]:
        cls = registry.get(node["type"])
        if cls is None or not issubclass(cls, SpeakingNode):
            continue
        if node.get("send", cls.model_fields["send"].default) != "None":
            found[node["name"]] = node.get("history_name") or node["name"]
    return found


# ---- the keyboard and Ctrl-C ---------------------------------------------------------------------------------


def _pair(text: str, option: str) -> tuple[str, str]:
    """NAME=VALUE taken apart. Raises InvalidValue."""
    name, sign, value = text.partition("=")
    if not sign or not name:
        raise InvalidValue(f"{option} takes NAME=VALUE, not '{text}'")
    return name, value


def _tool_results(pairs: Sequence[str], workflow: Mapping[str, Any]) -> dict[str, str]:
    """The values of --tool. Raises InvalidValue for a tool that no node has."""
    nodes = workflow.get("nodes")
    lists = [node.get("tools") for node in (nodes if isinstance(nodes, list) else ()) if isinstance(node, dict)]
    tools = [tool.get("name") for found in lists if isinstance(found, list) for tool in found if isinstance(tool, dict)]
    results = dict(_pair(text, "--tool") for text in pairs)
    for name in results:
        if name not in tools:
            there = suggest(name, map(str, tools)) if tools else "it has no ToolCall node"
            raise InvalidValue(f"--tool: the workflow has no tool '{name}'; {there}")
    return results


def _variables(pairs: Sequence[str], workflow: Mapping[str, Any], option: str) -> dict[str, Any]:
    """The values of --var and /var: as the workflow declares them, so that a string need not be quoted."""
    declared = workflow.get("variables")
    types = {
        item.get("name"): item.get("type")
        for item in (declared if isinstance(declared, list) else [])
        if isinstance(item, dict)
    }
    values: dict[str, Any] = {}
    for pair in pairs:
        name, text = _pair(pair, option)
        values[name] = text
        if types.get(name) != "string":
            with contextlib.suppress(ValueError):
                values[name] = json.loads(text)
    return values


def _on_loop(take: Callable[[str], None]) -> Callable[[str], None]:
    """`take` for another thread's use: called on the running loop, and no more once that is closed."""
    loop = asyncio.get_running_loop()

    def hand_over(line: str) -> None:
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(take, line)

    return hand_over


def _variable(key: str) -> str:
    return f"{ENVIRONMENT_PREFIX}{key.upper()}"


async def _until_lost(client: ParleyClient) -> None:
    async for _ in client.subscribe():
        pass
