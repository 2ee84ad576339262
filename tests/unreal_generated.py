"""Writes what Unreal's header tool would write for a header, as far as the stubs of the engine need it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tests.unreal_reader import Enum, Function, Header, Property, Type, read_header

CLASS_FLAGS = {
    "Abstract": "CLASS_Abstract",
    "EditInlineNew": "CLASS_EditInlineNew",
    "DefaultToInstanced": "CLASS_DefaultToInstanced",
    "Config": "CLASS_Config",
    "DefaultConfig": "CLASS_DefaultConfig",
    "HideDropdown": "CLASS_HideDropDown",
}
PROPERTY_FLAGS = {
    "EditAnywhere": "CPF_Edit",
    "EditDefaultsOnly": "CPF_Edit",
    "EditInstanceOnly": "CPF_Edit",
    "VisibleAnywhere": "CPF_Edit | CPF_EditConst",
    "VisibleInstanceOnly": "CPF_Edit | CPF_EditConst",
    "VisibleDefaultsOnly": "CPF_Edit | CPF_EditConst",
    "BlueprintReadWrite": "CPF_BlueprintVisible",
    "BlueprintReadOnly": "CPF_BlueprintVisible",
    "BlueprintAssignable": "CPF_BlueprintAssignable",
    "Transient": "CPF_Transient",
    "DuplicateTransient": "CPF_DuplicateTransient",
    "Config": "CPF_Config",
    "Instanced": "CPF_InstancedReference",
    "SaveGame": "CPF_SaveGame",
}


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'TEXT("{escaped}")'


def _signature(function: Function, suffix: str = "", defaults: bool = False) -> str:
    said = ", ".join(f"{one.type} {one.name}".strip() for one in function.parameters)
    return f"{function.result} {function.name}{suffix}({said})" + (" const" if function.is_const else "")


def _arguments(function: Function) -> str:
    return ", ".join(one.name for one in function.parameters)


def _metadata(words: dict[str, str], meta: dict[str, str], comment: str) -> str:
    found = dict(meta)
    for key in ("Category", "DisplayName", "Config"):
        if words.get(key):
            found.setdefault(key, words[key])
    if comment and not any(key.lower() == "tooltip" for key in found):
        found["ToolTip"] = comment
    return ", ".join(f"{{{_text(key)}, {_text(value)}}}" for key, value in found.items())


def _events(one: Type) -> list[Function]:
    return [
        f
        for f in one.functions
        if "BlueprintNativeEvent" in f.specifiers.words or "BlueprintImplementableEvent" in f.specifiers.words
    ]


def _returns(function: Function) -> str:
    return "" if function.result in ("", "void") else "return "


def _class_body(one: Type, known: dict[str, Type]) -> list[str]:
    lines = [
        "public:",
        f"static {one.api + ' ' if one.api else ''}UClass* GetPrivateStaticClass();",
        "static UClass* StaticClass() { return GetPrivateStaticClass(); }",
        f"typedef {one.bases[0] if one.bases else 'UObject'} Super;",
        f"typedef {one.name} ThisClass;",
        "private: static void StubDescribe(UClass& Class); public:",
    ]
    if not one.constructors:
        # What the header tool declares for a class without a constructor.
        over = known.get(one.bases[0]) if one.bases else None
        takes = over is None or not over.constructors or any("FObjectInitializer" in c for c in over.constructors)
        passed = "ObjectInitializer" if takes else ""
        ignored = "" if takes else " (void)ObjectInitializer; "
        lines.append(
            f"{one.name}(const FObjectInitializer& ObjectInitializer = FObjectInitializer::Get()) "
            f": Super({passed}) {{{ignored}}}"
        )
    lines.append(f"{one.name}({one.name}&&) = delete; {one.name}(const {one.name}&) = delete;")
    interfaces = [base for base in one.bases[1:] if re.match(r"I[A-Z]", base)]
    if interfaces:
        asked = " ".join(
            f"if (Interface == {base}::UClassType::StaticClass()) {{ return static_cast<{base}*>(this); }}"
            for base in interfaces
        )
        lines.append(
            f"void* StubInterface(const UClass* Interface) override {{ {asked} "
            "return Super::StubInterface(Interface); }"
        )
    for event in _events(one):
        if "BlueprintNativeEvent" in event.specifiers.words and f"{event.name}_Implementation" not in one.declared:
            lines.append(f"virtual {_signature(event, '_Implementation')};")
    lines.append("private:")
    return lines


def _interface_body(one: Type) -> list[str]:
    lines = [
        "public:",
        f"typedef U{one.name[1:]} UClassType;",
        f"typedef {one.name} ThisClass;",
        f"virtual ~{one.name}() = default;",
    ]
    for event in _events(one):
        declared = ", ".join(["UObject* O", *(f"{p.type} {p.name}" for p in event.parameters)])
        lines.append(f"static {event.result} Execute_{event.name}({declared});")
        if "BlueprintNativeEvent" in event.specifiers.words:
            unnamed = ", ".join(p.type for p in event.parameters)
            const = " const" if event.is_const else ""
            body = "{ }" if event.result == "void" else f"{{ return {event.result}(); }}"
            lines.append(f"virtual {event.result} {event.name}_Implementation({unnamed}){const} {body}")
    lines.append("private:")
    return lines


def _struct_body(one: Type) -> list[str]:
    lines = [
        f"static {one.api + ' ' if one.api else ''}UScriptStruct* StaticStruct();",
        "static void StubDescribe(UScriptStruct& Struct);",
    ]
    if one.bases:
        lines.append(f"typedef {one.bases[0]} Super;")
    return lines


def _macro(name: str, lines: Iterable[str]) -> str:
    return f"#define {name} " + " \\\n    ".join(lines) + "\n"


def generated_header(header: Header, module: str, file_id: str, known: dict[str, Type]) -> str:
    """The text of `<Name>.generated.h`."""
    stem = header.name.removesuffix(".h")
    out = [
        f"// Stand-in for what the header tool writes for {header.name}.",
        "#pragma once",
        '#include "UObject/ObjectMacros.h"',
        '#include "UObject/ReflectedTypeAccessors.h"',
        f"#ifdef {module.upper()}_{stem}_generated_h",
        f"#error \"{stem}.generated.h already included, missing '#pragma once' in {header.name}\"",
        "#endif",
        f"#define {module.upper()}_{stem}_generated_h",
        "",
    ]
    for delegate in header.delegates:
        if delegate.is_dynamic:
            out += [
                f"#define {file_id}_{line}_DELEGATE"
                for line in range(delegate.macro_lines[0], delegate.macro_lines[1] + 1)
            ]
    for one in header.types:
        if one.macro in ("UCLASS", "UINTERFACE"):
            out += [f"#define {file_id}_{line}_PROLOG" for line in range(one.macro_lines[0], one.macro_lines[1] + 1)]
        body = (
            _struct_body(one)
            if one.macro == "USTRUCT"
            else _interface_body(one)
            if not one.macro
            else _class_body(one, known)
        )
        out += [_macro(f"{file_id}_{line}_GENERATED_BODY", body) for line in one.bodies]
    out += ["#undef CURRENT_FILE_ID", f"#define CURRENT_FILE_ID {file_id}", ""]
    for enum in header.enums:
        kind = f"enum class {enum.name} : {enum.underlying or 'int'};" if enum.is_class else ""
        out.append(f"{kind} template <> {module.upper()}_API UEnum* StaticEnum<{enum.name}>();")
    return "\n".join(out) + "\n"


def _described(one: Type, owner: str) -> list[str]:
    out = []
    for found in one.properties:
        if found.is_bitfield:
            continue
        flags = [flag for word, flag in PROPERTY_FLAGS.items() if word in found.specifiers.words]
        if found.condition:
            out.append(f"#if {found.condition}")
        said = found.specifiers
        out.append(
            f"    {owner}.StubAdd({_text(found.name)}, {_text(found.type)}, {' | '.join(flags) or '0'}, "
            f"offsetof({one.name}, {found.name}), StubEngine::OpsOf<{_stored(found)}>(), "
            f"{{{_metadata(said.words, said.meta, found.comment)}}});"
        )
        if found.condition:
            out.append("#endif")
    return out


def _stored(found: Property) -> str:
    kind = re.sub(r"^(class|struct|enum)\s+", "", found.type.replace("mutable ", ""))
    return re.sub(r"\b(class|struct|enum)\s+(?=\w)", "", kind)


def _class_source(one: Type) -> list[str]:
    said = one.specifiers.words
    flags = [flag for word, flag in CLASS_FLAGS.items() if any(word.lower() == given.lower() for given in said)]
    if one.macro == "UINTERFACE":
        flags += ["CLASS_Abstract", "CLASS_Interface"]
    made = f"new {one.name}(FObjectInitializer::Get())"
    if one.constructors and not any("FObjectInitializer" in found for found in one.constructors):
        made = f"new {one.name}()"
    config = next((value for word, value in said.items() if word.lower() == "config"), "")
    shown = {key: said[key] for key in ("DisplayName",) if key in said}
    lines = [
        f"UClass* {one.name}::GetPrivateStaticClass()",
        "{",
        "    static UClass* const Made = []",
        "    {",
        f"        UClass* Class = StubEngine::RegisterClass({_text(one.name[1:])}, Super::StaticClass(), "
        f"EClassFlags({' | '.join(['CLASS_None', *flags])}), []() -> UObject* {{ return {made}; }});",
        "        StubDescribe(*Class);",
        "        return Class;",
        "    }();",
        "    return Made;",
        "}",
        f"void {one.name}::StubDescribe(UClass& Class)",
        "{",
        "    (void)Class;",
        *_described(one, "Class"),
    ]
    meta = {**one.specifiers.meta, **shown, **({"ToolTip": one.comment} if one.comment else {})}
    lines += [f"    Class.StubMeta.Add({_text(key)}, {_text(value)});" for key, value in meta.items()]
    lines += [f"    Class.StubFunctions.Add(FName({_text(f.name)}));" for f in one.functions if not f.condition]
    lines += [
        f"    Class.StubInterfaces.Add({b}::UClassType::StaticClass());"
        for b in one.bases[1:]
        if re.match(r"I[A-Z]", b)
    ]
    if config:
        lines.append(f"    Class.StubConfig = {_text(config)};")
    lines += ["}", f"static const bool bStubClass{one.name} = ({one.name}::StaticClass(), true);"]
    for event in _events(one):
        if "BlueprintNativeEvent" in event.specifiers.words:
            lines += [
                f"{_owned(one, event)}",
                "{",
                f"    {_returns(event)}{event.name}_Implementation({_arguments(event)});",
                "}",
            ]
        else:
            this = f"const_cast<{one.name}*>(this)" if event.is_const else "this"
            unused = " ".join(f"(void){p.name};" for p in event.parameters)
            back = "" if event.result == "void" else f"return {event.result}();"
            lines += [
                f"{_owned(one, event)}",
                "{",
                f"    {unused} ++{this}->StubEvents().FindOrAdd(FName({_text(event.name)})); {back}",
                "}",
            ]
    return lines


def _owned(one: Type, function: Function) -> str:
    said = ", ".join(f"{p.type} {p.name}" for p in function.parameters)
    return f"{function.result} {one.name}::{function.name}({said})" + (" const" if function.is_const else "")


def _interface_source(one: Type) -> list[str]:
    lines = []
    for event in _events(one):
        declared = ", ".join(["UObject* O", *(f"{p.type} {p.name}" for p in event.parameters)])
        unused = " ".join(f"(void){p.name};" for p in event.parameters)
        back = "" if event.result == "void" else f"return {event.result}();"
        lines += [_owned(one, event), "{", f"    {unused} check(false); {back}", "}"]
        lines += [f"{event.result} {one.name}::Execute_{event.name}({declared})", "{"]
        if "BlueprintNativeEvent" in event.specifiers.words:
            lines.append(
                f"    {one.name}* I = Cast<{one.name}>(O); check(I != nullptr); "
                f"{_returns(event)}I->{event.name}_Implementation({_arguments(event)});"
            )
        else:
            lines.append(f"    {unused} ++O->StubEvents().FindOrAdd(FName({_text(event.name)})); {back}")
        lines.append("}")
    return lines


def _struct_source(one: Type) -> list[str]:
    over = f"{one.bases[0]}::StaticStruct()" if one.bases else "nullptr"
    return [
        f"UScriptStruct* {one.name}::StaticStruct()",
        "{",
        "    static UScriptStruct* const Made = []",
        "    {",
        "        UScriptStruct* Struct = "
        f"StubEngine::RegisterStruct({_text(one.name[1:])}, {over}, sizeof({one.name}));",
        f"        {one.name}::StubDescribe(*Struct);",
        "        return Struct;",
        "    }();",
        "    return Made;",
        "}",
        f"void {one.name}::StubDescribe(UScriptStruct& Struct)",
        "{",
        "    (void)Struct;",
        *_described(one, "Struct"),
        *([f'    Struct.StubMeta.Add(TEXT("ToolTip"), {_text(one.comment)});'] if one.comment else []),
        "}",
    ]


def _enum_source(enum: Enum) -> list[str]:
    names = ", ".join(f"{{{_text(name)}, static_cast<int64>({enum.name}::{name})}}" for name, _, _ in enum.values)
    shown = ", ".join(
        f"{{{_text(name)}, {_text(meta['DisplayName'])}}}" for name, _, meta in enum.values if "DisplayName" in meta
    )
    return [
        "template <>",
        f"UEnum* StaticEnum<{enum.name}>()",
        "{",
        f"    static UEnum* const Made = StubEngine::RegisterEnum({_text(enum.name)}, {{{names}}}, {{{shown}}});",
        "    return Made;",
        "}",
    ]


def generated_source(header: Header, include: str) -> str:
    """The text of `<Name>.gen.cpp`."""
    out = [
        f"// Stand-in for what the header tool writes for {header.name}.",
        '#include "UObject/UnrealType.h"',
        f'#include "{include}"',
        "",
    ]
    for enum in header.enums:
        out += _enum_source(enum)
    for one in header.types:
        if one.macro == "USTRUCT":
            out += _struct_source(one)
        elif one.macro:
            out += _class_source(one)
        else:
            out += _interface_source(one)
    return "\n".join(out) + "\n"


def write_generated(module: Path, out: Path, others: Iterable[Header] = ()) -> list[Path]:
    """Writes what belongs to a module's folder (`Source/<Module>`) to `out`; returns the sources, a part of the module.

    Files that would stay the same are left alone, so that what was compiled stays fresh.
    """
    read: dict[Path, Header] = {}
    for path in sorted(module.rglob("*.h")):
        if path.relative_to(module).parts[0] != "Core":
            header = read_header(path.name, path.read_text(encoding="utf-8"))
            if header.types or header.enums or any(one.is_dynamic for one in header.delegates):
                read[path] = header
    known = {one.name: one for header in [*others, *read.values()] for one in header.types}
    out.mkdir(parents=True, exist_ok=True)
    sources = []
    for path, header in read.items():
        stem = path.name.removesuffix(".h")
        file_id = "FID_" + re.sub(r"\W", "_", f"{module.name}_{path.relative_to(module)}")
        _write(out / f"{stem}.generated.h", generated_header(header, module.name, file_id, known))
        sources.append(out / f"{stem}.gen.cpp")
        _write(sources[-1], generated_source(header, path.as_posix()))
    return sources


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
