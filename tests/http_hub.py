"""A model hub on a loopback port: as much of the hub's HTTP as a download needs, and every way it can go wrong."""

from __future__ import annotations

import contextlib
import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bridge.catalog import CatalogEntry
from tests.gguf_writer import F32, gguf

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY = "some-owner/A_Model.GGUF"


def small_gguf(size: int = 300_000) -> bytes:
    """A whole GGUF file of about that size."""
    count = size // 4
    metadata = {"general.architecture": "llama", "llama.block_count": 1, "general.name": "a small one"}
    metadata["tokenizer.chat_template"] = "{{ messages }}"
    body = bytes((index * 31 + index // 251) % 256 for index in range(count * 4))
    return gguf(metadata, [("t", (count,), F32, 0)], data=body)


@dataclass(slots=True)
class HubFile:
    """One file of the hub, and how it is served."""

    data: bytes
    etag: str = ""
    """Empty: the file's sha256, as the hub does for large files."""
    size: int | None = None
    """What HEAD says; None: the truth."""
    length: int | None = None
    """What GET says; None: the truth; -1: nothing."""
    cut_after: int | None = None
    """Break the connection off after so many bytes of each GET."""
    ignores_range: bool = False
    wrong_range: bool = False
    head_status: int = 200
    get_status: int = 200
    error_code: str = ""
    content_type: str = "application/octet-stream"
    commit: str = COMMIT
    redirect: bool = False
    """Send clients to another host name for the bytes."""
    encoding: str = ""


@dataclass(slots=True)
class Hub:
    """A running server. `requests` is what clients asked for: (method, path, Range)."""

    endpoint: str
    other_host: str
    files: dict[str, HubFile] = field(default_factory=dict)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    """Of every request."""
    hold_after: int | None = None
    """Stop sending after so many bytes of a GET until `go_on` is set."""
    holds_head: bool = False
    """Answer no HEAD until `go_on` is set."""
    go_on: threading.Event = field(default_factory=threading.Event)
    holding: threading.Event = field(default_factory=threading.Event)
    """Set when a request is being held."""
    on_get: Callable[[HubFile], None] = lambda _: None
    """Called before each GET is answered."""

    def ranges(self) -> list[str]:
        """The Range of each GET for bytes; empty: from the start."""
        return [asked for method, _, asked in self.requests if method == "GET"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self.hub.requests.append(("HEAD", self.path, ""))
        file = self._file()
        if file is None:
            return
        if self.hub.holds_head:
            self._hold()
        self.send_response(file.head_status)
        if file.error_code:
            self.send_header("X-Error-Code", file.error_code)
        if file.commit:
            self.send_header("X-Repo-Commit", file.commit)
        self.send_header("X-Linked-Etag", f'"{file.etag or hashlib.sha256(file.data).hexdigest()}"')
        self.send_header("X-Linked-Size", str(len(file.data) if file.size is None else file.size))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        file = self._file()
        if file is None:
            return
        if file.redirect and not self.path.startswith("/elsewhere/"):
            self.send_response(302)
            self.send_header("Location", f"{self.hub.other_host}/elsewhere{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.hub.requests.append(("GET", self.path, asked))
        self.hub.on_get(file)
        match = None if file.ignores_range else re.match(r"bytes=(\d+)-$", asked)
        start = int(match[1]) if match else 0
        body = file.data[start:]
        status = file.get_status if file.get_status != 200 or not match else 206
        if match and start >= len(file.data):
            status, body = 416, b""
        self.send_response(status)
        if status == 206:
            begin = 0 if file.wrong_range else start
            self.send_header("Content-Range", f"bytes {begin}-{len(file.data) - 1}/{len(file.data)}")
        if status >= 400:
            body = b"no"
        if file.encoding:
            self.send_header("Content-Encoding", file.encoding)
        self.send_header("Content-Type", file.content_type)
        if file.length == -1:
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(len(body) if file.length is None else file.length))
        self.end_headers()
        with contextlib.suppress(OSError):  # the client may have gone
            self._send(body, file)

    def _send(self, body: bytes, file: HubFile) -> None:
        limit = len(body) if file.cut_after is None else min(file.cut_after, len(body))
        sent = 0
        held = self.hub.hold_after
        while sent < limit:
            if held is not None and sent >= held:
                self._hold()
                held = None
            step = min(16_384, limit - sent, limit if held is None else held - sent)
            self.wfile.write(body[sent : sent + step])
            sent += step
        if limit < len(body) or (file.length or 0) > len(body):
            self.close_connection = True

    def _hold(self) -> None:
        self.wfile.flush()
        self.hub.holding.set()
        self.hub.go_on.wait(30)

    def _file(self) -> HubFile | None:
        self.hub.authorizations.append(self.headers.get("Authorization", ""))
        match = re.search(r"/resolve/[^/]+/(.+)$", self.path)
        file = self.hub.files.get(match[1]) if match else None
        if file is None or REPOSITORY not in self.path:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound" if REPOSITORY in self.path else "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        return file


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients break connections off here on purpose."""


@contextlib.contextmanager
def serving(**files: HubFile | bytes) -> Iterator[Hub]:
    """A hub with these files (`model` is called model.gguf)."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {}))
    port = server.server_address[1]
    hub = Hub(f"http://127.0.0.1:{port}", f"http://localhost:{port}")
    for name, file in files.items():
        hub.files[f"{name}.gguf"] = file if isinstance(file, HubFile) else HubFile(file)
    server.RequestHandlerClass.hub = hub  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


def hub_entry(*names: str, name: str = "m", engine: str = "llama-cpp", **source: Any) -> CatalogEntry:
    """A model whose files are on the hub."""
    place = {"huggingface": REPOSITORY, "files": list(names or ("model.gguf",)), **source}
    return CatalogEntry.model_validate({"name": name, "engine": engine, "source": place, "chat_format": "plain"})
