"""That editors written in C# edit workflows exactly as the sidecar's own rules do."""

from __future__ import annotations

import functools

import pytest

from tests.authoring_cases import (
    check_a_template_of_hostile_length,
    check_edits,
    check_names_and_slots,
    check_tags_in_all_their_forms,
    check_the_shared_vectors,
    check_what_dropdowns_offer,
    check_what_hypothesis_thinks_of,
)
from tests.csharp_authoring import ask
from tests.csharp_build import needs_mono

pytestmark = needs_mono


def test_the_shared_vectors() -> None:
    check_the_shared_vectors(ask)


@pytest.mark.parametrize("culture", ["", "tr-TR"])
def test_it_edits_as_the_sidecar_does(culture: str, full: bool) -> None:
    check_edits(functools.partial(ask, culture=culture), culture, 20_000 if full else 1_000)


def test_tags_in_all_their_forms() -> None:
    check_tags_in_all_their_forms(ask)


def test_it_edits_what_hypothesis_thinks_of_as_the_sidecar_does() -> None:
    check_what_hypothesis_thinks_of(ask)


@pytest.mark.parametrize("culture", ["", "tr-TR", "de-DE"])
def test_names_and_slots(culture: str) -> None:
    check_names_and_slots(functools.partial(ask, culture=culture))


def test_a_template_of_hostile_length_takes_linear_time() -> None:
    check_a_template_of_hostile_length(ask)


def test_what_is_nested_too_deeply_is_refused_and_does_no_harm() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    level = "[" * 99 + "]" * 99
    found = ask([{"op": "parse", "text": f'{{"a": {deep}}}'}, {"op": "parse", "text": level}])
    assert found[0] == {
        "fault": "line 1, column 105: the JSON is nested deeper than 99 levels", "line": 1, "column": 105
    }  # fmt: skip
    assert found[1] == level


def test_what_dropdowns_offer() -> None:
    check_what_dropdowns_offer(ask)
