"""Where the chat's lines come from: a pipe, or a terminal with line editing; and what Ctrl-C does meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.output import Output


class Keyboard:
    """Lines of stdin. Read only while one is wanted, each time by a thread that never holds up the process's end."""

    shows_prompt = False

    def __init__(self, read: Callable[[], bytes | None], encoding: str = "utf-8", *, is_terminal: bool = False) -> None:
        """`read` waits for some bytes and returns them; nothing means the end."""
        self.is_terminal = is_terminal
        self._read = read
        self._encoding = encoding
        self._pending = b""

    @classmethod
    def of_stdin(cls) -> Keyboard:
        """This process's keyboard, or the pipe in its place."""
        buffer = getattr(sys.stdin, "buffer", None)
        if buffer is None:
            return cls(lambda: b"")
        # Below the buffer: a thread that waits inside it holds a lock that the interpreter's end needs.
        raw = getattr(buffer, "raw", buffer)
        return cls(lambda: raw.read(65_536), sys.stdin.encoding or "utf-8", is_terminal=sys.stdin.isatty())

    def next_line(self, prompt: str = "") -> asyncio.Future[str | None]:
        """The next line without its line break; None at the end. Ask for one at a time. `prompt` is not shown."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[str | None] = loop.create_future()

        def settle(line: str | None) -> None:
            if not future.done():
                future.set_result(line)

        def wait() -> None:
            line = self._wait_for_line()
            # The loop is closed when the chat ended meanwhile.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, line)

        threading.Thread(target=wait, name="keyboard", daemon=True).start()
        return future

    def _wait_for_line(self) -> str | None:
        while b"\n" not in self._pending:
            try:
                found = self._read()
            except (OSError, ValueError):
                found = None
            if not found:
                break
            self._pending += found
        line, _, rest = self._pending.partition(b"\n")
        at_end = not self._pending
        self._pending = rest
        return None if at_end else line.decode(self._encoding, "replace").removeprefix("\ufeff").removesuffix("\r")


class LineEditor:
    """Lines of a terminal, with editing and a history. What is printed meanwhile appears above the line."""

    is_terminal = True
    shows_prompt = True

    def __init__(self, keys: Input | None = None, output: Output | None = None) -> None:
        """Without `keys` and `output`: this process's stdin and stdout."""
        # Here, so that only a conversation in a terminal waits for these imports.
        from prompt_toolkit import PromptSession
        from prompt_toolkit.enums import DEFAULT_BUFFER
        from prompt_toolkit.filters import has_focus
        from prompt_toolkit.input import create_input
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.output import create_output
        from prompt_toolkit.output.vt100 import Vt100_Output

        self._keys = keys or create_input(sys.stdin)
        self._output = output or create_output(sys.stdout)
        if isinstance(self._output, Vt100_Output):
            # A terminal's report of its cursor could arrive between keys that were pressed ahead.
            self._output.enable_cpr = False
        bindings = KeyBindings()

        @bindings.add("c-c", filter=has_focus(DEFAULT_BUFFER))
        def leave(event: KeyPressEvent) -> None:
            event.app.exit(exception=EOFError(), style="class:aborting")

        self._session: PromptSession[str] = PromptSession(
            key_bindings=bindings, reserve_space_for_menu=0, input=self._keys, output=self._output
        )

    def next_line(self, prompt: str = "") -> asyncio.Future[str | None]:
        """The next line; None at the end, which Ctrl-D and Ctrl-C bring. Ask for one at a time."""
        return asyncio.ensure_future(self._ask(prompt))

    async def _ask(self, prompt: str) -> str | None:
        from prompt_toolkit.application import create_app_session
        from prompt_toolkit.patch_stdout import StdoutProxy

        with contextlib.ExitStack() as stack:
            stack.enter_context(create_app_session(self._keys, self._output))
            above = stack.enter_context(StdoutProxy(raw=True))
            if sys.stderr.isatty():
                stack.enter_context(contextlib.redirect_stderr(above))
            stack.enter_context(contextlib.redirect_stdout(above))
            try:
                return await self._session.prompt_async(
                    [("bold", prompt)], handle_sigint=False, set_exception_handler=False
                )
            except EOFError:
                return None


def keyboard_of_terminal() -> Keyboard | LineEditor:
    """An editor where a person sits at a terminal; else stdin as it is."""
    if sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        # A terminal in which nothing can be edited is still one to read lines from.
        with contextlib.suppress(Exception):
            return LineEditor()
    return Keyboard.of_stdin()


@contextlib.contextmanager
def keys_unseen() -> Iterator[None]:
    """Keys pressed while nobody asks for a line wait unseen for the next prompt; Ctrl-C still interrupts."""
    if sys.platform == "win32":
        # A console there shows keys only while it is read.
        yield
        return
    import termios

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    unseen = [*before[:6], list(before[6])]
    # Not line by line either: the end-of-file key must arrive as a key.
    unseen[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
    unseen[6][termios.VMIN], unseen[6][termios.VTIME] = 1, 0

    def restore() -> None:
        # A terminal that has been closed needs nothing.
        with contextlib.suppress(termios.error):
            termios.tcsetattr(terminal, termios.TCSANOW, before)

    def end(*_: object) -> None:
        restore()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)

    handler = signal.signal(signal.SIGTERM, end)
    try:
        termios.tcsetattr(terminal, termios.TCSANOW, unseen)
        yield
    finally:
        restore()
        signal.signal(signal.SIGTERM, handler)


@contextlib.contextmanager
def ctrl_c(call: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C call `call` on the running event loop for the time of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    # Windows does not break off a waiting select for a signal: bytes on a socket do.
    near, far = socket.socketpair()
    near.setblocking(False)
    far.setblocking(False)
    loop.add_reader(near, near.recv, 64)
    wakeup = signal.set_wakeup_fd(far.fileno(), warn_on_full_buffer=False)

    def take(*_: object) -> None:
        loop.call_soon_threadsafe(call)

    handler = signal.signal(signal.SIGINT, take)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.set_wakeup_fd(wakeup)
        loop.remove_reader(near)
        near.close()
        far.close()
