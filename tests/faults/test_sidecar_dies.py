"""Sidecars that are killed or stand still at any moment: characters keep their dialogs and answer again."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

import bridge.client
import bridge.companion
from bridge.client import ParleyClient
from bridge.client_link import Link
from bridge.codec import Envelope
from bridge.companion import Character, Companion
from bridge.errors import ShuttingDown
from bridge.launch import Sidecar
from bridge.protocol import AnswerText, Gap, Interaction, ListAgents, TurnComplete
from bridge.transport import run_on_selector_loop
from tests.faults.scenario import MODELS, conversation
from tests.sidecar import environment

PATIENCE_S = 40.0
LOOK_EVERY_S = 0.01
QUICK_KILLS = 6
FULL_KILLS = 100
KILLS_OF_ONE = 3
"""Deaths that one companion lives through."""
QUICK_STOPS = 2
FULL_STOPS = 20


def sidecar_environment(folder: Path) -> dict[str, str]:
    """Mock characters, and a quick heart."""
    catalog = folder / "models.json"
    models = [entry.model_dump(mode="json", exclude_defaults=True) for entry in MODELS]
    catalog.write_text(json.dumps({"models": models}), encoding="utf-8")
    return environment(PARLEY_CATALOG=str(catalog), PARLEY_HEARTBEAT_S="0.1", PARLEY_LOG_LEVEL="warning")


async def until(condition: Callable[[], bool], what: str) -> None:
    """Waits for a state that nobody tells of."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"still not so: {what}"
        await asyncio.sleep(LOOK_EVERY_S)


def is_gone(pid: int) -> bool:
    """Whether there is no such process, or only what is left of it until somebody asks for its exit code."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# ---- killed --------------------------------------------------------------------------------------------------


class Story:
    """One companion with two characters that lives through several deaths of its sidecar."""

    def __init__(self, seed: int, folder: Path, deaths: int) -> None:
        self.pids: list[int] = []
        self._dice = random.Random(seed)
        self._environment = sidecar_environment(folder)
        self._deaths = deaths
        self._kill_in = -1
        self._expected: dict[str, list[Interaction]] = {"innkeeper": [], "guard": []}
        self._characters: dict[str, Character] = {}
        self._lines = 0
        self._killed = 0
        self._companion: Companion | None = None

    async def run(self) -> None:
        """All of it; raises AssertionError where something was lost."""
        async with Companion(
            environment=self._environment, on_envelope=self._count, on_stderr=lambda _: None
        ) as companion:
            self._companion = companion
            for name in self._expected:
                self._characters[name] = await companion.create_agent(conversation(name))
            for _ in range(self._deaths):
                await self._one_death()
        for pid in self.pids:
            assert is_gone(pid), f"the sidecar {pid} outlived its companion"

    def _pid(self) -> int:
        """The sidecar that runs now; 0: none is ready."""
        assert self._companion is not None
        return self._companion._sidecar.pid if self._companion._sidecar is not None else 0

    async def _one_death(self) -> None:
        pid = self._pid()
        self.pids.append(pid)
        # At a message of the two turns, or after them.
        self._kill_in = self._dice.randint(1, 60)
        await self._both_speak()
        if self._kill_in > 0:
            self._kill()
        if self._dice.random() < 0.2:
            # The next one dies too, while it is given its characters.
            await until(lambda: self._pid() not in (0, pid), "the next one is there")
            self.pids.append(self._pid())
            self._kill()
        companion, killed = self._companion, self._killed
        await until(lambda: companion is not None and companion.restarts == killed, "it is started again")
        await self._compare(f"after death {killed}")
        assert is_gone(pid), f"the sidecar {pid} was left behind"
        for name in self._characters:
            complete = await self._speaks(name)
            assert complete.status == "Success", f"{name} does not answer: {complete.error}"
        await self._compare(f"after the answers after death {killed}")

    async def _both_speak(self) -> None:
        completes = await asyncio.gather(*map(self._speaks, self._characters))
        for complete in completes:
            if complete.status == "Success":
                continue
            # What a sidecar did not live to end is told of as such.
            assert complete.status == "Error" and complete.error is not None
            assert (complete.error.code, complete.error.name) == (ShuttingDown.code, "ShuttingDown")
            assert self._kill_in <= 0

    async def _speaks(self, name: str) -> TurnComplete:
        self._lines += 1
        line = f"line {self._lines}"
        frames = [envelope.message async for envelope in self._characters[name].turn(line)]
        ends = [message for message in frames if isinstance(message, TurnComplete)]
        assert ends == frames[-1:], f"{name}: {len(ends)} ends"
        (complete,) = ends
        heard: dict[int, str] = {}
        for message in frames:
            if isinstance(message, AnswerText):
                heard[message.step] = heard.get(message.step, "") + message.text
        said = {step: text for step, text in heard.items() if text}
        if complete.interaction is None:
            assert not said and complete.status == "Error", f"{name}: what was heard of {line!r} is not recorded"
        else:
            assert complete.interaction.user == line
            assert {output.step: output.text for output in complete.interaction.outputs} == said
            assert complete.interaction.status == complete.status
            self._expected[name].append(complete.interaction)
        return complete

    async def _compare(self, when: str) -> None:
        for name, character in self._characters.items():
            assert character.interactions == self._expected[name], f"{name}'s mirror {when}"
            exported = await character.export_dialog()
            assert exported.interactions == self._expected[name], f"{name}'s dialog {when}"

    def _count(self, envelope: Envelope) -> None:
        if self._kill_in > 0:
            self._kill_in -= 1
            if self._kill_in == 0:
                self._kill()

    def _kill(self) -> None:
        self._kill_in = 0
        self._killed += 1
        psutil.Process(self.pids[-1]).kill()


def test_no_turn_is_lost_with_a_sidecar(
    tmp_path: Path, full: bool, fault_seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge.companion, "MAX_RESTARTS", 1_000)
    stories = (FULL_KILLS if full else QUICK_KILLS) // KILLS_OF_ONE
    failed: list[str] = []

    async def main() -> None:
        places = asyncio.Semaphore(2)

        async def one(seed: int) -> None:
            folder = tmp_path / str(seed)
            folder.mkdir()
            async with places:
                try:
                    await asyncio.wait_for(Story(seed, folder, KILLS_OF_ONE).run(), PATIENCE_S)
                except (AssertionError, asyncio.TimeoutError, OSError) as fault:
                    failed.append(f"--fault-seed {seed}: {type(fault).__name__}: {fault}")

        await asyncio.gather(*map(one, range(stories) if fault_seed is None else [fault_seed]))

    run_on_selector_loop(main())
    assert not failed, "\n".join(failed)


# ---- stopped -------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_sidecar_that_stands_still_loses_nothing(
    tmp_path: Path, full: bool, fault_seed: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bridge.client, "SILENCE_S", 0.4)
    monkeypatch.setattr(bridge.client, "REJOIN_TIMEOUT_S", 0.3)
    tries: list[ParleyClient] = []
    new_link = ParleyClient._new_link

    def count(self: ParleyClient) -> Link:
        tries.append(self)
        return new_link(self)

    monkeypatch.setattr(ParleyClient, "_new_link", count)

    async def stopped(sidecar: Sidecar, seed: int) -> None:
        dice = random.Random(seed)
        envelopes: list[Envelope] = []
        links: list[str] = []
        process = psutil.Process(sidecar.pid)
        client = await ParleyClient.connect(
            sidecar.endpoint, sidecar.token, on_envelope=envelopes.append, on_link=links.append
        )
        async with client:
            agent = (await client.create_agent(conversation("innkeeper"))).agent_id
            moment, patience = dice.randint(1, 25), dice.randint(1, 4)
            lines = [f"line {number}" for number in range(3)]
            said: list[Interaction] = []
            for line in lines:
                async for envelope in client.turn(agent, line):
                    if len(envelopes) >= moment and not links:
                        process.suspend()
                        before = len(tries)
                        try:
                            # Each try leaves a Hello behind that the sidecar reads once it goes on.
                            await until(lambda before=before: len(tries) >= before + patience, "it is noticed")  # type: ignore[misc]
                        finally:
                            process.resume()
                    if isinstance(envelope.message, TurnComplete):
                        assert envelope.message.status == "Success" and envelope.message.interaction is not None
                        said.append(envelope.message.interaction)
            assert [interaction.user for interaction in said] == lines
            await client.request(ListAgents())
            assert links[:2] == ["lost", "back"], f"--fault-seed {seed}: {links}"
        numbers = [envelope.seq for envelope in envelopes if envelope.seq]
        assert numbers == list(range(1, len(numbers) + 1)), f"--fault-seed {seed}"
        assert not any(isinstance(envelope.message, Gap) for envelope in envelopes)

    async def main() -> None:
        async with Sidecar(environment=sidecar_environment(tmp_path), on_stderr=lambda _: None) as sidecar:
            count = FULL_STOPS if full else QUICK_STOPS
            for seed in range(count) if fault_seed is None else [fault_seed]:
                await asyncio.wait_for(stopped(sidecar, seed), PATIENCE_S)

    run_on_selector_loop(main())
