"""Finds in Unreal headers what the engine's header tool would refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.unreal_modules import Module, Refusal, include_faults, source_faults
from tests.unreal_reader import (
    Delegate,
    Function,
    Header,
    Parameter,
    Property,
    Specifiers,
    Type,
    blanked,
    expected_parameters,
    parameters_of,
    split,
)
from tests.unreal_words import (
    ALLOWED_CONDITIONS,
    CLASS_WORDS,
    ENGINE_BASES,
    ENGINE_PROPERTIES,
    ENUM_WORDS,
    FUNCTION_WORDS,
    INTERFACE_WORDS,
    META_WORDS,
    NOT_FOR_BLUEPRINT,
    NUMBER,
    OWN_META,
    PROPERTY_WORDS,
    SIMPLE,
    STRUCT_WORDS,
)


@dataclass
class Known:
    """All types that the headers of all modules declare."""

    types: dict[str, Type] = field(default_factory=dict)
    enums: dict[str, tuple[bool, str]] = field(default_factory=dict)
    """Whether Blueprint may see it, and its underlying type."""
    delegates: dict[str, Delegate] = field(default_factory=dict)


def known_of(modules: Iterable[Module]) -> Known:
    """What all of them declare."""
    known = Known()
    for module in modules:
        for header in module.headers.values():
            known.types.update({one.name: one for one in header.types})
            known.enums.update(
                {one.name: (_has(one.specifiers, "BlueprintType"), one.underlying) for one in header.enums}
            )
            known.delegates.update({one.name: one for one in header.delegates})
    return known


def check(modules: Iterable[Module], stubs: Mapping[str, frozenset[str]]) -> list[Refusal]:
    """All that would be refused, sorted.

    `stubs`: the engine's headers by include path, with the modules that have them.
    """
    every = list(modules)
    known = known_of(every)
    out = list(_names(every, known))
    for module in every:
        for inside, header in module.headers.items():
            out += [
                Refusal(f"{module.name}/{inside}", line, text) for line, text in _header(module, inside, header, known)
            ]
        out += include_faults(module, every, stubs)
        out += source_faults(module)
        out += _bindings(module, known)
    return sorted(set(out))


# ---- names


def _has(said: Specifiers, word: str) -> bool:
    return any(word.lower() == given.lower() for given in said.words)


def _any(said: Specifiers, words: str) -> bool:
    return any(_has(said, word) for word in words.split())


def _names(modules: list[Module], known: Known) -> Iterator[Refusal]:
    files: dict[str, str] = {}
    engine: dict[str, tuple[str, str]] = {}
    for module in modules:
        for inside, header in module.headers.items():
            where = f"{module.name}/{inside}"
            if header.name.lower() in files:
                yield Refusal(
                    where,
                    1,
                    f"{files[header.name.lower()]} has the same file name; the header tool knows headers by it",
                )
            files[header.name.lower()] = where
            for one in header.types:
                if not one.macro:
                    continue
                # The engine knows U, A and F types without their prefix.
                short = one.name[1:].lower()
                if short in engine and engine[short][1] != one.name:
                    yield Refusal(
                        where, one.line, f"{one.name} has the engine name of {engine[short][1]} ({engine[short][0]})"
                    )
                engine[short] = (where, one.name)
            for enum in header.enums:
                if enum.name.lower() in engine:
                    yield Refusal(
                        where, enum.line, f"{enum.name} has the engine name of {engine[enum.name.lower()][1]}"
                    )


# ---- one header


def _header(module: Module, inside: str, header: Header, known: Known) -> Iterator[tuple[int, str]]:
    for line, text in header.problems:
        yield line, f"cannot be read: {text}"
    if not header.has_pragma_once:
        yield 1, "no #pragma once"
    wanted = header.name.removesuffix(".h") + ".generated.h"
    generated = [(line, name) for line, name in header.includes if name.endswith(".generated.h")]
    is_marked = bool(header.types or header.enums or any(one.is_dynamic for one in header.delegates))
    if is_marked and wanted not in [name for _, name in generated]:
        yield 1, f'"{wanted}" is not included'
    for line, name in generated:
        if name != wanted:
            yield line, f'"{name}" belongs to another header'
        if not is_marked:
            yield line, f'"{name}" is included, but nothing here is for the header tool'
        if (line, name) != header.includes[-1]:
            yield line, f'"{name}" is not the last include'
    for one in header.types:
        yield from _type(module, inside, one, known, header)
    for enum in header.enums:
        yield from (
            (enum.line, text) for text in _enum_faults(enum.name, enum.is_class, enum.underlying, enum.specifiers)
        )
        for name, _, _ in enum.values:
            if name.upper() in ("MAX", f"{enum.name.upper()}_MAX"):
                yield enum.line, f"{enum.name}::{name}: the header tool adds a value of this name"
        if len({name.lower() for name, _, _ in enum.values}) != len(enum.values):
            yield enum.line, f"{enum.name}: two values whose names differ only in their case"
        if not enum.values:
            yield enum.line, f"{enum.name} has no values"
    for delegate in header.delegates:
        yield from _delegate(delegate, known)


def _enum_faults(name: str, is_class: bool, underlying: str, said: Specifiers) -> Iterator[str]:
    if not is_class:
        yield f"{name}: not an enum class"
    if _has(said, "BlueprintType") and underlying != "uint8":
        yield f"{name}: BlueprintType wants uint8"
    if not re.match(r"E[A-Z]", name):
        yield f"{name}: the name of an enum begins with E"
    yield from _words(name, said, ENUM_WORDS)


def _words(name: str, said: Specifiers, allowed: frozenset[str]) -> Iterator[str]:
    for word in said.words:
        if word.lower() not in allowed:
            yield f"{name}: unknown specifier {word}"
    for key in said.meta:
        if key.lower() not in META_WORDS and not key.startswith(OWN_META):
            yield f"{name}: unknown metadata {key}"


def _type(module: Module, inside: str, one: Type, known: Known, header: Header) -> Iterator[tuple[int, str]]:
    if not one.bodies:
        yield one.line, f"{one.name}: no GENERATED_BODY"
    elif not one.is_body_first or len(one.bodies) > 1:
        yield one.bodies[0], f"{one.name}: GENERATED_BODY() has to come first, once"
    allowed = {"UCLASS": CLASS_WORDS, "USTRUCT": STRUCT_WORDS, "UINTERFACE": INTERFACE_WORDS}.get(
        one.macro, CLASS_WORDS
    )
    yield from ((one.line, text) for text in _words(one.name, one.specifiers, allowed))
    is_actor = _derives(one, "AActor", known)
    prefix = "F" if one.macro == "USTRUCT" else "I" if not one.macro else "A" if is_actor else "U"
    if not re.match(rf"{prefix}[A-Z0-9]", one.name):
        yield one.line, f"{one.name}: the name has to begin with {prefix}"
    if one.macro in ("UCLASS", "UINTERFACE"):
        if not one.bases:
            yield one.line, f"{one.name} derives from nothing"
        elif not re.match(r"[UA][A-Z]", one.bases[0]):
            yield one.line, f"{one.name}: the first base has to be a UObject, not {one.bases[0]}"
        if sum(1 for base in one.bases if re.match(r"[UA][A-Z]", base)) > 1:
            yield one.line, f"{one.name} has two bases that are UObjects"
    if one.macro == "UINTERFACE":
        if one.bases[:1] != ("UInterface",):
            yield one.line, f"{one.name} has to derive from UInterface"
        if one.properties or one.functions:
            yield one.line, f"{one.name}: the members belong into I{one.name[1:]}"
        if f"I{one.name[1:]}" not in {other.name for other in header.types}:
            yield one.line, f"{one.name}: no class I{one.name[1:]} in this header"
    if one.macro == "USTRUCT" and one.functions:
        yield one.line, f"{one.name}: a USTRUCT can have no UFUNCTION"
    if not one.macro and one.properties:
        yield one.line, f"{one.name}: an interface can have no UPROPERTY"
    if inside.startswith("Public/") and one.macro != "UINTERFACE" and one.macro and one.api != module.api:
        if not _has(one.specifiers, "MinimalAPI"):
            yield one.line, f"{one.name}: no {module.api}; other modules could not use it"
    elif one.api not in ("", module.api):
        yield one.line, f"{one.name}: {one.api} is of another module"
    names: set[str] = set()
    inherited = _inherited(one, known)
    for found in one.properties:
        if found.name.lower() in names:
            yield found.line, f"{one.name}::{found.name}: a second property of this name"
        names.add(found.name.lower())
        if found.name.lower() in inherited:
            yield found.line, f"{one.name}::{found.name}: a base has a property of this name"
        yield from ((found.line, f"{one.name}::{found.name}: {text}") for text in _property(one, found, known))
    functions: set[str] = set()
    for function in one.functions:
        where = f"{one.name}::{function.name}"
        if function.name.lower() in functions:
            yield function.line, f"{where}: a second UFUNCTION of this name; it cannot be overloaded"
        functions.add(function.name.lower())
        if function.name.lower() in names:
            yield function.line, f"{where}: a property has this name"
        for parameter in function.parameters:
            if parameter.name.lower() in names | inherited:
                yield function.line, f"{where}: the parameter {parameter.name} hides a property of the class"
        yield from ((function.line, f"{where}: {text}") for text in _function(one, function, known))


def _derives(one: Type, base: str, known: Known) -> bool:
    at: Type | None = one
    while at is not None and at.bases:
        name = at.bases[0]
        if name == base:
            return True
        at = known.types.get(name)
        while at is None and name in ENGINE_BASES:
            name = ENGINE_BASES[name]
            if name == base:
                return True
    return False


def _inherited(one: Type, known: Known) -> set[str]:
    """Names of the properties of all bases, in lower case."""
    names: set[str] = set()
    at: Type | None = one
    while at is not None and at.bases:
        name: str | None = at.bases[0]
        at = known.types.get(name or "")
        if at is not None:
            names.update(found.name.lower() for found in at.properties)
        while at is None and name is not None:
            names.update(ENGINE_PROPERTIES.get(name, frozenset()))
            name = ENGINE_BASES.get(name)
    return names


# ---- types


def _plain(kind: str) -> str:
    kind = re.sub(r"\b(const|mutable|class|struct|enum)\b", "", kind)
    return " ".join(kind.replace("&", " ").split()).strip()


def _template(kind: str) -> tuple[str, list[str]]:
    match = re.match(r"(\w+)\s*<(.*)>$", kind, re.DOTALL)
    return (match.group(1), [_plain(part) for part in split(match.group(2))]) if match else (kind, [])


def type_faults(kind: str, known: Known, *, blueprint: bool, is_parameter: bool, nested: bool = False) -> Iterator[str]:
    """Why the header tool would not have a property, or a parameter of a function, of this type."""
    plain = _plain(kind)
    outer, inner = _template(plain)
    if outer in ("TArray", "TSet", "TMap"):
        if nested:
            yield f"{plain} inside of a container"
            return
        if outer == "TMap" and inner:
            key = inner[0]
            if (
                _template(key)[0] in ("TArray", "TSet", "TMap")
                or key in ("FText", "float", "double")
                or key.startswith("TObjectPtr")
            ):
                yield f"{key} cannot be the key of a map"
        if outer != "TMap" and len(inner) != 1:
            yield f"{plain}: an allocator of its own"
        for part in inner:
            yield from type_faults(part, known, blueprint=blueprint, is_parameter=is_parameter, nested=True)
    elif outer in (
        "TObjectPtr",
        "TSubclassOf",
        "TSoftObjectPtr",
        "TSoftClassPtr",
        "TWeakObjectPtr",
        "TScriptInterface",
    ):
        if outer == "TObjectPtr" and is_parameter:
            yield "TObjectPtr as a parameter; take a plain pointer"
        if outer == "TWeakObjectPtr" and blueprint:
            yield "TWeakObjectPtr is not for Blueprint"
        if len(inner) != 1 or not re.match(r"[UAI][A-Z]\w*$", inner[0]):
            yield f"{plain}: not a class of objects"
    elif plain.endswith("*"):
        target = plain.rstrip("* ").strip()
        if not re.match(r"[UA][A-Z]\w*$", target):
            yield f"{plain}: a pointer to what is no UObject"
        elif not is_parameter:
            yield f"{plain}: TObjectPtr<{target}> for members"
    elif plain in SIMPLE:
        if blueprint and plain in NOT_FOR_BLUEPRINT:
            yield f"{plain} is not for Blueprint"
    elif plain in known.enums:
        is_visible, _ = known.enums[plain]
        if blueprint and not is_visible:
            yield f"{plain} is no BlueprintType"
    elif plain in known.delegates:
        delegate = known.delegates[plain]
        if not delegate.is_dynamic:
            yield f"{plain} is no dynamic delegate"
        elif delegate.is_multicast and is_parameter:
            yield f"{plain}: a multicast delegate as a parameter"
    elif plain in known.types:
        one = known.types[plain]
        if one.macro != "USTRUCT":
            yield f"{plain}: an object by value"
        elif blueprint and not _has(one.specifiers, "BlueprintType"):
            yield f"{plain} is no BlueprintType"
    elif plain.startswith("std::"):
        yield f"{plain}: no type of the standard library"
    else:
        yield f"{plain}: not a type that the header tool knows"


# ---- members


def _property(one: Type, found: Property, known: Known) -> Iterator[str]:
    said = found.specifiers
    yield from (text.split(": ", 1)[1] for text in _words(found.name, said, PROPERTY_WORDS))
    if found.condition not in ALLOWED_CONDITIONS:
        yield f"a UPROPERTY inside of #if {found.condition}"
    if found.condition == "WITH_EDITOR":
        yield "a UPROPERTY inside of #if WITH_EDITOR; it has to be WITH_EDITORONLY_DATA"
    if found.is_bitfield and _plain(found.type) not in ("uint8", "uint32", "bool"):
        yield "a bit field of this type"
    blueprint = _any(said, "BlueprintReadWrite BlueprintReadOnly")
    yield from type_faults(found.type, known, blueprint=blueprint, is_parameter=False)
    if re.search(r"\bconst\b", found.type) and not found.type.rstrip().endswith(("*", ">")):
        yield "a const UPROPERTY"
    if found.type.rstrip().endswith("]") and blueprint:
        yield "a plain array is not for Blueprint"
    if (
        sum(
            _has(said, w)
            for w in (
                "EditAnywhere",
                "EditDefaultsOnly",
                "EditInstanceOnly",
                "VisibleAnywhere",
                "VisibleDefaultsOnly",
                "VisibleInstanceOnly",
            )
        )
        > 1
    ):
        yield "two of Edit… and Visible…"
    if _has(said, "BlueprintReadWrite") and _has(said, "BlueprintReadOnly"):
        yield "BlueprintReadWrite and BlueprintReadOnly"
    is_private = found.access == "private" or (not found.access and one.macro == "UCLASS")
    if blueprint and is_private and not any(key.lower() == "allowprivateaccess" for key in said.meta):
        yield "Blueprint cannot see a private member"
    if _has(said, "BlueprintAssignable"):
        delegate = known.delegates.get(_plain(found.type))
        if delegate is None or not delegate.is_dynamic or not delegate.is_multicast:
            yield "BlueprintAssignable wants a dynamic multicast delegate"
    elif _plain(found.type) in known.delegates and known.delegates[_plain(found.type)].is_multicast and blueprint:
        yield "a multicast delegate wants BlueprintAssignable"
    if one.macro == "USTRUCT" and blueprint and not _has(one.specifiers, "BlueprintType"):
        yield f"{one.name} is no BlueprintType"
    is_shown = blueprint or _any(
        said, "EditAnywhere EditDefaultsOnly EditInstanceOnly VisibleAnywhere VisibleDefaultsOnly VisibleInstanceOnly"
    )
    is_pin = _has(said, "BlueprintAssignable") and not _derives(one, "UBlueprintAsyncActionBase", known)
    if (is_shown or is_pin) and not any(key.lower() == "category" and value for key, value in said.words.items()):
        yield "no Category"
    if _has(said, "Instanced") and "TObjectPtr" not in found.type:
        yield "Instanced wants objects"
    if _has(said, "Config") and not _has(one.specifiers, "Config"):
        yield "Config, but the class has no Config"
    yield from _meta_faults(one, found, known)


def _meta_faults(one: Type, found: Property, known: Known) -> Iterator[str]:
    names = {each.name for each in one.properties}
    meta = {key.lower(): value for key, value in found.specifiers.meta.items()}
    if "inlineeditconditiontoggle" in meta and _plain(found.type) != "bool":
        yield "InlineEditConditionToggle wants a bool"
    for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"\w+::\w+", "", meta.get("editcondition", ""))):
        if (
            name not in names
            and name not in ("true", "false", "nullptr")
            and not _inherited(one, known) & {name.lower()}
        ):
            yield f"EditCondition names {name}, which is no property here"
    for key in ("clampmin", "clampmax", "uimin", "uimax", "delta"):
        if key in meta and not NUMBER.match(meta[key]):
            yield f"{key} is no number: {meta[key]}"
    bounds = [meta.get(key, "") for key in ("clampmin", "clampmax")]
    if all(map(NUMBER.match, bounds)) and float(meta["clampmin"]) > float(meta["clampmax"]):
        yield "ClampMin is above ClampMax"
    if any(key in meta for key in ("clampmin", "clampmax")):
        inner = _template(_plain(found.type))[1] or [_plain(found.type)]
        if inner[-1] not in ("int32", "int64", "float", "double", "uint8"):
            yield "bounds of what is no number"


def _function(one: Type, found: Function, known: Known) -> Iterator[str]:
    said = found.specifiers
    yield from (text.split(": ", 1)[1] for text in _words(found.name, said, FUNCTION_WORDS))
    if found.condition not in ALLOWED_CONDITIONS:
        yield f"a UFUNCTION inside of #if {found.condition}"
    if found.condition == "WITH_EDITORONLY_DATA":
        yield "a UFUNCTION inside of #if WITH_EDITORONLY_DATA; it has to be WITH_EDITOR"
    is_event = _any(said, "BlueprintNativeEvent BlueprintImplementableEvent")
    blueprint = is_event or _any(said, "BlueprintCallable BlueprintPure")
    if is_event and found.is_virtual:
        yield "an event of Blueprint cannot be virtual"
    if _has(said, "BlueprintNativeEvent") and _has(said, "BlueprintImplementableEvent"):
        yield "a native and an implementable event at once"
    if is_event and found.has_body:
        yield "an event of Blueprint with a body here"
    if is_event and found.is_static:
        yield "a static event"
    if found.is_override:
        yield "UFUNCTION on an override; the base has it"
    if blueprint and not any(key.lower() == "category" and value for key, value in said.words.items()):
        yield "no Category"
    if found.result not in ("", "void"):
        yield from (
            f"returns {text}" for text in type_faults(found.result, known, blueprint=blueprint, is_parameter=True)
        )
    outputs = [p for p in found.parameters if p.type.rstrip().endswith("&") and "const" not in p.type]
    if _has(said, "BlueprintPure") and found.result in ("", "void") and not outputs:
        yield "BlueprintPure without a result"
    for parameter in found.parameters:
        yield from (f"{parameter.name}: {text}" for text in _parameter_faults(parameter, known, blueprint))
    if len({p.name.lower() for p in found.parameters}) != len(found.parameters):
        yield "two parameters whose names differ only in their case"
    names = {p.name for p in found.parameters}
    for key, value in said.meta.items():
        if key.lower() in (
            "worldcontext",
            "defaulttoself",
            "hidepin",
            "expandenumasexecs",
            "expandboolasexecs",
            "determinesoutputtype",
        ):
            missing = [name.strip() for name in value.split(",") if name.strip() not in names | {"ReturnValue"}]
        elif key.lower() in ("autocreaterefterm", "advanceddisplay") and not value.strip().isdigit():
            missing = [name.strip() for name in value.split(",") if name.strip() not in names]
        else:
            missing = []
        for name in missing:
            yield f"{key} names {name}, which is no parameter"
    if (
        not one.macro
        and blueprint
        and not is_event
        and "cannotimplementinterfaceinblueprint" not in {k.lower() for k in said.meta}
    ):
        yield "a function of an interface has to be an event"
    is_private = found.access == "private" or (not found.access and one.macro == "UCLASS")
    if is_private and is_event and not any(key.lower() == "allowprivateaccess" for key in said.meta):
        yield "Blueprint cannot see a private event"


def _parameter_faults(parameter: Parameter, known: Known, blueprint: bool) -> Iterator[str]:
    if not parameter.name:
        yield "a parameter without a name"
    yield from type_faults(parameter.type, known, blueprint=blueprint, is_parameter=True)
    if "&&" in parameter.type:
        yield "an rvalue"
    kind = _plain(parameter.type)
    if parameter.default and kind not in known.enums:
        is_text = kind in ("FString", "FName") and re.match(
            r'(TEXT\s*\(|"|NAME_None$|FString\(\)$|FName\(\)$)', parameter.default
        )
        is_number = re.match(r"-?[\d.]+f?$|INDEX_NONE$", parameter.default) and kind in SIMPLE
        is_word = parameter.default in ("true", "false") and kind == "bool"
        is_null = parameter.default in ("nullptr", "NULL") and parameter.type.rstrip().endswith("*")
        is_value = kind in ("FVector", "FVector2D", "FRotator", "FLinearColor", "FColor", "FText")
        if not (is_text or is_number or is_word or is_null or is_value):
            yield f"the default {parameter.default} cannot be written down for Blueprint"


def _delegate(one: Delegate, known: Known) -> Iterator[tuple[int, str]]:
    wanted = expected_parameters(one)
    given = len(one.arguments) // 2 if one.is_dynamic else len(one.arguments)
    if wanted < 0:
        yield one.line, f"{one.name}: no macro ends in {one.macro}"
    elif one.is_dynamic and len(one.arguments) % 2:
        yield one.line, f"{one.name}: each parameter wants a type and a name"
    elif given != wanted:
        yield one.line, f"{one.name}: {one.macro or 'no parameters'} by its name, {given} given"
    if not re.match(r"F[A-Z]", one.name):
        yield one.line, f"{one.name}: the name of a delegate begins with F"
    if one.is_multicast and one.result:
        yield one.line, f"{one.name}: a multicast delegate returns nothing"
    if one.is_dynamic:
        for parameter in parameters_of(one):
            for text in type_faults(parameter.type, known, blueprint=True, is_parameter=True):
                yield one.line, f"{one.name}: {parameter.name}: {text}"


# ---- what is bound, what is included


def _bindings(module: Module, known: Known) -> Iterator[Refusal]:
    """AddDynamic and its like find a function by its name: it has to be a UFUNCTION."""
    for inside, text in module.texts.items():
        for match in re.finditer(
            r"\b(?:Add|AddUnique|Remove|Bind)Dynamic\s*\([^;]*?&\s*(\w+)::(\w+)\s*\)", blanked(text)
        ):
            owner, name = match.groups()
            at: str | None = owner
            is_found = False
            while at is not None and at in known.types:
                is_found = is_found or any(f.name == name for f in known.types[at].functions)
                at = known.types[at].bases[0] if known.types[at].bases else None
            if owner in known.types and not is_found:
                yield Refusal(
                    f"{module.name}/{inside}",
                    text.count("\n", 0, match.start()) + 1,
                    f"{owner}::{name} is bound by name and is no UFUNCTION",
                )
