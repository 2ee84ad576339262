"""From a workflow's JSON to a compiled workflow: every check, all findings at once, before the first turn."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

from pydantic import ValidationError

from bridge import errors
from bridge.authoring import AuthoringError, check_name
from bridge.filter import Filter, Schema, compile_filter, variables_in
from bridge.node import Kind, ModelNode, Node, Registry, ReplyNode, SamplingParams, VoiceNode, is_structural
from bridge.protocol import Problem, Severity, StorageKind
from bridge.storage import StringStorage, make_string_storage, packaged_list
from bridge.template import TemplateFault, compile_template
from bridge.variables import VARIABLE_TYPES, Declared, Value, VariableType, check_variable
from bridge.wording import cut, fault_words, shown, suggest, words_of
from bridge.workflow_flow import Draft, FlowChecks, string

WORKFLOW_VERSION = 1
MAX_PROBLEMS = 1000
MAX_MESSAGE = 1000
_FIELDS = ("version", "start_node", "default_model", "player_name", "variables", "nodes")
_OUT_OF_BOUNDS = ("greater_than", "less_than", "too_long", "too_short", "literal_error", "finite_number")


@dataclass(frozen=True, slots=True)
class Workflow:
    """A workflow that can run."""

    start_node: str
    nodes: Mapping[str, Node]
    default_model: str
    player_name: str
    variables: Declared
    source: Mapping[str, Any]
    """The workflow's JSON, with every change of parameters since."""
    held: Mapping[str, StringStorage]
    """By node: the string storage that it was compiled with."""

    @property
    def embedded_storages(self) -> set[str]:
        """The names of all embedded storages that nodes use."""
        return {
            str(getattr(node, field))
            for node in self.nodes.values()
            for field in type(node).fields_of(Kind.EMBEDDED_STORAGE)
        }

    def model_of(self, node: ModelNode) -> str:
        """The catalog name of a node's model."""
        return node.model or self.default_model

    def speaker(self, name: str) -> tuple[str, str]:
        """A node's (slot, history_name); for a name that is no node the name itself and an empty one."""
        node = self.nodes.get(name)
        if node is None:
            return name, ""
        return node.slot_name or name, str(getattr(node, "history_name", ""))

    def labels(self) -> dict[str, str]:
        """Node name → the label it speaks under, of every node whose text is replayed."""
        return {
            node.name: getattr(node, "history_name", "") or node.name
            for node in self.nodes.values()
            if getattr(node, "history_role", "None") == "Assistant"
        }


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the compiler must know of a catalog entry."""

    type: str
    context_size: int
    """0: only the model file knows."""


class Described(Protocol):
    """An embedded storage, built or not."""

    @property
    def schema(self) -> Schema:
        """The fields of its records."""

    @property
    def warnings(self) -> Sequence[str]:
        """What its author should know, such as metadata that no field has."""

    def values(self, field: str) -> frozenset[str]:
        """What its records have in a field of type string; of an empty name their ids."""

    @property
    def embedding_model(self) -> str:
        """The catalog name of its model."""


def no_storage(name: str) -> NoReturn:
    """Where there is no session, there are no storages."""
    raise errors.StorageFileNotFound(f"there is no storage '{cut(name)}' here")


@dataclass(frozen=True, slots=True)
class CompileScope:
    """What a workflow is compiled against."""

    registry: Registry
    model_facts: Callable[[str], ModelFacts | None]
    """None: the catalog has no such model."""
    strings: Callable[[str], StringStorage] = no_storage
    """The string storage of a name. Raises the storage errors."""
    knowledge: Callable[[str], Described] = no_storage
    """What is known of an embedded storage before it is built. Raises the storage errors."""
    absent: Callable[[str], str] = lambda name: ""
    """How to get a model of the catalog that is not on this machine; empty: it is, or nobody asks."""
    max_nodes: int = 512
    max_template_chars: int = 65_536


def compile_workflow(raw: object, scope: CompileScope) -> tuple[Workflow | None, list[Problem]]:
    """Check a workflow's JSON. Returns the compiled workflow, None if any problem is an error, and all problems."""
    compiler = _Compiler(scope)
    workflow = compiler.compile(raw)
    if compiler.left_out:
        compiler.problems.append(
            Problem(
                severity="warning",
                code=errors.LimitExceeded.code,
                path="$",
                message=f"there are more than {MAX_PROBLEMS} findings; the others are left out",
            )
        )
    problems = sorted(compiler.problems, key=lambda problem: (problem.severity == "warning", _place(problem)))
    failed = any(problem.severity == "error" for problem in problems)
    return (None if failed else workflow), problems


def change_node(workflow: Workflow, node_name: str, params: Mapping[str, Any], scope: CompileScope) -> Workflow:
    """The workflow with some parameters of one node changed.

    Raises UnknownNode, ParamNotMutable, and for what is wrong with a value the error that the compiler would give, with
    every finding; `path` begins with `$.params`.
    """
    node = workflow.nodes.get(node_name)
    if node is None:
        raise errors.UnknownNode(f"the workflow has no node '{cut(node_name)}'", node_name=cut(node_name))
    fixed = fixed_params(type(node))
    for key in params:
        if key in fixed:
            raise errors.ParamNotMutable(
                f"{node.type_name}.{key} is fixed when the agent is made; these may change: "
                f"{', '.join(name for name in type(node).model_fields if name not in fixed)}",
                node_name=node_name,
                path=f"$.params.{key}",
            )
    place = list(workflow.nodes).index(node_name)
    nodes = list(workflow.source["nodes"])
    nodes[place] = _merged(nodes[place], params)
    compiler = _Compiler(scope, only=node_name)
    changed = compiler.compile({**workflow.source, "nodes": nodes})
    base = f"$.nodes[{place}]"
    raise_problems(
        [
            problem.model_copy(update={"path": problem.path.replace(base, "$.params", 1)})
            for problem in compiler.problems
            if problem.node_name == node_name and problem.severity == "error"
        ],
        shared=errors.InvalidValue,
    )
    assert changed is not None
    return replace(
        workflow,
        nodes={**workflow.nodes, node_name: changed.nodes[node_name]},
        source=changed.source,
        held={**workflow.held, **changed.held},
    )


def fixed_params(cls: type[Node]) -> list[str]:
    """The parameters of a node type that cannot change once an agent is made."""
    return ["type", *(name for name, info in cls.model_fields.items() if is_structural(info))]


def _merged(raw: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """A node's JSON with parameters changed; sampling is sparse itself, and null in it takes a value back."""
    merged = {**raw, **params}
    sampling, before = params.get("sampling"), raw.get("sampling")
    if isinstance(sampling, Mapping):
        merged["sampling"] = {**(before if isinstance(before, Mapping) else {}), **sampling}
    return merged


def raise_problems(problems: Sequence[Problem], shared: type[errors.ParleyError] = errors.WorkflowInvalid) -> None:
    """Raise the error that a workflow with these findings ends in; nothing where none is an error.

    The error's class is the one that all errors share, else `shared`; WorkflowInvalid becomes `shared` too.
    """
    found = [problem for problem in problems if problem.severity == "error"]
    if not found:
        return
    codes = {problem.code for problem in found}
    error = errors.BY_CODE[codes.pop()] if len(codes) == 1 else shared
    error = shared if error is errors.WorkflowInvalid else error
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    first = found[0]
    raise error(f"{first.path}: {first.message}{more}", node_name=first.node_name, path=first.path, problems=problems)


class _NodeChecks:
    """`node.Checks` for one node."""

    def __init__(self, compiler: _Compiler, draft: Draft) -> None:
        self._compiler = compiler
        self._draft = draft

    def problem(
        self,
        message: str,
        *,
        field: str,
        severity: Severity = "error",
        error: type[errors.ParleyError] | None = None,
        index: int | None = None,
        inside: str = "",
    ) -> None:
        if field in self._draft.faulty:
            return  # said already, and of what stands there instead nothing is to be said
        place = field if index is None else f"{field}[{index}]"
        self._compiler.report(
            message, draft=self._draft, field=field, place=place + inside, severity=severity, error=error
        )

    @property
    def prompt_budgets(self) -> Sequence[int]:
        return self._compiler.prompt_budgets

    def strings(
        self,
        storage: str,
        inline: Sequence[str],
        default: str,
        *,
        keys: Sequence[str] = (),
        kind: StorageKind | None = None,
    ) -> StringStorage | None:
        field = "string_storage" if storage else "inline_strings"
        if not storage and "inline_keys" in self._draft.faulty:
            return None
        try:
            if storage:
                found = self._compiler.scope.strings(storage)
            elif inline or keys:
                found = make_string_storage(kind or "List", inline, keys or None)
            else:
                found = packaged_list(default)
        except errors.ParleyError as fault:
            self.problem(str(fault), field=field, error=type(fault))
            return None
        if kind is not None and found.kind != kind:
            self.problem(
                f"'{cut(storage)}' is a {found.kind}; this node needs a {kind}",
                field=field,
                error=errors.StorageKindMismatch,
            )
            return None
        self._compiler.held[self._draft.name] = found
        return found

    def knowledge(self, storage: str, *, field: str) -> Schema | None:
        if not storage:
            self.problem("the node needs an embedded storage", field=field)
            return None
        try:
            found = self._compiler.knowledge(storage)
        except errors.ParleyError as fault:
            self.problem(str(fault), field=field, error=type(fault))
            return None
        model = found.embedding_model
        facts = self._compiler.scope.model_facts(model)
        if facts is None:
            self.problem(f"storage '{cut(storage)}': {_unknown_model(model)}", field=field, error=errors.ModelNotFound)
        elif facts.type != "embedding":
            self.problem(
                f"storage '{cut(storage)}': '{cut(model)}' is a model of type {facts.type}, not embedding", field=field
            )
        elif absent := self._compiler.scope.absent(model):
            self.problem(
                f"storage '{cut(storage)}': {absent}", field=field, severity="warning", error=errors.ModelLoadFailed
            )
        for warning in found.warnings:
            self.problem(cut(warning), field=field, severity="warning", error=errors.InvalidEmbeddedStorageData)
        return found.schema

    def values(self, storage: str, field: str) -> frozenset[str] | None:
        try:
            return self._compiler.knowledge(storage).values(field)
        except errors.ParleyError:
            return None

    def filter(self, raw: Mapping[str, Any], schema: Schema, *, field: str) -> Filter | None:
        try:
            return compile_filter(raw, schema, self._compiler.variables)
        except errors.InvalidValue as fault:
            if self._compiler.unsound & variables_in(raw):
                return None  # what is wrong is said where the variable is declared
            message = str(fault).removeprefix(f"filter, {fault.path}: ")
            self.problem(message, field=field, error=errors.InvalidValue, inside=fault.path.removeprefix("$"))
            return None


class _Compiler:
    def __init__(self, scope: CompileScope, only: str = "") -> None:
        """`only`: nothing but this node is made ready to run; of the others it is enough how they hang together."""
        self.scope = scope
        self.variables: Declared = {}
        self.unsound: set[str] = set()
        """Variables whose declaration was refused."""
        self.held: dict[str, StringStorage] = {}
        self._only = only
        self._knowledge: dict[str, Described] = {}
        self.problems: list[Problem] = []
        self.prompt_budgets: list[int] = []
        self.left_out = False
        """There is more to find than is reported."""

    def knowledge(self, storage: str) -> Described:
        """What is known of an embedded storage, read once however many nodes use it. Raises the storage errors."""
        found = self._knowledge.get(storage)
        if found is None:
            found = self._knowledge[storage] = self.scope.knowledge(storage)
        return found

    # ---- reporting

    def report(
        self,
        message: str,
        *,
        draft: Draft | None = None,
        field: str = "",
        place: str = "",
        severity: Severity = "error",
        error: type[errors.ParleyError] | None = None,
    ) -> None:
        if len(self.problems) == MAX_PROBLEMS:
            self.left_out = True
            if severity == "warning" or any(p.severity == "error" for p in self.problems):
                return
        base = f"$.nodes[{draft.index}]" if draft else "$"
        where = place or field
        self.problems.append(
            Problem(
                severity=severity,
                code=(error or errors.WorkflowInvalid).code,
                node_name=draft.name if draft else "",
                field=cut(field),
                path=cut(f"{base}.{where}" if where else base),
                message=message if len(message) <= MAX_MESSAGE else message[:MAX_MESSAGE] + "…",
            )
        )

    def _warn_absent(self, message: str, *, draft: Draft | None = None, field: str) -> None:
        self.report(message, draft=draft, field=field, severity="warning", error=errors.ModelLoadFailed)

    # ---- the passes

    def compile(self, raw: object) -> Workflow | None:
        if not isinstance(raw, Mapping):
            self.report(f"a workflow is a JSON object, not {shown(raw)}")
            return None
        if not self._version(raw):
            return None
        for key in raw:
            if key not in _FIELDS:
                self.report(f"unknown field '{cut(key)}'; {suggest(key, _FIELDS)}", field=cut(key))
        default_model = self._text(raw, "default_model", "")
        player_name = self._text(raw, "player_name", "Player") or "Player"
        if len(player_name) > 200:
            self.report("player_name is longer than 200 characters", field="player_name", error=errors.InvalidValue)
        variables = self._variables(raw.get("variables", []))
        drafts = self._drafts(raw.get("nodes"))
        start = self._start(raw, drafts)
        if not drafts:
            return None
        self._exits(drafts)
        self._models(drafts, default_model)
        self._voices(drafts)
        self._templates(drafts, variables)
        self._variable_names(drafts, variables)
        self.variables = variables
        for draft in drafts:
            if self._only in ("", draft.name):
                self._prepare(draft)
        FlowChecks(drafts, start, self.report).run()
        nodes = {draft.name: draft.node for draft in drafts if draft.node is not None}
        return Workflow(start, nodes, default_model, player_name, variables, raw, self.held)

    def _prepare(self, draft: Draft) -> None:
        if draft.node is None:
            return
        try:
            draft.node.prepare(_NodeChecks(self, draft))
        except BaseException as fault:
            # A node type may come from anybody: whatever it raises is a finding about this node.
            self.report(f"the node type {draft.node.type_name} failed: {words_of(fault)}", draft=draft, field="type")

    def _version(self, raw: Mapping[str, Any]) -> bool:
        version = raw.get("version", WORKFLOW_VERSION)
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            self.report(
                f"version must be {WORKFLOW_VERSION}, not {shown(version)}",
                field="version",
                error=errors.InvalidValue,
            )
        elif version > WORKFLOW_VERSION:
            self.report(
                f"this workflow is of version {version}; this sidecar reads version {WORKFLOW_VERSION}: update Parley",
                field="version",
            )
            return False
        return True

    def _text(self, raw: Mapping[str, Any], key: str, default: str) -> str:
        value = raw.get(key, default)
        if isinstance(value, str):
            return value
        self.report(f"{key} must be a string, not {shown(value)}", field=key)
        return default

    def _variables(self, raw: object) -> dict[str, tuple[VariableType, Value]]:
        found: dict[str, tuple[VariableType, Value]] = {}
        if not isinstance(raw, list):
            self.report(f"variables must be a list, not {shown(raw)}", field="variables")
            return found
        for index, item in enumerate(raw):
            place = f"variables[{index}]"
            if not isinstance(item, Mapping):
                self.report(
                    f"a variable is an object with name, type and value, not {shown(item)}",
                    field="variables",
                    place=place,
                )
                continue
            for key in item:
                if key not in ("name", "type", "value"):
                    self.report(
                        f"unknown field '{cut(key)}'; {suggest(key, ('name', 'type', 'value'))}",
                        field="variables",
                        place=f"{place}.{cut(key)}",
                    )
            name = self._name(item.get("name"), field="variables", place=f"{place}.name")
            kind = item.get("type")
            self.unsound.add(name)
            if kind not in VARIABLE_TYPES:
                self.report(
                    f"type must be int, float, string, bool or string_set, not {shown(kind)}",
                    field="variables",
                    place=f"{place}.type",
                    error=errors.InvalidValue,
                )
                continue
            if "value" not in item:
                self.report("a variable needs a value", field="variables", place=f"{place}.value")
                continue
            try:
                value = check_variable(kind, item["value"])
            except errors.InvalidValue as fault:
                self.report(str(fault), field="variables", place=f"{place}.value", error=errors.InvalidValue)
                continue
            self.unsound.discard(name)
            if name in found:
                self.report(f"the variable '{name}' is declared twice", field="variables", place=f"{place}.name")
            elif name:
                found[name] = (kind, value)
        return found

    def _name(self, value: object, *, field: str, place: str, draft: Draft | None = None) -> str:
        """The name, or empty with a problem reported."""
        if not isinstance(value, str):
            self.report(f"a name must be a string, not {shown(value)}", draft=draft, field=field, place=place)
            return ""
        try:
            if check_name(value) != value:
                raise AuthoringError("grammar", f"'{cut(value)}' has white space around it; remove it.")
        except AuthoringError as fault:
            self.report(str(fault), draft=draft, field=field, place=place)
            return ""
        return value

    def _drafts(self, raw: object) -> list[Draft]:
        if not isinstance(raw, list):
            self.report(
                "a workflow needs nodes" if raw is None else f"nodes must be a list, not {shown(raw)}",
                field="nodes",
            )
            return []
        if not raw:
            self.report("a workflow needs at least one node", field="nodes")
        if len(raw) > self.scope.max_nodes:
            self.report(
                f"{len(raw)} nodes are more than this sidecar allows (max_nodes {self.scope.max_nodes})",
                field="nodes",
                error=errors.LimitExceeded,
            )
            return []
        drafts: list[Draft] = []
        first: dict[str, int] = {}
        for index, item in enumerate(raw):
            draft = Draft(index, item if isinstance(item, Mapping) else {})
            drafts.append(draft)
            if not isinstance(item, Mapping):
                self.report(f"a node is a JSON object, not {shown(item)}", draft=draft)
                continue
            draft.name = self._name(item.get("name", ""), field="name", place="name", draft=draft)
            if draft.name in first:
                self.report(
                    f"two nodes are called '{draft.name}'; the other is $.nodes[{first[draft.name]}]",
                    draft=draft,
                    field="name",
                )
            elif draft.name:
                first[draft.name] = index
            self._parameters(draft)
        return drafts

    def _parameters(self, draft: Draft) -> None:
        type_name = draft.raw.get("type")
        draft.cls = self.scope.registry.get(type_name) if isinstance(type_name, str) else None
        if draft.cls is None:
            wrong = "a node needs a type" if type_name is None else f"unknown node type {shown(type_name)}"
            self.report(f"{wrong}; {suggest(type_name, self.scope.registry)}", draft=draft, field="type")
            # Of an unknown type nothing is known but what its fields say by their names.
            draft.slot = string(draft.raw.get("output_name")) or (draft.name if "output_name" in draft.raw else "")
            draft.targets = [string(v) for k, v in draft.raw.items() if isinstance(k, str) and k.endswith("_exit")]
            return
        parameters = {key: value for key, value in draft.raw.items() if key != "type"}
        try:
            draft.node = draft.cls.model_validate(parameters)
        except ValidationError as fault:
            for item in fault.errors(include_url=False):
                if item["loc"] != ("name",):  # said already
                    self._parameter_fault(draft, item)
                parameters.pop(str(item["loc"][0]) if item["loc"] else "", None)
            # What is left is sound by itself, so the later checks can still say all there is to say about it.
            with contextlib.suppress(ValidationError):
                draft.node = draft.cls.model_validate(parameters)
        except RecursionError:
            self.report("the parameters are nested too deeply", draft=draft)
        except BaseException as fault:
            # A node type of somebody else may check its parameters with code of its own.
            self.report(f"the node type {draft.cls.type_name} failed: {words_of(fault)}", draft=draft, field="type")
        for name in [*draft.cls.fields_of(Kind.SLOT_OUTPUT), *draft.cls.fields_of(Kind.NAME)]:
            value = draft.raw.get(name)
            if name != "name" and isinstance(value, str) and value:
                self._name(value, field=name, place=name, draft=draft)
        outputs = draft.cls.fields_of(Kind.SLOT_OUTPUT)
        draft.slot = (string(draft.raw.get(outputs[0])) or draft.name) if outputs else ""
        draft.targets = [string(draft.raw.get(name)) for name in draft.cls.exit_fields().values()]

    def _parameter_fault(self, draft: Draft, item: Any) -> None:
        location = [part for part in item["loc"]]
        field = cut(location[0]) if location else ""
        draft.faulty.add(field)
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{cut(part)}" for part in location).lstrip(".")
        kind = str(item["type"])
        error: type[errors.ParleyError] = (
            errors.InvalidValue if any(word in kind for word in _OUT_OF_BOUNDS) else errors.WorkflowInvalid
        )
        value = item.get("input")
        if kind == "extra_forbidden":
            message = _unknown_parameter(draft, location)
        elif field == "history_role" and value in ("User", "System"):
            message = f"history_role '{value}' is reserved for a later version; use None or Assistant"
        else:
            message = fault_words(item)
        self.report(message, draft=draft, field=field, place=place, error=error)

    def _start(self, raw: Mapping[str, Any], drafts: Sequence[Draft]) -> str:
        start = self._text(raw, "start_node", "")
        if not start:
            if isinstance(raw.get("start_node", ""), str):
                self.report("a workflow needs a start_node", field="start_node")
        elif drafts and all(draft.name != start for draft in drafts):
            names = [draft.name for draft in drafts if draft.name]
            self.report(f"start_node names no node: '{cut(start)}'; {suggest(start, names)}", field="start_node")
        return start

    def _exits(self, drafts: Sequence[Draft]) -> None:
        names = {draft.name for draft in drafts if draft.name}
        for draft in drafts:
            for key, value in draft.raw.items():
                known = draft.cls is None or key in draft.cls.exit_fields().values()
                if (
                    isinstance(key, str)
                    and key.endswith("_exit")
                    and known
                    and isinstance(value, str)
                    and value
                    and value not in names
                ):
                    self.report(
                        f"{key} names no node: '{cut(value)}' (empty ends the turn); {suggest(value, sorted(names))}",
                        draft=draft,
                        field=key,
                        error=errors.InvalidExitTarget,
                    )

    def _models(self, drafts: Sequence[Draft], default_model: str) -> None:
        facts = self.scope.model_facts(default_model) if default_model else None
        if default_model and facts is None:
            self.report(_unknown_model(default_model), field="default_model", error=errors.ModelNotFound)
        elif facts is not None and facts.type != "language":
            self.report(
                f"'{default_model}' is a model of type {facts.type}; nodes need one of type language",
                field="default_model",
            )
        elif default_model and (absent := self.scope.absent(default_model)):
            self._warn_absent(absent, field="default_model")
        for draft in drafts:
            if draft.cls is None or not issubclass(draft.cls, ModelNode):
                continue
            name = string(draft.raw.get("model"))
            own = self.scope.model_facts(name) if name else facts
            if not name and not default_model:
                self.report(
                    "the node names no model and the workflow has no default_model",
                    draft=draft,
                    field="model",
                )
            elif name and own is None:
                self.report(_unknown_model(name), draft=draft, field="model", error=errors.ModelNotFound)
            elif name and own is not None and own.type != "language":
                self.report(
                    f"'{name}' is a model of type {own.type}; the node needs one of type language",
                    draft=draft,
                    field="model",
                )
            elif isinstance(draft.node, ModelNode) and own is not None:
                if name and name != default_model and (absent := self.scope.absent(name)):
                    self._warn_absent(absent, draft=draft, field="model")
                window = draft.node.context_size or own.context_size
                if window and isinstance(draft.node, ReplyNode):
                    self.prompt_budgets.append(window - draft.node.max_tokens)
                if window and draft.node.max_tokens >= window:
                    self.report(
                        f"max_tokens {draft.node.max_tokens} must be below the context_size {window}",
                        draft=draft,
                        field="max_tokens",
                        error=errors.InvalidValue,
                    )

    def _voices(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            if draft.cls is None or not issubclass(draft.cls, VoiceNode):
                continue
            given = draft.raw.get("voice", "")
            if not isinstance(given, str):
                continue  # its type is wrong, which was said
            name = string(given)
            facts = self.scope.model_facts(name) if name else None
            if not name:
                self.report("the node names no voice", draft=draft, field="voice", error=errors.ModelNotFound)
            elif facts is None:
                self.report(_unknown_model(name), draft=draft, field="voice", error=errors.ModelNotFound)
            elif facts.type != "tts":
                self.report(
                    f"'{name}' is a model of type {facts.type}; a voice is of type tts", draft=draft, field="voice"
                )
            elif absent := self.scope.absent(name):
                self._warn_absent(absent, draft=draft, field="voice")

    def _templates(self, drafts: Sequence[Draft], variables: Declared) -> None:
        sets = [name for name, (kind, _) in variables.items() if kind == "string_set"]
        for draft in drafts:
            for name in draft.cls.fields_of(Kind.TEMPLATE) if draft.cls else ():
                source = draft.raw.get(name)
                if not isinstance(source, str) or not source:
                    continue
                try:
                    template = compile_template(source, max_chars=self.scope.max_template_chars, set_variables=sets)
                except TemplateFault as fault:
                    self.report(str(fault), draft=draft, field=name)
                    continue
                for variable in sorted(template.variables - set(variables) - self.unsound):
                    self.report(
                        f"{{{{var.{variable}}}}} names no variable of the workflow; {suggest(variable, variables)}",
                        draft=draft,
                        field=name,
                    )
                if draft.node is not None:
                    draft.node.templates[name] = template

    def _variable_names(self, drafts: Sequence[Draft], variables: Declared) -> None:
        for draft in drafts:
            for field in draft.cls.fields_of(Kind.VARIABLE) if draft.cls else ():
                name = draft.raw.get(field)
                if isinstance(name, str) and name and name not in variables and name not in self.unsound:
                    self.report(
                        f"{field} names no variable of the workflow: '{cut(name)}'; {suggest(name, variables)}",
                        draft=draft,
                        field=field,
                    )


def _unknown_parameter(draft: Draft, location: Sequence[int | str]) -> str:
    """What to say of a parameter that is not there, or of a field that a parameter's object does not have."""
    known: list[str] = list(draft.cls.model_fields) if draft.cls else []
    owner = str(draft.raw.get("type"))
    if len(location) > 1 and draft.cls is not None:
        owner = str(location[0])
        schema = draft.cls.model_json_schema()
        outer = schema["properties"].get(owner, {})
        reference = str(outer.get("items", outer).get("$ref", ""))
        known = list(schema.get("$defs", {}).get(reference.rpartition("/")[2], {}).get("properties", {}))
    name = str(location[-1])
    return f"{owner} has no parameter '{cut(name)}'; {_parameter_hint(name, known)}"


def _parameter_hint(name: str, known: Sequence[str]) -> str:
    if name in SamplingParams.model_fields and "sampling" in known:
        return f'it is part of sampling: {{"sampling": {{"{name}": …}}}}'
    return suggest(name, known)


def _place(problem: Problem) -> int:
    """The index of the node that a problem is about, -1 for the workflow itself."""
    found = re.match(r"\$\.nodes\[(\d+)\]", problem.path)
    return int(found[1]) if found else -1


def _unknown_model(name: str) -> str:
    return f"the catalog has no model '{cut(name)}'; `parley models` lists those there are"
