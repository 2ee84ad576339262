"""What the tests of both plugins' hearts ask: talks, broken connections, strange games and sidecars, ends in time."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.catalog import CatalogEntry
from bridge.curve import write_key_file
from bridge.transport import run_on_selector_loop
from tests.core_program import FRAME_MS, MODELS, ROOT, START_MS, STOP_MS, UNDER_LOAD, Json, Program, script
from tests.faults.proxy import FaultyProxy, make_schedule
from tests.impostors import puppet, session_ready
from tests.real_sidecar import STUCK, game, serving
from tests.talk import EMBED, scripted

TAVERN = ROOT / "samples" / "tavern"
TAVERN_LINES = ["Good evening. What is there to eat?", "And who is playing that lute?"]
READY = '#!/bin/sh\nsleep 0.4\necho \'{"event": "ready", "endpoint": "tcp://127.0.0.1:9"}\'\nexec sleep 30\n'


# ---- a sidecar that lives ------------------------------------------------------------------------------------


def tavern(models: Sequence[Any], program: Program) -> Json:
    workflow = json.loads((TAVERN / "tavern.workflow.json").read_text(encoding="utf-8"))
    settings = program.settings(models=models)
    storage = program.folder / "tavern"
    shutil.copytree(TAVERN, storage, ignore=shutil.ignore_patterns("*.index*"))
    return {**settings, "storage": str(storage), "workflows": {"tavern": workflow}, "lines": TAVERN_LINES}


def check_the_tavern_answers_with_several_speakers_in_one_turn(program: Program) -> None:
    mocks = [
        scripted("Sit down, love! There is stew.", name="starter-chat", tokens_per_s=200),
        EMBED.model_copy(update={"name": "starter-embed"}),
        CatalogEntry(name="starter-voice", type="tts", engine="mock"),
    ]
    found = program.run("tavern", tavern(mocks, program))
    for turn in found["turns"]:
        assert len(turn["speakers"]) >= 2, found
        assert turn["frames"] > 2, "nothing was streamed"
    assert found["longest_update_ms"] < FRAME_MS


def check_the_tavern_with_the_starter_model(program: Program) -> None:
    """Both starter models must be on this machine."""
    settings = tavern([], program)
    settings["arguments"] = settings["arguments"][:-2]  # the packaged catalog, and the models of this machine
    found = program.run("tavern", settings, timeout=170)
    for turn in found["turns"]:
        assert turn["speakers"] == ["mira", "bram", "narrator"]
        assert turn["frames"] > 2, "nothing was streamed"


# ---- a connection that breaks --------------------------------------------------------------------------------


def check_a_cut_connection_loses_nothing_and_doubles_nothing(program: Program, folder: Path) -> None:
    async def work(seed: int) -> Json:
        with serving(folder / f"log{seed}", *game(folder / "game", *MODELS)) as sidecar:
            async with FaultyProxy(sidecar.endpoint, make_schedule(seed, 3_000, 20_000)) as proxy:
                settings = {**program.settings(), "endpoint": proxy.endpoint, "token": sidecar.token, "turns": 6}
                running = asyncio.ensure_future(program.running("cut", settings))
                while not running.done():
                    await asyncio.wait({running}, timeout=0.4)
                    if len(proxy.links) < 4:
                        proxy.cut_all()
                return await running

    for seed in range(10):
        assert run_on_selector_loop(work(seed))["lost"] > 0


def check_another_sidecar_in_the_place_of_the_first_gets_the_agents(program: Program, folder: Path) -> None:
    async def work() -> Json:
        arguments = [*game(folder / "game", *MODELS), "--token", "the same"]
        with serving(folder / "first", *arguments) as first, serving(folder / "second", *arguments) as second:
            async with FaultyProxy(first.endpoint) as proxy:

                async def replace() -> None:
                    proxy._target = FaultyProxy(second.endpoint)._target
                    first.popen.kill()
                    proxy.cut_all()

                settings = {**program.settings(), "endpoint": proxy.endpoint, "token": "the same"}
                return await program.running("elsewhere", settings, replace)

    run_on_selector_loop(work())


def check_a_restart_while_the_connection_is_broken_loses_no_line(program: Program, folder: Path) -> None:
    async def work() -> None:
        with serving(folder / "log", *game(folder / "game", *MODELS)) as sidecar:
            async with FaultyProxy(sidecar.endpoint) as proxy:
                there = proxy._target

                async def away() -> None:
                    proxy._target = ("127.0.0.1", 1)
                    proxy.cut_all()
                    asyncio.get_running_loop().call_later(1.0, setattr, proxy, "_target", there)

                settings = {**program.settings(), "endpoint": proxy.endpoint, "token": sidecar.token}
                await program.running("reload_unsent", settings, away)

    run_on_selector_loop(work())


def check_a_restart_of_a_game_whose_sidecar_encrypts(program: Program) -> None:
    key = program.folder / "sidecar.key"
    write_key_file(key)
    settings = program.settings()
    program.run("reload", {**settings, "arguments": [*settings["arguments"], "--curve-key", str(key)]})


# ---- games and sidecars that do what they should not ---------------------------------------------------------


def check_time_in_which_the_game_stood_still_is_not_the_sidecars(program: Program) -> None:
    async def pause() -> None:
        os.kill(program.pids[-1], signal.SIGSTOP)
        await asyncio.sleep(1.6)
        os.kill(program.pids[-1], signal.SIGCONT)

    settings = {**program.settings(), "executable": str(script(program.folder / "parley", READY)), "arguments": []}
    asyncio.run(program.running("paused", settings, pause))


def check_a_dialog_of_thousands_of_turns(program: Program) -> None:
    found = program.run("long_dialog", count=20_000)
    print(found)
    assert found["longest_update_ms"] < FRAME_MS * UNDER_LOAD
    assert found["detach_ms"] < 1500.0 * UNDER_LOAD
    assert found["attach_ms"] < 1500.0 * UNDER_LOAD


def welcome(number: int) -> tuple[str, int, Json]:
    return "SessionReady", -1, session_ready(f"s{number}", f"k{number}")


def check_a_session_that_expires_under_a_handler_that_begins_anew(program: Program) -> None:
    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        # What was never ready to the game is not gone for it either: the game asks once it is ready. What was not
        # answered may be asked again in the next session.
        is_first = name == "ListModels" and number == 1
        return [("Goodbye", 0, {"reason": "expired"})] if is_first else [("Ok", -1, {})]

    with puppet(answer) as (endpoint, asked):
        program.run("expires", {**program.settings(), "endpoint": endpoint, "token": "t"})
    assert asked.count("Hello") == 2, asked


def check_a_session_that_ends_over_one_message_refuses_nothing_else(program: Program) -> None:
    """An agent that was being made meanwhile is made in the next session."""

    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        if name == "CreateAgent":
            return (
                [("AnswerText", 0, {"text": 5})]
                if number == 1
                else [("AgentCreated", -1, {"agent_id": "a", "warnings": []})]
            )
        return [("Ok", -1, {})]

    with puppet(answer) as (endpoint, asked):
        program.run("made_at_last", {**program.settings(), "endpoint": endpoint, "token": "t"})
    assert asked.count("CreateAgent") == 2


def check_what_a_destroyed_agent_was_asked_is_answered_though_the_session_ends(program: Program) -> None:
    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        if name == "CreateAgent":
            return [("AgentCreated", -1, {"agent_id": "a", "warnings": []})]
        if name == "SetVariables":
            return []
        is_first = name == "ListModels" and number == 1
        return [("Goodbye", 0, {"reason": "expired"})] if is_first else [("Ok", -1, {})]

    with puppet(answer) as (endpoint, _):
        program.run("left_closed", {**program.settings(), "endpoint": endpoint, "token": "t"})


def check_frames_of_turns_that_nobody_asked_for_end_no_line(program: Program) -> None:
    def text(turn: int, words: str) -> tuple[str, int, Json]:
        body = {"node_name": "n", "step": 1, "text": words, "is_delta": True, "is_final": False}
        return "AnswerText", 0, {"agent_id": "a", "turn_id": turn, **body}

    def end(turn: int) -> tuple[str, int, Json]:
        when = "2026-01-01T00:00:00.000Z"
        interaction = {"turn_id": turn, "user": "x", "outputs": [], "status": "Success", "time": when}
        counted = {"tokens_generated": 0, "finish": [], "dropped_turns": 0}
        body = {"status": "Success", **counted, "interaction": interaction}
        return "TurnComplete", 0, {"agent_id": "a", "turn_id": turn, **body}

    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        if name == "CreateAgent":
            return [("AgentCreated", -1, {"agent_id": "a", "warnings": []}), text(7, "wrong"), end(7)]
        if name == "SendMessage":
            started = ("TurnStarted", -1, {"agent_id": "a", "turn_id": 1})
            said = [started, text(1, "right"), text(9, "wrong"), end(1), end(1), text(1, "late")]
            return [text(9, "wrong"), end(9), *said]
        return [("Pong" if name == "Ping" else "Ok", -1, {})]

    with puppet(answer) as (endpoint, _):
        program.run("strangers", {**program.settings(), "endpoint": endpoint, "token": "t"})


def check_a_sidecar_that_says_anything_at_all(program: Program, full: bool) -> None:
    """What the messages say is made up; that they can be read is not, as a session ends over the first that cannot."""
    summary: Json = {"agent_id": "a", "turn_id": 1, "node_name": "n", "step": 1, "event": "summary_written"}
    empty: Json = {"version": 1, "interactions": [], "summary": None}
    things: list[tuple[str, Json]] = [
        ("Ok", {}),
        ("AgentCreated", {"agent_id": "a", "warnings": []}),
        ("AgentCreated", {"agent_id": "", "warnings": []}),
        ("Dialog", {"dialog": empty, "total": 10**12}),
        ("Dialog", {"dialog": empty, "total": -1}),
        ("Params", {"params": {"of": 1}, "baseline": {}}),
        ("Agents", {"agents": [{"agent_id": "a", "busy": False, "turns": 0}] * 3}),
        ("Error", {"code": 3001, "name": "InvalidAgentId", "message": "no"}),
        ("Error", {"code": 2001, "name": "ShuttingDown", "message": "no"}),
        ("Error", {"code": -5, "name": "", "message": ""}),
        ("TurnStarted", {"agent_id": "a", "turn_id": 1}),
        ("TurnStarted", {"agent_id": "", "turn_id": -1}),
        ("NodeEvent", {**summary, "data": {}}),
        ("NodeEvent", {**summary, "data": {"text": 5, "covers": "x"}}),
        ("NodeEvent", {**summary, "event": "tool_call", "data": {"call_id": 5, "arguments": []}}),
        ("NodeEvent", {**summary, "event": "a new one", "data": {}}),
        ("Warning", {"code": 0, "message": ""}),
        ("Progress", {"task": "", "done": -1, "total": 0, "unit": ""}),
    ]

    def answer(name: str, body: Json, number: int) -> Sequence[tuple[str, int, Json]]:
        if name == "Hello":
            return [welcome(number)]
        said = [dice.choice(things) for _ in range(dice.randrange(4))]
        kind, what = dice.choice(things) if name != "CreateAgent" or dice.random() < 0.3 else things[1]
        return [*((one, dice.choice([0, 3, 77]), of) for one, of in said), (kind, -1, what)]

    for seed in range(8 if full else 1):
        dice = random.Random(seed)
        with puppet(answer) as (endpoint, _):
            program.run("babble", {**program.settings(), "endpoint": endpoint, "token": "t"}, seconds=1.0)


# ---- starts and stops ----------------------------------------------------------------------------------------


def start_ms(folder: Path) -> float:
    """What a sidecar takes until it is ready, without a game."""
    begun = time.monotonic()
    with serving(folder / "log", *game(folder / "alone", *MODELS)):
        return 1000.0 * (time.monotonic() - begun)


def check_play_and_stop_again_and_again(program: Program, full: bool, more: int, **told: Any) -> None:
    """`more`: so many files and threads more than before there may be at the end, each."""
    found = program.run("cycles", cycles=10 if full else 3, timeout=170, **told)
    starts, stops = found["starts_ms"], found["stops_ms"]
    print(f"start: median {statistics.median(starts):.0f} ms, most {max(starts):.0f} ms")
    print(f"stop: median {statistics.median(stops):.0f} ms, most {max(stops):.0f} ms")
    limit = START_MS
    if statistics.median(starts) >= limit:
        # A machine that does other things: what a sidecar takes there by itself, and half of that for the game.
        limit = max(limit, 1.5 * max(start_ms(program.folder) for _ in range(3)))
    assert statistics.median(starts) < limit
    assert statistics.median(stops) < STOP_MS
    assert max(starts) < limit * UNDER_LOAD
    assert max(stops) < STOP_MS * UNDER_LOAD
    assert found["files_more"] <= more
    assert found["threads_more"] <= more


def check_quitting_while_it_starts_and_while_a_model_loads(program: Program) -> None:
    found = program.run("quitting", program.settings(command=STUCK))
    assert statistics.median(found["stops_ms"]) < STOP_MS
    assert max(found["stops_ms"]) < STOP_MS * UNDER_LOAD
