"""Caches on the starter model: right through long talks, parking and restoring, and every wrong one is noticed."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bridge import protocol
from bridge.answer_text import AnswerRules
from bridge.catalog import CatalogEntry, read_catalog
from bridge.config import Settings
from bridge.engine import CacheState, GenerateRequest, GenerationResult, Sampling, Segment
from bridge.engines.backend import Slice
from bridge.engines.llama_context import Context
from bridge.engines.llama_library import lib
from bridge.engines.scheduler import Scheduler
from bridge.errors import InferenceFailed, ModelLoadFailed
from bridge.model_files import Report
from tests.fakes_engine import finished, running
from tests.live.judging import MOST_KL, Lent, Recording, Reply, Verdict, judge, judge_reply
from tests.live.memory import RESIDENTS
from tests.talk import Heard, Talk, talking, workflow

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

PLACES = ("harbour", "mill", "chapel", "market", "mine", "forge", "lighthouse", "orchard")
THINGS = ("ale", "salt", "rope", "silver", "wool", "honey", "iron", "maps")


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), 880))


def persona(name: str, tokens: int, count: Callable[[str], int]) -> str:
    """A system prompt of about so many tokens; no two names have the same."""
    text = f"{name} keeps a stall in the town and answers in one short sentence."
    number = 0
    while count(text) < tokens:
        place, thing = PLACES[(number + len(name)) % 8], THINGS[(number * 3 + ord(name[-1])) % 8]
        text += f" On day {number} {name} carried {thing} to the {place} and came home late."
        number += 1
    return text


def recording(path: Path, settings: Settings, context_size: int) -> Recording:
    made = Recording.load(path, settings=settings, context_size=context_size)
    assert isinstance(made, Recording)
    made.prepare()
    return made


class Engine:
    """The seam through which a store loads the starter model; keeps hold of what it loaded."""

    def __init__(self) -> None:
        self.backends: list[Recording] = []
        self.schedulers: list[Scheduler] = []

    def load(self, entry: CatalogEntry, path: Path | None, settings: Settings, report: Report) -> Scheduler:
        assert path is not None
        self.backends.append(recording(path, settings, entry.context_size))
        self.schedulers.append(
            Scheduler(
                self.backends[-1],
                prompt_chunk=settings.prompt_chunk,
                deterministic=settings.deterministic,
                park_bytes=settings.park_bytes,
            )
        )
        return self.schedulers[-1]

    def count(self, text: str) -> int:
        return len(self.schedulers[-1].vocabulary.tokenize([Segment(text)]))


@asynccontextmanager
async def starter(settings: Settings, context_size: int) -> AsyncIterator[tuple[Talk, Engine]]:
    engine = Engine()
    entry = read_catalog()["starter-chat"].model_copy(update={"context_size": context_size})
    async with talking(entry, settings=settings, load_engine=engine.load) as talk:
        await talk.client.request(protocol.LoadModel(model="starter-chat"), timeout=120)
        yield talk, engine


def usage_of(turn: Heard) -> dict[str, Any]:
    assert turn.complete.status == "Success", turn.complete.error
    found: dict[str, Any] = turn.debug["steps"][0]["usage"]
    return found


# ---- a long talk in a small window


@pytest.mark.thorough
def test_a_long_talk_trims_rarely_reads_only_what_is_new_and_its_cache_stays_right(
    starter_model: Path, full: bool
) -> None:
    turns, window, max_tokens = (60, 1024, 96) if full else (12, 320, 24)
    verdicts: list[Verdict] = []

    async def work() -> None:
        async with starter(Settings(), window) as (talk, engine):
            backend = engine.backends[0]
            node = {
                "name": "mira",
                "type": "Generate",
                "system_prompt": persona("Mira", 90, engine.count),
                "max_tokens": max_tokens,
                "sampling": {"seed": 11},
            }
            agent_id = await talk.agent(workflow(node, model="starter-chat"))
            before: Reply | None = None
            estimate = trims = grown = 0
            said = ""
            for number in range(turns):
                line = f"What did you bring from the {PLACES[number % 8]} on day {number}, and who bought it?"
                turn = await talk.say(agent_id, line)
                usage, budget = usage_of(turn), turn.debug["steps"][0]["budget"]
                reply = backend.replies[f"{agent_id}/mira"]
                assert usage["prompt_tokens"] == len(reply.prompt) <= budget["prompt_budget"]
                assert usage["evaluated_tokens"] == usage["prompt_tokens"] - usage["cached_tokens"]
                assert not usage["dropped"]
                growth = engine.count(line) + 8 + (engine.count(said) + 8 if said else 0)
                # By the arithmetic: nothing is dropped before the budget is passed, then down to three quarters.
                trimmed = budget["dropped_turns"] > 0
                assert trimmed == (before is not None and estimate + growth > budget["prompt_budget"])
                if trimmed:
                    trims += 1
                    assert budget["estimate"] * 4 <= budget["prompt_budget"] * 3
                elif before is not None:
                    grown += growth
                    assert budget["estimate"] == estimate + growth
                    # The last prompt is in this one whole, and all that was held of it is used.
                    old = len(before.prompt)
                    assert reply.prompt[:old] == before.prompt
                    assert usage["cached_tokens"] >= old
                    shown = common(reply.prompt, before.read)
                    assert usage["cached_tokens"] == min(shown, len(reply.prompt) - 1)
                    new = engine.count(f"\nGuest: {line}\nMira:")
                    assert usage["evaluated_tokens"] <= new + engine.count(said) - (shown - old) + 4
                estimate, said, before = budget["estimate"], turn.text("mira"), reply
                if full or trimmed or number % 4 == 3:
                    verdict = await judged(backend, f"{agent_id}/mira")
                    assert verdict.right, (number, verdict)
                    verdicts.append(verdict)
            assert 1 <= trims <= 1 + grown / (budget["prompt_budget"] / 4)

    run(work)
    mean_kl = sum(verdict.mean_kl * verdict.tokens for verdict in verdicts) / sum(v.tokens for v in verdicts)
    print(f"mean KL over {len(verdicts)} replies: {mean_kl:.5f}, worst {max(v.mean_kl for v in verdicts):.5f}")
    assert mean_kl <= MOST_KL


async def judged(backend: Recording, sequence: str) -> Verdict:
    """Judge beside the loop; also where the test is given up, the model stays until that is done."""
    judging = asyncio.ensure_future(asyncio.to_thread(judge_reply, backend, sequence, 128))
    try:
        return await asyncio.shield(judging)
    finally:
        await asyncio.wait([judging])


def common(prompt: Sequence[int], held: Sequence[int]) -> int:
    return next((i for i, (a, b) in enumerate(zip(prompt, held, strict=False)) if a != b), min(len(prompt), len(held)))


# ---- caches that are wrong


@pytest.fixture(scope="module")
def backend(starter_model: Path) -> Iterator[Recording]:
    made = recording(starter_model, Settings(resident_sequences=2), 1024)
    yield made
    made.close()


def main_context(backend: Recording) -> Context:
    assert backend._context is not None
    return backend._context


def read(backend: Recording, tokens: Sequence[int], start: int = 0, seq: int = 0) -> None:
    for at in range(0, len(tokens), 128):
        backend.decode([Slice(seq, start + at, tokens[at : at + 128], at + 128 >= len(tokens))])


def written(backend: Recording, prompt: Sequence[int], start: int, count: int = 8) -> Reply:
    """A greedy reply on the cache as it is, from position `start` on; the last decode read the prompt's end."""
    reply = Reply(tuple(prompt))
    for step in range(count):
        reply.seen.append(backend.logits(0))
        reply.tokens.append(int(reply.seen[-1].argmax()))
        if step + 1 < count:
            read(backend, reply.tokens[-1:], start + step)
    return reply


@pytest.fixture
def prompts(backend: Recording) -> Iterator[tuple[list[int], list[int]]]:
    """Two prompts of one length that differ all over, and an empty sequence 0."""
    vocabulary = backend.vocabulary

    def count(text: str) -> int:
        return len(vocabulary.tokenize([Segment(text)]))

    ends = "\nGuest: Good evening! What have you got for me today?\n"
    made = []
    for name in ("Mira", "Bram"):
        head = [2, *vocabulary.tokenize([Segment(persona(name, 330, count))])][:300]
        made.append([*head, *vocabulary.tokenize([Segment(f"{ends}{name}:")])])
    backend.clear(0)
    yield made[0], made[1]
    backend.clear(0)


@pytest.mark.thorough
def test_a_cache_as_it_should_be_is_found_right(backend: Recording, prompts: tuple[list[int], list[int]]) -> None:
    prompt, _ = prompts
    read(backend, prompt)
    reply = written(backend, prompt, len(prompt))
    assert judge(backend, reply.read, reply.seen, 128).right


@pytest.mark.thorough
def test_a_cache_that_was_shifted_along_is_noticed(backend: Recording, prompts: tuple[list[int], list[int]]) -> None:
    prompt, _ = prompts
    read(backend, prompt)
    memory = main_context(backend).memory
    assert lib.llama_memory_seq_rm(memory, 0, 20, 220)
    lib.llama_memory_seq_add(memory, 0, 220, -1, -200)
    last = len(prompt) - 201
    assert backend.cut(0, last) == last
    read(backend, prompt[-1:], last)
    reply = written(backend, prompt, last + 1)
    assert not judge(backend, reply.read, reply.seen, 128).right


@pytest.mark.thorough
def test_a_prefix_of_somebody_else_is_noticed(backend: Recording, prompts: tuple[list[int], list[int]]) -> None:
    prompt, other = prompts
    read(backend, [*other[:300], *prompt[300:]])
    reply = written(backend, prompt, len(prompt))
    assert not judge(backend, reply.read, reply.seen, 128).right


# ---- parking


async def reply_to(scheduler: Scheduler, name: str, prompt: Sequence[int], **more: Any) -> GenerationResult:
    request = GenerateRequest(
        name, tuple(prompt), more.pop("max_tokens", 8), 1024, Sampling(temperature=0), AnswerRules(), **more
    )
    return await finished(scheduler.generate(request))


def long_prompt(backend: Recording) -> list[int]:
    vocabulary = backend.vocabulary
    text = persona("Mira", 660, lambda text: len(vocabulary.tokenize([Segment(text)])))
    return [2, *vocabulary.tokenize([Segment(text)])][:620]


def goes_on(backend: Recording, prompt: Sequence[int], line: str = "And then?") -> list[int]:
    return [*prompt, *backend.vocabulary.tokenize([Segment(f"\nGuest: {line}\nMira:")])]


@pytest.mark.thorough
def test_a_parked_state_keeps_only_the_window_and_goes_on_as_if_it_had_stayed(backend: Recording) -> None:
    async def work() -> None:
        async with running(Lent(backend, prompt_chunk=128, park_bytes=2**30)) as scheduler:
            prompt = goes_on(backend, long_prompt(backend))
            first = await reply_to(scheduler, "a", prompt)
            resident = await scheduler.manage_cache("a", "Stats")
            parked = await scheduler.manage_cache("a", "Park")
            assert (resident.where, parked.where) == ("resident", "parked")
            assert resident.bytes > parked.bytes > 2**20
            assert scheduler.status().bytes_parked == parked.bytes
            again = goes_on(backend, [*prompt, *first.tokens])
            back = await reply_to(scheduler, "a", again)
            window = lib.llama_model_n_swa(backend._model)
            lowest = lib.llama_memory_seq_pos_min(main_context(backend).memory, 0)
            assert lowest == parked.tokens - window > 0
            assert (back.usage.cached_tokens, back.usage.dropped) == (parked.tokens, False)
            assert judge_reply(backend, "a", 128).right
            # Bit for bit: one that stayed sees the same.
            await reply_to(scheduler, "b", prompt)
            stayed = await reply_to(scheduler, "b", again, replay=len(again))
            assert stayed.tokens == back.tokens
            assert all((one == other).all() for one, other in zip(*seen(backend, "a", "b"), strict=True))

    run(work)


def seen(backend: Recording, *names: str) -> list[list[Any]]:
    return [backend.replies[name].seen for name in names]


@pytest.mark.thorough
def test_a_cut_inside_the_window_is_a_clean_reading_anew(backend: Recording) -> None:
    async def work() -> None:
        async with running(Lent(backend, prompt_chunk=128, park_bytes=2**30)) as scheduler:
            prompt = long_prompt(backend)
            await reply_to(scheduler, "a", prompt)
            await scheduler.manage_cache("a", "Park")
            changed = goes_on(backend, prompt[:300])
            back = await reply_to(scheduler, "a", changed)
            assert (back.usage.cached_tokens, back.usage.dropped) == (0, True)
            assert judge_reply(backend, "a", 128).right

    run(work)


@pytest.mark.thorough
def test_a_cut_inside_the_window_that_is_not_refused_is_noticed(
    backend: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with running(Lent(backend, prompt_chunk=128, park_bytes=2**30)) as scheduler:
            prompt = long_prompt(backend)
            await reply_to(scheduler, "a", prompt)
            await scheduler.manage_cache("a", "Park")
            monkeypatch.setattr(main_context(backend), "sound_cut", lambda seq, length: True)
            back = await reply_to(scheduler, "a", goes_on(backend, prompt[:300]))
            assert (back.usage.cached_tokens, back.usage.dropped) == (300, False)  # by all return values it went well
            assert not judge_reply(backend, "a", 128).right

    run(work)


@pytest.mark.thorough
def test_a_prompt_that_replays_less_is_parked_as_far_as_it_comes_back(backend: Recording) -> None:
    async def work() -> None:
        async with running(Lent(backend, prompt_chunk=128, park_bytes=2**30)) as scheduler:
            prompt = long_prompt(backend)
            await reply_to(scheduler, "a", goes_on(backend, prompt, "(whispering) And then?"), replay=len(prompt))
            assert (await scheduler.manage_cache("a", "Park")).tokens == len(prompt)
            back = await reply_to(scheduler, "a", goes_on(backend, prompt, "Well, and then?"))
            assert (back.usage.cached_tokens, back.usage.dropped) == (len(prompt), False)
            assert judge_reply(backend, "a", 128).right

    run(work)


@pytest.mark.thorough
def test_a_larger_window_keeps_what_was_read(starter_model: Path) -> None:
    made = recording(starter_model, Settings(resident_sequences=2), 256)

    async def work() -> None:
        async with running(Scheduler(made, prompt_chunk=128, park_bytes=2**30)) as scheduler:
            prompt = long_prompt(made)[:200]
            first = await reply_to(scheduler, "a", prompt)
            assert made.context_size == 1024  # the first request asked for it
            again = goes_on(made, [*prompt, *first.tokens])
            request = GenerateRequest("b", tuple(again), 4, 2048, Sampling(), AnswerRules())
            await finished(scheduler.generate(request))
            assert made.context_size == 2048
            back = await reply_to(scheduler, "a", again)
            assert (back.usage.cached_tokens, back.usage.dropped) == (len(prompt) + len(first.tokens) - 1, False)
            assert judge_reply(made, "a", 128).right

    run(work)


@pytest.mark.thorough
def test_a_model_that_lost_its_context_for_want_of_memory_gets_it_again(
    starter_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = recording(starter_model, Settings(resident_sequences=2), 1024)
    real, is_scarce = made._make, False

    def make(cells: int, sequences: int, kv_type: str) -> Context:
        if is_scarce:
            raise ModelLoadFailed("out of memory")
        return real(cells, sequences, kv_type)

    monkeypatch.setattr(made, "_make", make)

    async def work() -> None:
        nonlocal is_scarce
        async with running(Scheduler(made, prompt_chunk=128, park_bytes=2**30)) as scheduler:
            prompt = long_prompt(made)[:200]
            first = await reply_to(scheduler, "a", prompt)
            is_scarce = True
            with pytest.raises(InferenceFailed, match="no room for a context of 2048 tokens"):
                await finished(
                    scheduler.generate(GenerateRequest("b", tuple(prompt), 4, 2048, Sampling(), AnswerRules()))
                )
            with pytest.raises(InferenceFailed, match="no context of 2048 tokens can be made: out of memory"):
                await reply_to(scheduler, "b", prompt)
            is_scarce = False
            again = goes_on(made, [*prompt, *first.tokens])
            back = await reply_to(scheduler, "a", again)
            assert (back.usage.cached_tokens, back.usage.dropped) == (len(prompt) + len(first.tokens) - 1, False)
            assert judge_reply(made, "a", 128).right

    run(work)


# ---- many agents on few places


@pytest.mark.thorough
def test_agents_that_take_turns_read_their_persona_once_and_say_what_each_says_alone(
    starter_model: Path, full: bool
) -> None:
    agents, alone = (20, 20) if full else (6, 1)
    lines = ("Good evening! What is new?", "Who told you that?", "And what will you do about it?")
    ratios: list[float] = []

    async def say_alone(talk: Talk, node: dict[str, Any]) -> list[str]:
        agent_id = await talk.agent(workflow(node, model="starter-chat"))
        texts = [(await talk.say(agent_id, line)).text(node["name"]) for line in lines]
        await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
        return texts

    async def work() -> None:
        async with starter(Settings(resident_sequences=4, deterministic=True), 1024) as (talk, engine):
            backend, scheduler = engine.backends[0], engine.schedulers[0]
            nodes = [
                {
                    "name": f"friend{index}",
                    "type": "Generate",
                    "system_prompt": persona(f"Friend{index}", 600, engine.count),
                    "max_tokens": 12,
                    "sampling": {"seed": index + 1},
                }
                for index in range(agents)
            ]
            started = time.perf_counter()
            by_themselves = [await say_alone(talk, node) for node in nodes[:1]]
            reading_s = time.perf_counter() - started
            ids = [await talk.agent(workflow(node, model="starter-chat")) for node in nodes]
            texts: list[list[str]] = [[] for _ in nodes]
            personas = [engine.count(str(node["system_prompt"])) for node in nodes]
            for number, line in enumerate(lines):
                if number == 1:
                    backend.parking_s.clear()
                turns = await asyncio.gather(*(talk.say(agent_id, line) for agent_id in ids))
                for index, turn in enumerate(turns):
                    usage = usage_of(turn)
                    texts[index].append(turn.text(f"friend{index}"))
                    assert not usage["dropped"]
                    if number == 0:
                        assert usage["evaluated_tokens"] == usage["prompt_tokens"] > personas[index] >= 600
                    else:
                        assert usage["cached_tokens"] > personas[index]
                        assert usage["evaluated_tokens"] <= engine.count(f"\nGuest: {line}\nFriend00:") + 4
            status = scheduler.status()
            assert (status.residents, status.parked) == (4, agents - 4)
            assert len(backend.parking_s) >= 2 * 2 * (agents - 4)
            # One save and one restore, against one reading of a persona with three short replies in its time.
            ratios.append(2 * statistics.median(backend.parking_s) / reading_s)
            for agent_id in ids:
                await talk.client.request(protocol.DestroyAgent(agent_id=agent_id))
            assert (await scheduler.manage_cache("", "Stats")) == CacheState(0, 0, "none")
            status = scheduler.status()
            assert (status.residents, status.parked, status.bytes_parked) == (0, 0, 0)
            by_themselves += [await say_alone(talk, node) for node in nodes[1:alone]]
            assert by_themselves == texts[:alone]

    run(work)
    print(f"park and restore take {ratios[0]:.2%} of the time of reading the persona and three replies")
    assert ratios[0] < 0.1


# ---- memory


@pytest.mark.parametrize(
    ("model", "clear"), [("echo", True), pytest.param("starter-chat", False, marks=pytest.mark.thorough)]
)
def test_memory_stays_flat_and_nothing_is_left_behind(starter_model: Path, full: bool, model: str, clear: bool) -> None:
    """Dialogs are kept without limit, at some 3 KB a turn. That is more than 2 % of the little that a sidecar with the
    mock weighs, so there the dialogs are emptied and moments at which they are equally long are compared."""
    agents, turns = (10, 100) if full else (4, 15)
    command = [sys.executable, "-m", "tests.live.memory", model, str(agents), str(turns), str(clear)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    growth = found["rss"][-1] / found["rss"][0] - 1
    print(f"{model}: memory grew by {growth:.2%} from {found['rss'][0] / 2**20:.0f} MiB after a third of the turns")
    assert growth < 0.02
    assert found["where"] == ["parked"] * (agents - RESIDENTS) + ["resident"] * RESIDENTS
    assert (found["left"], found["bytes_left"]) == (0, 0)
