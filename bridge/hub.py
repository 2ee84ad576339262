"""The hub's side of a download: where a file is, what its checksum is, and its bytes, however often the line breaks.

The hub's own client answers the questions and opens the connections. The bytes are fetched here: that client's download
function begins anew after every interruption, cannot be stopped, and hands large files to a native transfer (xet) that
can be neither stopped nor taken up again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from bridge.catalog import CatalogEntry
from bridge.config import Settings
from bridge.errors import DownloadFailed, DownloadNotAvailable
from bridge.model_files import FileRecord, hash_into, part_of, read_record, record_path, size_of, write_record
from bridge.wording import cut, words_of

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger(__name__)

RETRY_PAUSES_S = (1.0, 2.0, 4.0, 8.0)
"""Pauses before a broken transfer is taken up again; counted anew whenever a byte has come."""

OnBytes = Callable[[int], None]
"""Hears how many bytes have come; a negative number takes some back."""

Result = TypeVar("Result")


class Stopped(Exception):
    """Whoever waited for the download has given it up."""


class Stop:
    """Tells a transfer to stop, and wakes it where it waits for the network. Threading: `set` from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self) -> None:
        """Stop the transfer."""
        with self._lock:
            self._event.set()
            if self._socket is not None:
                # Closing would not wake a thread that reads from it; this does.
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def check(self) -> None:
        """Raise Stopped where `set` was called."""
        if self._event.is_set():
            raise Stopped

    def pause(self, seconds: float) -> None:
        """Wait; raises Stopped as soon as `set` is called."""
        self._event.wait(seconds)
        self.check()

    @contextlib.contextmanager
    def watching(self, response: httpx2.Response) -> Iterator[None]:
        """Let `set` break this response's connection."""
        stream = response.extensions.get("network_stream")
        with self._lock:
            self._socket = stream.get_extra_info("socket") if stream is not None else None
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._socket = None


@dataclass(frozen=True, slots=True)
class Remote:
    """A file as the hub describes it."""

    name: str
    url: str
    target: Path
    record: FileRecord


class Part:
    """The unfinished file: what is there of it, and its checksum so far."""

    def __init__(self, remote: Remote, stop: Stop) -> None:
        self.path = part_of(remote.target)
        self.done = 0
        self._digest = hashlib.sha256()
        if read_record(self.path) != remote.record or size_of(self.path) > remote.record.size:
            self.path.unlink(missing_ok=True)
            write_record(self.path, remote.record)
        elif size_of(self.path):
            hash_into(self._digest, self.path, lambda _: stop.check())
            self.done = size_of(self.path)
        self._file = self.path.open("ab", buffering=0)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()

    def append(self, block: bytes) -> None:
        rest = memoryview(block)
        while rest:
            rest = rest[self._file.write(rest) :]
        self._digest.update(block)
        self.done += len(block)

    def begin_anew(self) -> None:
        self._file.truncate(0)
        self._digest = hashlib.sha256()
        self.done = 0

    def close(self) -> None:
        """Idempotent."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def discard(self) -> None:
        """Close and remove what is there."""
        self._file.close()
        for path in (self.path, record_path(self.path)):
            path.unlink(missing_ok=True)


class _Transient(Exception):
    """The hub may do better when it is asked again."""


class Hub:
    """Asks the hub for one repository's files. Blocking; every failure is a ParleyError that says what to do."""

    def __init__(self, entry: CatalogEntry, settings: Settings, stop: Stop) -> None:
        if importlib.util.find_spec("huggingface_hub") is None:
            raise DownloadNotAvailable(
                f"model '{entry.name}' is downloaded with huggingface_hub, which is not installed: "
                'pip install "parley-bridge[llama]"'
            )
        import huggingface_hub
        from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # public, yet not in __all__

        # It would write the signed addresses of files into the log.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        self._source = entry.source
        self._stop = stop
        self._timeout_s = settings.download_timeout_s
        self._endpoint = settings.hub_endpoint.rstrip("/") or huggingface_hub.constants.ENDPOINT
        # For messages: a mirror's address may have a name and a password in it.
        self._hub = re.sub(r"//[^/]*@", "//", self._endpoint)
        # The player's own token goes to the hub of the player's own choice, not to one that a game's settings name.
        self._token = None if self._endpoint == huggingface_hub.constants.ENDPOINT else False
        if self._token is None and re.search(r"[^\x21-\x7e]", huggingface_hub.get_token() or ""):
            # Refused by the HTTP library, in words that quote it.
            raise DownloadNotAvailable(
                "the token of the hub (HF_TOKEN, or what `hf auth login` kept) has characters that no token has"
            )
        headers = build_hf_headers(library_name="parley", token=self._token)
        self._headers = {**headers, "Accept-Encoding": "identity"}

    def look_up(self, name: str, target: Path, commit: str) -> Remote:
        """Where a file is, and how it is to be checked; `commit` pins the state of the repository."""
        from huggingface_hub import HfFileMetadata, get_hf_file_metadata, hf_hub_url

        repository = self._source.huggingface

        def ask() -> HfFileMetadata:
            revision = commit or self._source.revision or None
            url = hf_hub_url(repository, name, revision=revision, endpoint=self._endpoint)
            return get_hf_file_metadata(
                url, token=self._token, timeout=self._timeout_s, endpoint=self._endpoint, library_name="parley"
            )

        found = self._ask_again(name, ask)
        if not found.commit_hash or not found.etag or found.size is None:
            raise DownloadFailed(
                f"{self._hub} does not answer as a hub does for {self._called(name)}; "
                "is a proxy or a login page in between, or the endpoint wrong?"
            )
        if found.size < 1:
            raise DownloadFailed(
                f"{self._hub} says that {self._called(name)} has {found.size} bytes, which is no model; "
                "ask whoever runs it, or choose another"
            )
        told = found.etag if re.fullmatch("[0-9a-f]{64}", found.etag) else ""
        wanted = self._source.sha256_of(name)
        if told and wanted and told != wanted:
            raise DownloadFailed(
                f"the hub's {self._called(name)} is not the file that the catalog means: its sha256 is {told}"
            )
        record = FileRecord(size=found.size, sha256=wanted or told, etag=found.etag, commit=found.commit_hash)
        url = hf_hub_url(repository, name, revision=found.commit_hash, endpoint=self._endpoint)
        return Remote(name, url, target, record)

    def fetch(self, remote: Remote, part: Part, on_bytes: OnBytes) -> None:
        """Bring the whole file into `part`, again and again where the connection breaks."""
        import httpx2

        failures = 0
        while part.done < remote.record.size:
            before = part.done
            why: str
            try:
                self._stream(remote, part, on_bytes)
                why = "the connection was closed"
            except (httpx2.TransportError, _Transient) as fault:
                self._stop.check()
                why = self._reason(fault)
            if part.done >= remote.record.size:
                break
            failures = 0 if part.done > before else failures + 1
            if failures > len(RETRY_PAUSES_S):
                raise DownloadFailed(
                    f"the download of {self._called(remote.name)} broke off after {part.done} of {remote.record.size} "
                    f"bytes: {why}; what is there is kept, and the next download goes on from there"
                )
            log.info("%s: %s after %s bytes; going on", self._called(remote.name), why, part.done)
            self._stop.pause(RETRY_PAUSES_S[max(failures - 1, 0)])

    def refuse(self, remote: Remote, part: Part, why: str) -> NoReturn:
        """Throw away what can never become the file."""
        part.discard()
        raise DownloadFailed(f"what the hub sent as {self._called(remote.name)} is of no use and is removed: {why}")

    def _stream(self, remote: Remote, part: Part, on_bytes: OnBytes) -> None:
        import httpx2
        from huggingface_hub import get_session

        headers = dict(self._headers)
        if part.done:
            headers["Range"] = f"bytes={part.done}-"
        options: dict[str, Any] = {"timeout": httpx2.Timeout(self._timeout_s), "follow_redirects": True}
        with (
            get_session().stream("GET", remote.url, headers=headers, **options) as response,
            self._stop.watching(response),
        ):
            self._look_at_head(response, remote, part, on_bytes)
            for block in response.iter_raw():
                self._stop.check()
                if part.done + len(block) > remote.record.size:
                    self.refuse(remote, part, f"it has more than the {remote.record.size} bytes that were announced")
                part.append(block)
                on_bytes(len(block))

    def _look_at_head(self, response: httpx2.Response, remote: Remote, part: Part, on_bytes: OnBytes) -> None:
        status = response.status_code
        begins = re.match(r"bytes (\d+)-", response.headers.get("content-range", "")) if status == 206 else None
        if status == 416 or (status == 206 and (begins is None or int(begins[1]) != part.done)):
            on_bytes(-part.done)
            part.begin_anew()
            raise _Transient("the hub does not send the rest of the file")
        if _is_transient(status):
            raise _Transient(f"the hub answered HTTP {status}")
        with self._explained(remote.name):
            _raise_for_status(response)
        if response.headers.get("content-type", "").startswith("text/html") and not remote.name.endswith(".html"):
            raise DownloadFailed(
                f"a web page came instead of {self._called(remote.name)}; is a proxy or a login page in between?"
            )
        if response.headers.get("content-encoding", "identity") != "identity":
            raise DownloadFailed(f"the hub sends {self._called(remote.name)} compressed, which was not asked for")
        if status == 200 and part.done:
            on_bytes(-part.done)
            part.begin_anew()
        length = response.headers.get("content-length", "")
        if length.isdecimal() and int(length) != remote.record.size - part.done:
            self.refuse(remote, part, f"{int(length) + part.done} bytes come, and {remote.record.size} were announced")

    def _ask_again(self, name: str, ask: Callable[[], Result]) -> Result:
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError

        for pause in RETRY_PAUSES_S[:2]:
            self._stop.check()
            try:
                return ask()
            except httpx2.TimeoutException as fault:
                log.info("%s: %s; asking again", self._called(name), self._reason(fault))
            except HfHubHTTPError as fault:
                if not _is_transient(fault.response.status_code):
                    with self._explained(name):
                        raise
                log.info("%s: HTTP %s; asking again", self._called(name), fault.response.status_code)
            except Exception:  # of whatever make: `_explained` says it in the protocol's errors
                with self._explained(name):
                    raise
            self._stop.pause(pause)
        with self._explained(name):
            return ask()

    @contextlib.contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Turns what the hub's client raises into the protocol's errors."""
        import httpx2
        from huggingface_hub import errors

        repository = self._source.huggingface
        ask_for_token = "; if it is not public, log in with `hf auth login` or set HF_TOKEN"
        try:
            yield
        except errors.OfflineModeIsEnabled:
            raise DownloadFailed("downloads are switched off: HF_HUB_OFFLINE is set") from None
        except errors.GatedRepoError:
            raise DownloadNotAvailable(
                f"the repository {repository} is open only to those who accept its terms on "
                f"{self._hub}/{repository}{ask_for_token}"
            ) from None
        except errors.RevisionNotFoundError:
            revision = self._source.revision or "main"
            raise DownloadNotAvailable(f"the repository {repository} has no revision '{revision}'") from None
        except errors.RemoteEntryNotFoundError:
            raise DownloadNotAvailable(f"the repository {repository} has no file {name}") from None
        except errors.RepositoryNotFoundError:
            raise DownloadNotAvailable(f"{self._hub} has no repository {repository}{ask_for_token}") from None
        except errors.HfHubHTTPError as fault:
            status = fault.response.status_code
            if status in (401, 403, 404, 410):
                raise DownloadNotAvailable(
                    f"{self._hub} does not give out {self._called(name)} (HTTP {status}){ask_for_token}"
                ) from None
            raise DownloadFailed(f"{self._hub} answered HTTP {status} for {self._called(name)}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as fault:
            raise DownloadFailed(f"{self._called(name)} cannot be downloaded: {self._reason(fault)}") from None

    def _reason(self, fault: Exception) -> str:
        import httpx2

        if isinstance(fault, httpx2.ConnectError):
            return f"{self._hub} cannot be reached; is this machine offline?"
        if isinstance(fault, httpx2.TimeoutException):
            return f"{self._hub} was silent for {self._timeout_s:g} s"
        if isinstance(fault, _Transient):
            return str(fault)
        return words_of(fault)

    def _called(self, name: str) -> str:
        return cut(f"{self._source.huggingface}/{name}")


def _is_transient(status: int) -> bool:
    return status in (408, 429) or status >= 500


def _raise_for_status(response: httpx2.Response) -> None:
    from huggingface_hub import hf_raise_for_status

    hf_raise_for_status(response)
