"""Connections that break, stall and come back in every way, by seed: nothing is lost, doubled or out of order."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

import bridge.client
from bridge.client import ParleyClient
from bridge.codec import Envelope
from bridge.config import Settings
from bridge.errors import ParleyError
from bridge.outbox import Outbox
from bridge.peer import Peer
from bridge.protocol import AnswerText, CreateAgent, Gap, Reply, Request, SendMessage, SessionReady, TurnComplete
from bridge.session import Answer
from bridge.transport import run_on_selector_loop
from tests.faults import scenario
from tests.faults.proxy import Fault, FaultyProxy, Schedule, make_schedule
from tests.faults.scenario import TOKEN, Outcome, Play, RecordingSession, Sidecar, sidecar, violations

QUICK_RUNS = 25
FULL_RUNS = 500
AT_ONCE = 8
RUN_S = 25.0
HOPELESS_S = 2.0
"""A run that must fail may do so by never ending."""

SETTINGS = Settings(
    heartbeat_s=0.1, detach_after_s=0.4, resume_window_s=60, max_sessions=5_000, resident_sequences=64, n_threads=1
)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that take a silent connection for a broken one soon."""
    monkeypatch.setattr(bridge.client, "SILENCE_S", 0.4)
    monkeypatch.setattr(bridge.client, "REJOIN_TIMEOUT_S", 0.4)


@dataclass(slots=True)
class Run:
    """One conversation through a proxy."""

    outcome: Outcome
    session: RecordingSession
    proxy: FaultyProxy
    links: list[str] = field(default_factory=list)
    fault: BaseException | None = None

    def wrong(self, reference: Outcome | None) -> list[str]:
        """What is wrong with it; empty: nothing."""
        if self.fault is not None:
            return [f"{type(self.fault).__name__}: {self.fault}"]
        # The conversation may be over before a connection that broke behind its last word is back.
        alternating = (["lost", "back"] * len(self.links))[: len(self.links)]
        off = [] if self.links == alternating else [f"on_link was called with {self.links}"]
        return off + violations(self.outcome, self.session, reference)


async def one_run(
    serving: Sidecar,
    schedule: Schedule,
    seconds: float = RUN_S,
    proxies: list[FaultyProxy] | None = None,
    back: asyncio.Event | None = None,
) -> Run:
    """The conversation under a schedule of faults. `proxies` gets its proxy, `back` is set at the first "back"."""
    outcome = Outcome()
    links: list[str] = []
    async with FaultyProxy(serving.endpoint, schedule) as proxy:
        if proxies is not None:
            proxies.append(proxy)

        def link(state: str) -> None:
            links.append(state)
            proxy.note(f"the client says: {state}")
            if state == "back" and back is not None:
                back.set()

        fault: BaseException | None = None
        try:
            await asyncio.wait_for(_play(proxy.endpoint, outcome, link), seconds)
        except (ParleyError, OSError, AssertionError, asyncio.TimeoutError) as found:
            fault = found
        session = serving.sessions.get(outcome.session_id)
        assert session is not None or fault is not None
        return Run(outcome, session or next(iter(serving.sessions.values())), proxy, links, fault)


async def _play(endpoint: str, outcome: Outcome, on_link: Callable[[str], None]) -> None:
    client = await ParleyClient.connect(
        endpoint, TOKEN, on_envelope=outcome.envelopes.append, reconnect_s=RUN_S, on_link=on_link
    )
    try:
        await Play(client, outcome).run()
    finally:
        await client.close()


async def reference_run(serving: Sidecar) -> Run:
    """The conversation through a proxy that does nothing."""
    run = await one_run(serving, ())
    assert run.wrong(None) == []
    assert run.links == []
    return run


def report(seed: int, run: Run, wrong: Sequence[str]) -> str:
    """All that helps to find the fault of one seed."""
    lines = "\n  ".join([*wrong[:8], "--", *run.proxy.log])
    return f"--fault-seed {seed}:\n  {lines}"


def test_nothing_is_lost(full: bool, fault_seed: int | None) -> None:
    seeds: Sequence[int] = range(FULL_RUNS if full else QUICK_RUNS) if fault_seed is None else [fault_seed]
    failed: list[str] = []
    struck: Counter[str] = Counter()
    resumed = 0

    async def main() -> None:
        nonlocal resumed
        async with sidecar(SETTINGS) as serving:
            reference = await reference_run(serving)
            sizes = reference.proxy.links[0].bytes
            places = asyncio.Semaphore(AT_ONCE)

            async def judged(seed: int) -> None:
                nonlocal resumed
                async with places:
                    run = await one_run(serving, make_schedule(seed, sizes["up"], sizes["down"]))
                struck.update(fault.kind for fault in run.proxy.struck)
                resumed += run.links.count("back")
                if wrong := run.wrong(reference.outcome):
                    failed.append(report(seed, run, wrong))

            await asyncio.gather(*map(judged, seeds))

    run_on_selector_loop(main())
    assert not failed, f"{len(failed)} of {len(seeds)} runs: \n" + "\n".join(failed)
    if fault_seed is None:
        # A schedule that never strikes would prove nothing.
        assert resumed >= len(seeds)
        assert {"cut", "refuse", "late", "black_hole", "delay", "stall", "throttle", "drop"} <= set(struck), struck


# ---- the checks do see what is wrong -------------------------------------------------------------------------


def _good_run() -> tuple[Run, Outcome]:
    runs: list[Run] = []

    async def main() -> None:
        async with sidecar(SETTINGS) as serving:
            runs.append(await reference_run(serving))
            runs.append(await one_run(serving, ()))

    run_on_selector_loop(main())
    return runs[1], runs[0].outcome


def _at(run: Run, kind: type[Any], number: int = 3) -> int:
    """Where in what came a message of this kind is."""
    places = [at for at, envelope in enumerate(run.outcome.envelopes) if isinstance(envelope.message, kind)]
    return places[number]


def _lose_a_frame(run: Run) -> None:
    del run.outcome.envelopes[_at(run, AnswerText)]


def _lose_a_frame_and_its_number(run: Run) -> None:
    at = _at(run, AnswerText)
    later = run.outcome.envelopes[at + 1 :]
    run.outcome.envelopes[at:] = [
        Envelope(envelope.message, envelope.request_id, envelope.seq - 1, envelope.payload) for envelope in later
    ]


def _double_a_frame(run: Run) -> None:
    at = _at(run, AnswerText)
    run.outcome.envelopes.insert(at, run.outcome.envelopes[at])


def _swap_two_frames(run: Run) -> None:
    at = _at(run, AnswerText)
    envelopes = run.outcome.envelopes
    envelopes[at], envelopes[at + 1] = envelopes[at + 1], envelopes[at]


def _answer_twice(run: Run) -> None:
    at = next(
        at
        for at, envelope in enumerate(run.outcome.envelopes)
        if isinstance(envelope.message, Reply) and not isinstance(envelope.message, SessionReady)
    )
    old = run.outcome.envelopes[at]
    last = run.outcome.envelopes[-1]
    run.outcome.envelopes.append(Envelope(old.message, old.request_id, last.seq + 1))


def _do_a_line_twice(run: Run) -> None:
    handled = run.session.handled
    handled.append(next(request for request in handled if isinstance(request, SendMessage)))


def _end_a_turn_twice(run: Run) -> None:
    complete = run.outcome.envelopes[_at(run, TurnComplete)]
    run.outcome.envelopes.append(Envelope(complete.message, 0, run.outcome.envelopes[-1].seq + 1))


def _leave_a_gap(run: Run) -> None:
    at = _at(run, AnswerText)
    seq = run.outcome.envelopes[at].seq
    run.outcome.envelopes[at] = Envelope(Gap(from_seq=seq, to_seq=seq), 0, seq)


def _miss_a_word(run: Run) -> None:
    _, heard = run.outcome.turns["b"][0]
    del heard.frames[1]


def _never_end(run: Run) -> None:
    _, heard = run.outcome.turns["b"][4]
    del heard.frames[-1]


def _forget_a_turn(run: Run) -> None:
    dialog = run.outcome.dialogs["a"]
    run.outcome.dialogs["a"] = dialog.model_copy(update={"interactions": dialog.interactions[1:]})


def _say_something_else(run: Run) -> None:
    for name, turns in run.outcome.turns.items():
        for _, heard in turns:
            last = heard.frames[-1]
            assert isinstance(last.message, TurnComplete) and last.message.interaction is not None
            other = last.message.interaction.model_copy(update={"intent": "another"})
            message = last.message.model_copy(update={"interaction": other})
            heard.frames[-1] = Envelope(message, 0, last.seq)
        dialog = run.outcome.dialogs[name]
        changed = [heard.complete.interaction for _, heard in turns]
        run.outcome.dialogs[name] = dialog.model_copy(update={"interactions": changed})


TAMPERINGS = (
    _lose_a_frame,
    _lose_a_frame_and_its_number,
    _double_a_frame,
    _swap_two_frames,
    _answer_twice,
    _do_a_line_twice,
    _end_a_turn_twice,
    _leave_a_gap,
    _miss_a_word,
    _never_end,
    _forget_a_turn,
    _say_something_else,
)


def test_the_checks_see_what_is_wrong() -> None:
    good, reference = _good_run()
    assert good.wrong(reference) == []
    unseen = []
    for tamper in TAMPERINGS:
        outcome = Outcome(
            list(good.outcome.envelopes),
            list(good.outcome.asked),
            copy.deepcopy(good.outcome.turns),
            good.outcome.agents,
            good.outcome.moods,
            dict(good.outcome.dialogs),
            good.outcome.session_id,
        )
        session = copy.copy(good.session)
        session.handled = list(good.session.handled)
        run = Run(outcome, session, good.proxy, good.links)
        tamper(run)
        if not run.wrong(reference):
            unseen.append(tamper.__name__)
    assert unseen == []


def _wrong_of(schedule: Schedule) -> list[str]:
    found: list[str] = []

    async def main() -> None:
        async with sidecar(SETTINGS) as serving:
            run = await one_run(serving, schedule, HOPELESS_S)
            assert len(run.proxy.struck) == sum(map(len, schedule))
            found.extend(run.wrong(None))

    run_on_selector_loop(main())
    return found


ONE_CUT = [[Fault("cut", "down", 9_000)]]
ONE_DROPPED = [[Fault("drop", "down", 10)]]


LATE_HELLO = [[Fault("cut", "down", 9_000)], [Fault("late", "up", 70)]]
"""The Hello of the second connection comes to the sidecar when the third has long taken the session up."""
BEFORE_THE_SESSION = [[Fault("cut", "down", 200)], [Fault("refuse", "up", 10, seconds=0.1)]]


@pytest.mark.parametrize(
    "schedule",
    [ONE_CUT, ONE_DROPPED, LATE_HELLO, BEFORE_THE_SESSION],
    ids=["cut", "dropped", "late hello", "before the session"],
)
def test_one_fault_by_itself_is_healed(schedule: Schedule) -> None:
    assert _wrong_of(schedule) == []


@pytest.mark.parametrize("schedule", [ONE_CUT, ONE_DROPPED], ids=["cut", "dropped"])
@pytest.mark.thorough
def test_a_sidecar_that_sends_nothing_again_is_found_out(schedule: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    attach = Outbox.attach

    def forget(self: Outbox, send: Any = None, last_seq: int | None = None) -> None:
        attach(self, send, self.seq if send is not None else last_seq)

    monkeypatch.setattr(Outbox, "attach", forget)
    assert _wrong_of(schedule)


@pytest.mark.thorough
def test_a_sidecar_that_skips_a_number_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    put = Outbox.put

    def skip(self: Outbox, message: Any, *, request_id: int = 0, payload: bytes | None = None) -> None:
        if self.seq == 20:
            self.seq += 1
        put(self, message, request_id=request_id, payload=payload)

    monkeypatch.setattr(Outbox, "put", skip)
    assert _wrong_of(())


@pytest.mark.parametrize("knows", [True, False], ids=["sound", "forgetful"])
def test_a_request_that_is_said_again_while_it_is_done(knows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sidecar that knows its requests again does it once; one that does not is found out."""
    proxies: list[FaultyProxy] = []
    back = asyncio.Event()
    runs: list[Run] = []

    class Breaking(RecordingSession):
        def handle(self, request: Request) -> Answer:
            answer = super().handle(request)
            if not isinstance(request, CreateAgent) or back.is_set():
                return answer
            assert isinstance(answer, Awaitable)
            proxies[0].cut_all()
            return self._answer_late(answer)

        async def _answer_late(self, answer: Awaitable[Reply]) -> Reply:
            reply = await answer
            await back.wait()
            return reply

    async def main() -> None:
        async with sidecar(SETTINGS) as serving:
            runs.append(await one_run(serving, (), RUN_S if knows else HOPELESS_S, proxies, back))

    monkeypatch.setattr(scenario, "RecordingSession", Breaking)
    if not knows:
        monkeypatch.setattr(Peer, "is_repeated", lambda *_: False)
    run_on_selector_loop(main())
    assert runs[0].links[:2] == ["lost", "back"]
    assert (runs[0].wrong(None) == []) is knows
    created = sum(isinstance(request, CreateAgent) for request in runs[0].session.handled)
    assert (created == 2) is knows
