"""Options and fixtures that all tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Their assertions shall say what they compared, as those of the tests do.
pytest.register_assert_rewrite(
    "tests.core_cases",
    "tests.core_program",
    "tests.impostor_cases",
    "tests.package_cases",
    "tests.process_cases",
    "tests.session_cases",
)

settings.register_profile("quick", max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("full", max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run every stated count instead of reduced ones")
    parser.addoption("--soak-minutes", type=float, default=None, help="how long each soak goes on")
    parser.addoption("--fault-seed", type=int, default=None, help="run the faults of this seed and no others")


def pytest_configure(config: pytest.Config) -> None:
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker and sys.platform == "linux":
        # Beside a busy neighbour a model that spins at barriers would crawl: each worker gets a core for itself, which
        # what it starts inherits.
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {allowed[int(worker.removeprefix("gw")) % len(allowed)]})
    settings.load_profile("full" if config.getoption("--full") else "quick")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    full = config.getoption("--full")
    for item in items:
        if not full and item.get_closest_marker("thorough"):
            item.add_marker(pytest.mark.skip(reason="takes long: only with --full"))
        if full and not item.get_closest_marker("timeout"):
            # The stated counts on one slow core: this is for what hangs.
            item.add_marker(pytest.mark.timeout(600))


@pytest.fixture(scope="session")
def full(pytestconfig: pytest.Config) -> bool:
    """Whether every stated count is run."""
    return bool(pytestconfig.getoption("--full"))


@pytest.fixture(scope="session")
def fault_seed(pytestconfig: pytest.Config) -> int | None:
    """The one seed of tests/faults to run, where one was asked for."""
    seed: int | None = pytestconfig.getoption("--fault-seed")
    return seed


@pytest.fixture(scope="session")
def soak_s(pytestconfig: pytest.Config, full: bool) -> float:
    """How many seconds a soak goes on."""
    minutes: float | None = pytestconfig.getoption("--soak-minutes")
    return 60 * minutes if minutes is not None else 60.0 if full else 2.0


@pytest.fixture(scope="session")
def starter_model() -> Path:
    """The starter chat model's file, put together in the user's cache where need be."""
    from bridge.catalog import read_catalog
    from bridge.config import Settings
    from bridge.model_files import locate

    return locate(read_catalog()["starter-chat"], Settings(), lambda *_: None)


@pytest.fixture(scope="session")
def starter_embed() -> Path:
    """The starter embedding model's file, converted into the user's cache where need be."""
    from bridge.catalog import read_catalog
    from bridge.config import Settings
    from bridge.model_files import locate

    return locate(read_catalog()["starter-embed"], Settings(), lambda *_: None)
