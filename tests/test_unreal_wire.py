"""The Unreal plugin's JSON, numbers and frames: read as Python reads them; and what is spoiled does no harm."""

from __future__ import annotations

import json
import math
import random
import shutil
import struct
import subprocess
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import protocol
from tests import cpp_build
from tests.cpp_build import Sanitizer, needs_cpp
from tests.wire_checks import sample
from tests.wire_values import FLOATS, NUMBERS, TEXTS, values

pytestmark = [needs_cpp, pytest.mark.timeout(600)]

MAX_DEPTH = 128
QUICK_FUZZ = 5_000
FULL_FUZZ = 100_000


@pytest.fixture(
    scope="module",
    params=[
        pytest.param("", id="plain"),
        pytest.param("asan", marks=pytest.mark.thorough),
    ],
)
def program(request: pytest.FixtureRequest) -> Path:
    sanitizer: Sanitizer = request.param
    return cpp_build.build("wire", sanitizer=sanitizer)


def said(program: Path, what: str, lines: list[str], **env: str) -> list[str]:
    """What the program says of each line."""
    done = subprocess.run(
        [str(program), what],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=cpp_build.environment(env),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = done.stdout.splitlines()
    assert len(answers) == len(lines)
    return answers


def read(program: Path, *texts: bytes) -> list[tuple[bool, str, str]]:
    """Of each text: whether it was read; what is written of it in one line, or why not; and written for people."""
    found = []
    for answer in said(program, "read", [text.hex() for text in texts]):
        kind, *rest = answer.split(" ")
        words = [bytes.fromhex(one).decode() for one in rest[: 2 if kind == "ok" else 1]]
        found.append((kind == "ok", words[0], words[1] if kind == "ok" else ""))
    return found


def text(json_value: Any, **how: Any) -> bytes:
    return json.dumps(json_value, **how).encode()


# ---- JSON ----------------------------------------------------------------------------------------------------


@given(values=st.lists(values, min_size=1, max_size=20))
def test_what_python_writes_is_read_and_written_as_the_same(program: Path, values: list[Any]) -> None:
    texts = [text(value) for value in values] + [text(value, ensure_ascii=False) for value in values]
    for value, (is_good, written, pretty) in zip([*values, *values], read(program, *texts), strict=True):
        assert is_good, written
        assert json.loads(written) == json.loads(pretty) == value
        assert pretty == json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        assert written == json.dumps(value, ensure_ascii=False, separators=(",", ":"))


SPELLINGS = (
    "1.50", "1e5", "1E5", "1E+05", "-0.0", "0.10", "100000000000000000000000000000000000001", "-9223372036854775809",
    "18446744073709551616", "1.000000000000000000000000000001", "9007199254740993", "2.2250738585072014e-308", "0e0",
)  # fmt: skip


def test_numbers_keep_their_spelling_and_fields_their_order(program: Path) -> None:
    for spelling in SPELLINGS:
        written = f'{{"z":{spelling},"a":[{spelling}],"m":null}}'
        assert read(program, written.encode())[0][:2] == (True, written)


def test_of_a_field_that_is_given_twice_the_last_one_counts(program: Path) -> None:
    few = b'{"a":1,"b":2,"a":[3]}'
    names = [f"field{number}" for number in range(40)]
    many = ",".join(f'"{name}":{at}' for at, name in enumerate([*names, names[3], names[39], names[3]]))
    found = read(program, few, f"{{{many}}}".encode())
    assert found[0][1] == '{"a":[3],"b":2}'
    assert found[1][1] == json.dumps(json.loads(f"{{{many}}}"), separators=(",", ":"))


@pytest.mark.thorough
def test_very_many_fields_are_read_soon(program: Path) -> None:
    # Looking for each among all that came before would take minutes.
    fields = {f"field{number}": number for number in range(200_000)}
    (answer,) = read(program, text(fields))
    assert json.loads(answer[1]) == fields


def nested(levels: int) -> bytes:
    return b'{"a":[' * (levels // 2) + b"[" * (levels % 2) + b"]" * (levels % 2) + b"]}" * (levels // 2)


def test_what_is_nested_too_deep_is_refused(program: Path) -> None:
    good, *bad = read(program, nested(MAX_DEPTH), nested(MAX_DEPTH + 1), b"[" * 2_000_000, b'{"a":' * 500_000)
    assert good[0], good[1]
    for is_good, why, _ in bad:
        assert (is_good, why) == (False, f"it is nested deeper than {MAX_DEPTH} levels")


REFUSED = (
    b"", b" ", b"{", b"}", b"[1,]", b'{"a":1,}', b'{"a" 1}', b"{a:1}", b"{'a':1}", b"[1 2]", b"nul", b"True", b"NaN",
    b"[NaN]", b"Infinity", b"-Infinity", b"-", b"+1", b"01", b"1.", b".5", b"1e", b"1e+", b"0x10", b"--1", b"1 2",
    b"{} {}", b"[] x", b"{},", b"1//", b"/* */1", b"[1]//x", b"#\n1", b'"', b'"\n"', b'"\t"', b'"\\x41"', b'"\\u12"',
    b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud800\\u0041"', b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"',
    b'"\xf4\x90\x80\x80"', b'"\xe9\x85"', b"\xff", b"\xef\xbb\xbf{}", b"\xfe\xff", b"{}\x00", b'"\x00"', b"1\x00 x",
    b"\x00", b"{\x00}", "\N{NO-BREAK SPACE}{}".encode(), "{\N{LEFT DOUBLE QUOTATION MARK}a“:1}".encode(),
)  # fmt: skip


def test_what_is_no_json_is_refused(program: Path) -> None:
    for raw, (is_good, why, _) in zip(REFUSED, read(program, *REFUSED), strict=True):
        assert not is_good, raw
        assert why, raw
    places = dict(zip(REFUSED, read(program, *REFUSED), strict=True))
    assert places[b'"\xff"'][1] == "it is not UTF-8 at byte 1"
    assert places[b"{}\x00"][1] == "a zero byte at byte 2"
    assert places[b"\xef\xbb\xbf{}"][1] == "it begins with a byte order mark at byte 0"
    assert "line 1, column 4" in places[b"[1 2]"][1]


def test_the_rest_of_what_values_do(program: Path) -> None:
    assert cpp_build.run_program(program, "values").stdout == "well\n"


# ---- UTF-8 ---------------------------------------------------------------------------------------------------


def test_utf8_is_what_python_takes_for_it(program: Path) -> None:
    rng = random.Random(7)
    alphabet = [b"a", b"\x7f", b"\x80", b"\xbf", b"\xc0", b"\xc1", b"\xc2", b"\xdf", b"\xe0", b"\xed", b"\xee", b"\xef",
                b"\xf0", b"\xf4", b"\xf5", b"\xff", b"\x9f", b"\xa0", b"\x8f", b"\x90"]  # fmt: skip
    cases = [b"".join(rng.choices(alphabet, k=rng.randrange(1, 7))) for _ in range(5_000)]
    cases += [one.encode() for one in TEXTS] + [one.encode("utf-8", "surrogatepass") for one in ("\ud800", "a\udfff")]
    for raw, answer in zip(cases, said(program, "utf8", [case.hex() for case in cases]), strict=True):
        place, mended = answer.split(" ") if " " in answer else (answer, "")
        try:
            raw.decode()
        except UnicodeDecodeError as fault:
            assert place == str(fault.start), raw
            assert "\ufffd" in bytes.fromhex(mended).decode()
        else:
            assert (place, bytes.fromhex(mended)) == ("-", raw)


# ---- numbers -------------------------------------------------------------------------------------------------


def as_whole(spelling: str, least: int, most: int) -> str:
    if not any(letter in "123456789" for letter in spelling.lower().split("e")[0]):
        return "0"
    try:
        number = Decimal(spelling)
    except InvalidOperation:
        # A power of ten without end.
        return "-"
    if number.adjusted() > 30 or number != number.to_integral_value():
        return "-"
    return str(int(number)) if least <= number <= most else "-"


WHOLE = (
    "0", "-0", "0.0", "-0.0e-5", "2.0", "2e0", "20e-1", "0.2e1", "2.5", "1e-1", "9223372036854775807",
    "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615",
    "18446744073709551616", "18446744073709551615.0", "1844674407370955161.5e1", "99999999999999999999",
    "100000000000000000000", "1e19", "1e20", "1e99999999999999999999", "0e99999999999999999999",
    "1e-99999999999999999999", "0.00000000000000000000000000001e29", "10000000000000000000000000000000e-31",
    "1000000000000000000.000", "0.000000000000000000000000000001", "-1", "-1e0", "123456789012345678901234567890e-20",
)  # fmt: skip


@pytest.mark.parametrize("extra", [(), tuple(map(str, NUMBERS)), SPELLINGS], ids=["whole", "numbers", "spellings"])
def test_whole_numbers_are_read_exactly(program: Path, extra: tuple[str, ...]) -> None:
    cases = [*WHOLE, *extra] if not extra else list(extra)
    for case, answer in zip(cases, said(program, "numbers", cases), strict=True):
        signed, unsigned, *_ = answer.split(" ")
        assert signed == as_whole(case, -(2**63), 2**63 - 1), case
        assert unsigned == as_whole(case, 0, 2**64 - 1), case


NO_NUMBERS = (
    "", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1", "NaN", "inf", " 1", "1 ", "1,5", "1_0", "--1", "1e5.0"
)  # fmt: skip


def test_what_json_does_not_spell_so_is_no_number(program: Path) -> None:
    assert said(program, "numbers", list(NO_NUMBERS)) == ["- - - -"] * len(NO_NUMBERS)


def check_reals(program: Path, cases: list[str], what: str = "numbers", **env: str) -> None:
    for case, answer in zip(cases, said(program, what, cases, **env), strict=True):
        _, _, bits, written = answer.split(" ")
        expected = float(case)
        assert struct.pack("<Q", int(bits)) == struct.pack("<d", expected), case
        if not math.isfinite(expected):
            assert written == "-", case
            continue
        assert struct.pack("<d", float(written)) == struct.pack("<d", expected), (case, written)
        assert any(letter in written for letter in ".e"), (case, written)
        assert len(written) <= len(repr(expected)) + len(".0"), (case, written)


REALS = (
    *SPELLINGS, *WHOLE, *map(repr, FLOATS), "1e400", "-1e400", "1e-400", "-1e-400", "0." + "0" * 400 + "1e50",
    "1" + "0" * 400 + "e-500", "1" + "0" * 400, "-" + "9" * 310, "4.9e-324", "2.4e-324", "1.7976931348623157e308",
    "1.7976931348623159e308", "5e-324", "0.1", "1e23", "8.41e21", "123456.789", "1e15", "1e16", "1e17", "1e-5", "1e-7",
)  # fmt: skip


def test_reals_are_read_and_written_as_python_does(program: Path) -> None:
    rng = random.Random(11)
    drawn = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(3_000)]
    check_reals(program, [*REALS, *(repr(one) for one in drawn if math.isfinite(one))])


def test_numbers_are_shown_to_people_shortly(program: Path) -> None:
    shown = {
        "0.4": "0.4", "15": "15", "0.25": "0.25", "1800.0": "1800", "0.0": "0", "-1.5": "-1.5", "0.12345": "0.123",
        "0.9996": "1", "300": "300", "0.05": "0.05", "-0.0001": "0", "1e20": "1e+20",
    }  # fmt: skip
    assert said(program, "shown", list(shown)) == list(shown.values())


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["C", "de_DE.UTF-8"])
def test_a_standard_library_that_cannot_read_reals_changes_nothing(language: str, tmp_path: Path) -> None:
    """As libc++ before its version 20, on macOS and in the engine's toolchain; also where the system writes 1,5."""
    if language != "C":
        if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/de_DE").is_file():
            pytest.skip("there is nothing to make a language with another decimal point of (Debian: locales)")
        command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / language)]
        subprocess.run(command, check=True, capture_output=True)
    program = cpp_build.build("plain_floats")
    rng = random.Random(12)
    drawn = [struct.unpack("<d", rng.randbytes(8))[0] for _ in range(3_000)]
    check_reals(program, [*REALS, *(repr(one) for one in drawn if math.isfinite(one))], language, LOCPATH=str(tmp_path))


# ---- frames --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One message of each type, as short and as full as it can be."""
    path = tmp_path_factory.mktemp("seeds") / "messages"
    lines = [
        f"{name}\t{json.dumps(sample(model, depth), ensure_ascii=is_ascii)}\n"
        for name, model in sorted(protocol.MESSAGES.items())
        for depth, is_ascii in ((0, True), (1, False))
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_what_is_spoiled_is_refused_in_good_order_or_understood(program: Path, seeds: Path, full: bool) -> None:
    count = FULL_FUZZ if full else QUICK_FUZZ
    done = cpp_build.run_program(program, "fuzz", f"seeds={seeds}", f"count={count}", "first=0", timeout=400)
    told = json.loads(done.stdout)
    assert sum(told.values()) == count
    # Spoiled enough to be refused everywhere, and not so much that nothing gets through.
    assert min(told.values()) > count / 100, told
