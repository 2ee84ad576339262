"""That what the C# editors find wrong by themselves is wrong for the sidecar too, and how findings are grouped."""

from __future__ import annotations

from tests.csharp_authoring import ask
from tests.csharp_build import needs_mono
from tests.findings_cases import (
    check_a_sound_workflow_has_none,
    check_errors_are_errors_for_the_sidecar,
    check_the_rules_know_the_packaged_types,
    check_the_sidecars_are_grouped_by_node_and_field,
    check_what_they_say,
)

pytestmark = needs_mono


def test_what_is_an_error_at_once_is_one_for_the_sidecar(full: bool) -> None:
    check_errors_are_errors_for_the_sidecar(ask, 3_000 if full else 600)


def test_a_sound_workflow_has_no_quick_findings() -> None:
    check_a_sound_workflow_has_none(ask)


def test_what_quick_findings_say() -> None:
    check_what_they_say(ask)


def test_the_sidecars_findings_are_grouped_by_node_and_field() -> None:
    check_the_sidecars_are_grouped_by_node_and_field(ask)


def test_the_rules_know_the_packaged_types() -> None:
    check_the_rules_know_the_packaged_types(ask)
