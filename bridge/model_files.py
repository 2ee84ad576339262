"""Where the files of models are on this machine, whether they are whole, and how they get there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import platformdirs
from pydantic import BaseModel, ConfigDict, Field

from bridge.catalog import CatalogEntry, Source
from bridge.config import Settings
from bridge.engines.gguf_file import read_gguf
from bridge.errors import ModelCorrupt, ModelLoadFailed, ParleyError
from bridge.files import write_atomically
from bridge.frozen import shipped_models
from bridge.packaged_model import find_packaged, how_to_install, package_folders, packaged_file
from bridge.protocol import ModelStatus
from bridge.wording import cut

Report = Callable[[str, int, int, str], None]
"""Progress of a long task: (task, done, total, unit)."""

BLOCK = 2**20


class FileRecord(BaseModel):
    """What is known of a downloaded file; kept beside it, so that it can be checked without a network."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    size: int = Field(ge=0)
    sha256: str = ""
    """Empty only of an unfinished file whose checksum the hub did not tell."""
    etag: str = ""
    commit: str = ""


def is_file(path: Path) -> bool:
    """Whether a file is there; False also for what no system takes as a path."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether a model's file is there, or the folder that a voice lies in."""
    try:
        return path.is_file() or path.is_dir()
    except (OSError, ValueError):
        return False


def size_of(path: Path) -> int:
    """Bytes of a file, or of the files in a folder; 0 where there is none."""
    try:
        if is_file(path):
            return path.stat().st_size
        return sum(inside.stat().st_size for inside in path.iterdir() if inside.is_file()) if is_there(path) else 0
    except OSError:
        return 0


def is_folder(entry: CatalogEntry) -> bool:
    """Whether the entry's path may name a folder whose files it does not list: a voice of sherpa-onnx."""
    return entry.engine == "sherpa-onnx" and bool(entry.source.path) and not entry.source.files


def hash_into(digest: hashlib._Hash, path: Path, on_bytes: Callable[[int], None]) -> None:
    """Feed a file to a checksum; `on_bytes` hears how much was read each time. Raises OSError."""
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            on_bytes(len(block))


def models_folder(settings: Settings) -> Path:
    """Where models that Parley puts together or downloads are kept."""
    return Path(settings.models_folder) if settings.models_folder else platformdirs.user_cache_path("parley") / "models"


def model_paths(entry: CatalogEntry, settings: Settings) -> list[Path]:
    """The model's files, there or not, in the order of the entry's `source.names`; the first is the one to load.

    Files that came with a packaged sidecar go before those of the user's folder, where all of them came.
    """
    source = entry.source
    if source.path:
        return [Path(source.path, name) for name in source.files] or [Path(source.path)]
    if entry.type == "tts" and source.package:
        return [find_packaged(source.package, source.file) or models_folder(settings) / source.file]
    shipped = shipped_models()
    if shipped is not None:
        found = _paths_below(shipped, source)
        if found and all(is_file(path) for path in found):
            return found
    return _paths_below(models_folder(settings), source)


def _paths_below(folder: Path, source: Source) -> list[Path]:
    if source.huggingface:
        return [folder / source.huggingface.replace("/", "--") / name for name in source.files]
    return [folder / source.file] if source.file else []


def part_of(path: Path) -> Path:
    """Where an unfinished download of the file is kept."""
    return path.with_name(path.name + ".part")


def lock_of(path: Path) -> Path:
    """The file that is locked while this one is downloaded or deleted."""
    return path.with_name(path.name + ".lock")


def record_path(path: Path) -> Path:
    """Where the FileRecord of a file is kept."""
    return path.with_name(path.name + ".parley.json")


def read_record(path: Path) -> FileRecord | None:
    """What is known of a downloaded file; None where nothing is, or nothing that can be read."""
    try:
        return FileRecord.model_validate(orjson.loads(record_path(path).read_bytes()))
    except (OSError, ValueError):
        return None


def write_record(path: Path, record: FileRecord) -> None:
    """Keep what is known of a file. Raises OSError."""
    write_atomically(record_path(path), orjson.dumps(record.model_dump(), option=orjson.OPT_APPEND_NEWLINE))


def is_whole(path: Path) -> bool:
    """Whether a downloaded file is there with the size that it had when it was checked."""
    record = read_record(path)
    return record is not None and bool(record.sha256) and is_file(path) and size_of(path) == record.size


def disk_status(entry: CatalogEntry, settings: Settings) -> tuple[ModelStatus, int]:
    """Whether all of the model's files are there, and the bytes of those that are."""
    if entry.engine == "mock":
        return "Local", 0
    paths = model_paths(entry, settings)
    size = sum(size_of(path) for path in paths)
    if entry.source.huggingface:
        return ("Downloaded" if all(is_whole(path) for path in paths) else "Absent"), size
    is_local = is_there if is_folder(entry) else is_file
    return ("Local" if paths and all(is_local(path) for path in paths) else "Absent"), size


def why_absent(entry: CatalogEntry, settings: Settings) -> str:
    """How to get a model that cannot be used as it is; empty where it is there, or is made when it is needed."""
    if disk_status(entry, settings)[0] != "Absent":
        return ""
    source = entry.source
    if source.huggingface:
        return f"the model '{entry.name}' is not downloaded: parley models pull {entry.name}"
    if source.path:
        return f"the file of the model '{entry.name}' is not there: {cut(source.path)}"
    if package_folders(source.package) is None:
        return (
            f"the model '{entry.name}' comes with the package {source.package}, which is not installed: "
            f"{how_to_install(source.package)}"
        )
    return ""


def partial_bytes(entry: CatalogEntry, settings: Settings) -> int:
    """Bytes of an unfinished download of the model."""
    if not entry.source.huggingface:
        return 0
    return sum(size_of(part_of(path)) for path in model_paths(entry, settings))


def locate(entry: CatalogEntry, settings: Settings, report: Report) -> Path:
    """The model's file on this machine, put together from its package first where need be. Blocking.

    Of a voice of sherpa-onnx it may be the folder. Raises ModelLoadFailed that says how to get the model, ModelCorrupt
    where a file is not what it was or should be.
    """
    source = entry.source
    paths = model_paths(entry, settings)
    if is_folder(entry):
        return _to_load(entry, paths)
    if source.huggingface:
        for path in paths:
            if not is_file(path) or read_record(path) is None:
                raise ModelLoadFailed(
                    f"model '{entry.name}' is not downloaded; "
                    f"run `parley models pull {entry.name}`, or send DownloadModel"
                )
            if not is_whole(path):
                raise ModelCorrupt(
                    f"{path} has {size_of(path)} bytes, not those that were downloaded; "
                    f"run `parley models pull {entry.name}`, or send DownloadModel"
                )
        return _to_load(entry, paths)
    if source.path:
        for path in paths:
            if not is_file(path):
                raise ModelLoadFailed(f"the file of model '{entry.name}' is not there: {cut(path)}")
        return _to_load(entry, paths)
    if source.package and entry.type == "tts":
        return packaged_file(entry.name, source.package, source.file)
    if source.package:
        if entry.type == "embedding":
            from bridge.packaged_embedding import convert as make
        else:
            from bridge.packaged_model import assemble as make

        digest = source.sha256_of(source.file)
        return make(entry.name, source.package, paths[0], digest, report)
    raise ModelLoadFailed(f"the catalog entry '{entry.name}' names no source; give it a path or a package")


def _to_load(entry: CatalogEntry, paths: Sequence[Path]) -> Path:
    """The first file; of a voice of sherpa-onnx that lists no model first, the folder."""
    if is_folder(entry):
        return paths[0]
    return paths[0].parent if entry.engine == "sherpa-onnx" and paths[0].suffix != ".onnx" else paths[0]


def known_speakers(entry: CatalogEntry, settings: Settings) -> list[str]:
    """The speakers of a voice as far as they are known before it is loaded. Blocking."""
    if entry.type != "tts":
        return []
    if entry.engine == "mock":
        from bridge.engines.mock_voice import SPEAKERS

        return list(SPEAKERS)
    if entry.engine != "sherpa-onnx" or disk_status(entry, settings)[0] == "Absent":
        return []
    from bridge.engines.voice_folder import read_voice_folder

    try:
        return list(read_voice_folder(_to_load(entry, model_paths(entry, settings))).speakers)
    except ParleyError:
        return []


def faults_of(entry: CatalogEntry, settings: Settings, report: Report = lambda *_: None) -> list[str]:
    """What is wrong with the model's files that are there: size, checksum, header. Blocking; reads every byte."""
    faults: list[str] = []
    paths = model_paths(entry, settings)
    total = sum(size_of(path) for path in paths)
    done = 0

    def tell(size: int) -> None:
        nonlocal done
        done += size
        report("verify", done, total, "bytes")

    for index, (name, path) in enumerate(zip(entry.source.names, paths, strict=True)):
        if is_folder(entry) and is_there(path):
            continue
        if not is_file(path):
            faults.append(f"{path} is not there")
            continue
        record = read_record(path) if entry.source.huggingface else None
        if entry.source.huggingface and record is None:
            faults.append(f"{path} was not downloaded by Parley, or what it knew of it is lost")
        if record is not None and record.size != size_of(path):
            faults.append(f"{path} has {size_of(path)} bytes and must have {record.size}")
            continue
        wanted = entry.source.sha256_of(name) or (record.sha256 if record else "")
        if wanted:
            digest = hashlib.sha256()
            try:
                hash_into(digest, path, tell)
            except OSError as fault:
                faults.append(f"{path} cannot be read: {fault.strerror}")
                continue
            if digest.hexdigest() != wanted:
                faults.append(f"{path} has another checksum than it must have")
        if index == 0 and name.endswith(".gguf"):
            try:
                read_gguf(path)
            except ParleyError as fault:
                faults.append(str(fault))
    if entry.type == "tts" and paths and not faults:
        faults += _faults_of_voice(entry, _to_load(entry, paths))
    return faults


def _faults_of_voice(entry: CatalogEntry, path: Path) -> list[str]:
    from bridge.engines.onnx_header import read_onnx_metadata
    from bridge.engines.voice_folder import read_voice_folder

    try:
        if entry.engine == "hibari":
            read_onnx_metadata(path)
        else:
            read_voice_folder(path)
    except ParleyError as fault:
        return [str(fault)]
    return []
