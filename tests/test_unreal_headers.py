"""The stand-in for Unreal's header tool refuses what the tool would, and nothing of the plugin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unreal_compile import MODULES, ROOT, STUBS
from tests.unreal_generated import generated_header, generated_source
from tests.unreal_headers import check
from tests.unreal_modules import Module, build_modules, read_module, stub_headers
from tests.unreal_reader import read_header
from tests.unreal_words import ENGINE_MODULES

GOOD = """// A thing.
#pragma once

#include "CoreMinimal.h"
#include "Engine/DataAsset.h"
#include "Other.h"

#include "Thing.generated.h"

class UThing;

/** What a thing can be. */
UENUM(BlueprintType)
enum class EThingKind : uint8
{
    /** Nothing. */
    None,
    Door UMETA(DisplayName = "A door, closed"),
    Lamp,
};

DECLARE_DYNAMIC_MULTICAST_DELEGATE_TwoParams(FThingEvent, const FString&, Speaker, bool, bIsFinal);
DECLARE_DYNAMIC_DELEGATE_OneParam(FThingDone, const FString&, Fault);
DECLARE_MULTICAST_DELEGATE_OneParam(FThingNative, int32);

/** One part. */
USTRUCT(BlueprintType)
struct TESTED_API FThingPart
{
    GENERATED_BODY()

    /** Which. */
    UPROPERTY(
        EditAnywhere, BlueprintReadWrite, Category = "Thing",
        meta = (ClampMin = "0", ClampMax = "3.5", EditCondition = "bHasSize"))
    double Size = 0.0;

    UPROPERTY(EditAnywhere, BlueprintReadWrite, Category = "Thing", meta = (InlineEditConditionToggle))
    bool bHasSize = false;

    FThingPart() = default;
};

UCLASS(BlueprintType, meta = (DisplayName = "The \\"Thing\\", (all of it)"))
class TESTED_API UThing : public UDataAsset
{
    GENERATED_BODY()

public:
    UPROPERTY(EditAnywhere, BlueprintReadOnly, Category = "Thing", meta = (ParleyKind = "name"))
    FString Name = TEXT("a; {b}");

    UPROPERTY(EditAnywhere, Instanced, Category = "Thing")
    TArray<TObjectPtr<UThing>> Inner;

    UPROPERTY(EditAnywhere, Category = "Thing")
    TMap<FName, FThingPart> Parts;

    UPROPERTY(BlueprintAssignable, Category = "Thing")
    FThingEvent OnThing;

    UFUNCTION(BlueprintCallable, Category = "Thing", meta = (AutoCreateRefTerm = "Done"))
    void Begin(const FString& Text, EThingKind Kind, UThing* Other, const FThingDone& Done, int32 Count = 3);

    UFUNCTION(BlueprintNativeEvent, Category = "Thing")
    bool Ask(const TArray<FString>& Words);

    UFUNCTION(BlueprintPure, Category = "Thing")
    static const TArray<FThingPart>& All();

#if WITH_EDITORONLY_DATA
    UPROPERTY()
    FString Note;
#endif

private:
    UPROPERTY(Transient)
    int64 Count_ = 0;
};
"""
STUB_NAMES = stub_headers(STUBS)


def module(text: str, build: tuple[str, ...] = ("Core", "CoreUObject", "Engine"), name: str = "Thing.h") -> Module:
    """A module of one public header."""
    return Module(
        "Tested",
        {f"Public/{name}": read_header(name, text)},
        {f"Public/{name}": text, "Public/Other.h": "#pragma once\n"},
        frozenset(build),
    )


def refused(text: str, build: tuple[str, ...] = ("Core", "CoreUObject", "Engine")) -> list[str]:
    """What is said of a header, without where."""
    return [found.text for found in check([module(text, build)], STUB_NAMES)]


def test_a_good_header_is_let_through() -> None:
    assert refused(GOOD) == []


BAD = [
    (
        "    GENERATED_BODY()\n\npublic:\n    UPROPERTY(EditAnywhere, BlueprintReadOnly",
        "public:\n    UPROPERTY(EditAnywhere, BlueprintReadOnly",
        "UThing: no GENERATED_BODY",
    ),
    ("    GENERATED_BODY()\n\npublic:", "public:\n    GENERATED_BODY()\n", "has to come first"),
    ('#include "Thing.generated.h"\n', "", '"Thing.generated.h" is not included'),
    (
        '#include "Thing.generated.h"\n',
        '#include "Thing.generated.h"\n#include "Misc/Paths.h"\n',
        "is not the last include",
    ),
    (
        '#include "Thing.generated.h"\n',
        '#include "Thing.generated.h"\n#include "Other.generated.h"\n',
        "belongs to another header",
    ),
    ("#pragma once\n", "", "no #pragma once"),
    ("double Size", "TOptional<double> Size", "TOptional<double>: not a type"),
    ("double Size", "std::string Size", "std::string: no type of the standard library"),
    ("double Size", "uint32 Size", "uint32 is not for Blueprint"),
    ("double Size", "uint64 Size", "uint64 is not for Blueprint"),
    ("double Size", "TArray<TArray<double>> Size", "inside of a container"),
    ("TMap<FName, FThingPart>", "TMap<FName, TArray<FString>>", "inside of a container"),
    ("TMap<FName, FThingPart>", "TMap<float, FString>", "cannot be the key of a map"),
    ("TArray<TObjectPtr<UThing>>", "TArray<UThing*>", "TObjectPtr<UThing> for members"),
    ("TArray<TObjectPtr<UThing>>", "TArray<FThingPart*>", "a pointer to what is no UObject"),
    ("TArray<TObjectPtr<UThing>>", "TSharedPtr<UThing>", "not a type that the header tool knows"),
    ("TArray<TObjectPtr<UThing>>", "UThing", "an object by value"),
    ("FThingEvent OnThing", "FThingDone OnThing", "wants a dynamic multicast delegate"),
    ("FThingEvent OnThing", "FThingNative OnThing", "wants a dynamic multicast delegate"),
    (
        "FThingEvent, const FString&, Speaker, bool, bIsFinal",
        "FThingEvent, const FString&, Speaker",
        "TwoParams by its name, 1 given",
    ),
    (
        "FThingEvent, const FString&, Speaker, bool, bIsFinal",
        "FThingEvent, std::string, Speaker, bool, bIsFinal",
        "no type of the standard library",
    ),
    ("_TwoParams(FThingEvent", "_TwoParams(ThingEvent", "begins with F"),
    (', Category = "Thing", meta = (ParleyKind', ", meta = (ParleyKind", "UThing::Name: no Category"),
    ('UFUNCTION(BlueprintPure, Category = "Thing")', "UFUNCTION(BlueprintPure)", "UThing::All: no Category"),
    ("UPROPERTY(EditAnywhere, Instanced", "UPROPERTY(EditAnyware, Instanced", "unknown specifier EditAnyware"),
    ("ClampMin", "ClampMinimum", "unknown metadata ClampMinimum"),
    ('ClampMin = "0"', 'ClampMin = "none"', "is no number"),
    ('ClampMin = "0"', 'ClampMin = "9"', "ClampMin is above ClampMax"),
    ('"bHasSize"', '"bHasSise"', "EditCondition names bHasSise"),
    ("    bool bHasSize = false", "    int32 bHasSize = 0", "wants a bool"),
    ("public UDataAsset", "public FThingPart", "the first base has to be a UObject"),
    ("class TESTED_API UThing", "class UThing", "no TESTED_API"),
    ("class TESTED_API UThing", "class OTHER_API UThing", "no TESTED_API"),
    ("struct TESTED_API FThingPart", "struct TESTED_API ThingPart", "has to begin with F"),
    ("struct TESTED_API FThingPart", "struct TESTED_API FThing", "has the engine name of"),
    ("enum class EThingKind : uint8", "enum class EThingKind : int32", "BlueprintType wants uint8"),
    ("enum class EThingKind : uint8", "enum EThingKind", "not an enum class"),
    ("    Lamp,", "    LAMP,\n    Lamp,", "differ only in their case"),
    ("    Lamp,", "    MAX,", "the header tool adds a value of this name"),
    ("UENUM(BlueprintType)", "UENUM()", "EThingKind is no BlueprintType"),
    ("USTRUCT(BlueprintType)", "USTRUCT()", "FThingPart is no BlueprintType"),
    ("#if WITH_EDITORONLY_DATA", "#if PLATFORM_LINUX", "inside of #if PLATFORM_LINUX"),
    ("#if WITH_EDITORONLY_DATA", "#if WITH_EDITOR", "it has to be WITH_EDITORONLY_DATA"),
    (
        "UPROPERTY(Transient)",
        'UPROPERTY(Transient, BlueprintReadOnly, Category = "Thing")',
        "cannot see a private member",
    ),
    ("const FThingDone& Done,", "const TFunction<void()>& Done,", "not a type that the header tool knows"),
    ("UThing* Other", "TObjectPtr<UThing> Other", "TObjectPtr as a parameter"),
    ("UThing* Other", "UThing* Inner", "hides a property of the class"),
    ("UThing* Other", "UThing*", "a parameter without a name"),
    ("int32 Count = 3", "int32 Count = Default()", "cannot be written down for Blueprint"),
    ("int32 Count = 3", "TArray<FString> Count = {}", "cannot be written down for Blueprint"),
    ('"Done"))', '"Dune"))', "names Dune, which is no parameter"),
    ("    bool Ask(", "    virtual bool Ask(", "an event of Blueprint cannot be virtual"),
    ("    static const TArray<FThingPart>& All();", "    static void All();", "BlueprintPure without a result"),
    (
        "    bool Ask(const TArray<FString>& Words);",
        "    bool Begin(const TArray<FString>& Words);",
        "it cannot be overloaded",
    ),
    (
        "    FThingPart() = default;",
        '    UFUNCTION(BlueprintCallable, Category = "T")\n    void Do();',
        "a USTRUCT can have no UFUNCTION",
    ),
    (
        "    UPROPERTY(Transient)\n    int64 Count_",
        "    UPROPERTY(Transient)\n    int64 NAME",
        "a second property of this name",
    ),
    (
        '#include "Engine/DataAsset.h"',
        '#include "Interfaces/IPluginManager.h"',
        '"Interfaces/IPluginManager.h" is of Projects',
    ),
    ('#include "Engine/DataAsset.h"', '#include "Engine/NoSuch.h"', "is no header of the engine with a stub"),
]


@pytest.mark.parametrize(("good", "bad", "wanted"), BAD, ids=[wanted for _, _, wanted in BAD])
def test_a_bad_header_is_refused(good: str, bad: str, wanted: str) -> None:
    assert GOOD.count(good) >= 1
    said = refused(GOOD.replace(good, bad, 1))
    assert any(wanted in found for found in said), said


def test_interfaces_have_their_own_rules() -> None:
    text = """#pragma once
#include "CoreMinimal.h"
#include "UObject/Interface.h"
#include "Speaks.generated.h"
UINTERFACE(BlueprintType)
class TESTED_API USpeaks : public UInterface
{
    GENERATED_BODY()
};
class TESTED_API ISpeaks
{
    GENERATED_BODY()
public:
    UFUNCTION(BlueprintNativeEvent, Category = "T")
    void Hear(const FString& Line);
};
"""
    assert [found.text for found in check([module(text, name="Speaks.h")], STUB_NAMES)] == []
    for good, bad, wanted in [
        ("public UInterface", "public UObject", "has to derive from UInterface"),
        ("class TESTED_API ISpeaks", "class TESTED_API ITalks", "no class ISpeaks in this header"),
        ("BlueprintNativeEvent", "BlueprintCallable", "has to be an event"),
        (
            "public:\n    UFUNCTION",
            "public:\n    UPROPERTY()\n    int32 A;\n    UFUNCTION",
            "an interface can have no UPROPERTY",
        ),
    ]:
        said = [found.text for found in check([module(text.replace(good, bad, 1), name="Speaks.h")], STUB_NAMES)]
        assert any(wanted in one for one in said), (bad, said)


def test_what_is_bound_by_name_is_a_function_that_the_engine_knows() -> None:
    plain = "void F(UThing* T) { T->OnThing.AddDynamic(T, &UThing::Begin); }\n"
    one = module(GOOD)
    good = Module(one.name, one.headers, {**one.texts, "Private/A.cpp": plain}, one.public)
    assert check([good], STUB_NAMES) == []
    bad = Module(
        one.name, one.headers, {**one.texts, "Private/A.cpp": plain.replace("::Begin", "::Hidden")}, one.public
    )
    assert [found.text for found in check([bad], STUB_NAMES)] == ["UThing::Hidden is bound by name and is no UFUNCTION"]


def test_two_headers_of_one_name_are_refused() -> None:
    one = module(GOOD)
    two = Module("Second", {"Public/Thing.h": read_header("Thing.h", "#pragma once\n")}, {}, frozenset())
    assert any("has the same file name" in found.text for found in check([one, two], STUB_NAMES))


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"Private/Some/Thing.cpp": '#include "Thing.h"\n'}, "has the same file name; both would be one object file"),
        ({"Private/Thing.cpp": '#include "Other.h"\n#include "Thing.h"\n'}, "Thing.h has to be the first header"),
        (
            {"Private/Thing.cpp": '#include "Thing.h"\nvoid Load() { LoadLibrary(); }\n'},
            "LoadLibrary is a macro of windows.h",
        ),
    ],
    ids=["one name twice", "its own header second", "a word of windows.h"],
)
def test_what_the_build_tool_would_refuse_in_sources(files: dict[str, str], wanted: str) -> None:
    one = module(GOOD)
    good = {"Private/Thing.cpp": '// LoadLibrary\n#include "Thing.h"\nconst char* Text = "GetObject";\n'}
    assert check([Module(one.name, one.headers, {**one.texts, **good}, one.public)], STUB_NAMES) == []
    bad = Module(one.name, one.headers, {**one.texts, **good, **files}, one.public)
    found = [each.text for each in check([bad], STUB_NAMES)]
    assert any(wanted in each for each in found), found


def test_what_a_header_takes_back_of_windows_h_may_be_used() -> None:
    one = module(GOOD)
    texts = {**one.texts, "Private/A.cpp": "void F() { SendMessage(); }\n", "Private/W.h": "#undef SendMessage\n"}
    assert check([Module(one.name, one.headers, texts, one.public)], STUB_NAMES) == []


def test_build_files_are_read() -> None:
    text = """PublicDependencyModuleNames.AddRange(new string[] { "Core", // "Not"
        "Engine" });
    PrivateDependencyModuleNames.Add("Json");
    if (Target.bBuildEditor) { PrivateDependencyModuleNames.Add("UnrealEd"); }"""
    assert build_modules(text) == (frozenset({"Core", "Engine"}), frozenset({"Json", "UnrealEd"}))


def test_a_public_header_wants_public_dependencies() -> None:
    text = GOOD.replace('#include "Engine/DataAsset.h"', '#include "Dom/JsonObject.h"')
    one = module(text)
    private = Module(one.name, one.headers, one.texts, one.public, frozenset({"Json"}))
    assert [found.text for found in check([private], STUB_NAMES)] == [
        '"Dom/JsonObject.h" is of Json, which PublicDependencyModuleNames does not list'
    ]
    assert check([module(text, build=("Core", "CoreUObject", "Engine", "Json"))], STUB_NAMES) == []


def test_a_standard_of_ones_own_is_refused() -> None:
    one = module(GOOD)
    own = Module(one.name, one.headers, one.texts, one.public, frozenset(), has_own_standard=True)
    assert [found.text.split(":")[0] for found in check([own], STUB_NAMES)] == ["CppStandard"]


def test_an_unknown_module_is_refused() -> None:
    assert refused(GOOD, build=("Core", "CoreUObject", "Engine", "JsonUtil")) == ["JsonUtil is no module that is known"]


def test_the_plugin_has_nothing_that_the_header_tool_would_refuse() -> None:
    modules = [read_module(MODULES[name]) for name in ("Parley", "ParleyEditor")]
    assert sum(len(header.types) for one in modules for header in one.headers.values()) > 20
    assert [str(found) for found in check(modules, STUB_NAMES)] == []


def test_the_sample_has_nothing_that_the_header_tool_would_refuse() -> None:
    sample = read_module(MODULES["Tavern"])
    parley = read_module(MODULES["Parley"])
    # The sample is copied into a game, whose Build.cs names what it includes.
    game = Module(sample.name, sample.headers, sample.texts, frozenset({"Core", "CoreUObject", "Engine", "Parley"}))
    assert [str(found) for found in check([parley, game], STUB_NAMES) if found.file.startswith("Tavern")] == []


def test_generated_code_has_what_a_class_of_the_engine_has() -> None:
    header = read_header("Thing.h", GOOD)
    thing = generated_header(header, "Tested", "FID_T", {one.name: one for one in header.types})
    body = next(one.bodies[0] for one in header.types if one.name == "UThing")
    for line in (f"#define FID_T_{body}_GENERATED_BODY", "typedef UDataAsset Super;", "#define CURRENT_FILE_ID FID_T"):
        assert line in thing
    source = generated_source(header, "Thing.h")
    assert "return Ask_Implementation(Words);" in source
    assert source.index("#if WITH_EDITORONLY_DATA") < source.index('TEXT("Note")') < source.index("#endif")
    assert '{TEXT("ToolTip"), TEXT("Which.")}' in source


# ---- the stubs themselves


SOURCE = re.compile(r"// Source: ((?:[\w.-]+/[\w.-]+ Source/\S+)|(?:dev\.epicgames\.com\s?(?:// )?/documentation/\S+))")
DECLARED = re.compile(
    r"^(?P<indent> *)(?:class|struct|enum class|enum)\s+(?:[A-Z]+_API\s+)?(?P<name>[A-Z]\w*)[^;()]*$", re.MULTILINE
)


def stub_files() -> list[Path]:
    return [path for path in sorted(STUBS.rglob("*.h"))]


def without_source(text: str) -> list[str]:
    """Classes, structs and enums at the level of a file or of a namespace that name no public source right above."""
    lines = text.splitlines()
    missing = []
    for match in DECLARED.finditer(text):
        if match.group("indent"):
            continue
        at = text.count("\n", 0, match.start())
        following = "\n".join(lines[at : at + 4])
        if "{" not in following:
            continue
        above: list[str] = []
        for line in reversed(lines[:at]):
            if not line.strip() or not line.strip().startswith(("//", "template", "typename")):
                break
            above.insert(0, line.strip())
        block = " ".join(above)
        if not (SOURCE.search(block) or is_of_the_test(text, match.start())):
            missing.append(match.group("name"))
    return missing


def is_of_the_test(text: str, at: int) -> bool:
    """Inside of namespace StubEngine: how the stubs work, nothing of the engine."""
    before = text[:at]
    return before.rfind("namespace StubEngine\n") > before.rfind("} // namespace StubEngine")


def test_every_stub_names_the_public_source_it_was_checked_against() -> None:
    assert len(stub_files()) > 80
    for path in stub_files():
        text = path.read_text(encoding="utf-8")
        assert SOURCE.search(" ".join(text.splitlines()[:6])), f"{path.relative_to(ROOT)} names no public source"
        assert without_source(text) == [], path.relative_to(ROOT)


def test_a_stub_without_a_source_is_found() -> None:
    text = "// A.\n// Source: dev.epicgames.com/documentation/unreal-engine/API/A\n#pragma once\nclass FNew\n{\n};\n"
    assert without_source(text) == ["FNew"]
    assert without_source(text.replace("class FNew", "// Source: a/b Source/C.h\nclass FNew")) == []
    assert without_source(text.replace("class FNew\n{\n};", "class FNew;")) == []


def test_every_folder_of_stubs_is_a_module_of_the_engine() -> None:
    assert {path.name for path in STUBS.iterdir() if path.is_dir()} <= ENGINE_MODULES
