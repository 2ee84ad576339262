"""Sessions that are taken up again: what comes once more, what is done once, and who may."""

from __future__ import annotations

from bridge.protocol import Hello, ListAgents, Ping, SendMessage
from tests.test_outbox import text
from tests.test_server import RawClient, Serving, assert_error, over_the_wire, serving


def hello(key: str | None = None, last_seq: int | None = None, token: str = "the owner's token") -> Hello:
    return Hello(protocol=1, client="test", token=token, resume=key, last_seq=last_seq)


async def stranger(running: Serving) -> RawClient:
    """A socket that has said nothing yet."""
    client = RawClient(running.server.endpoint)
    running.clients.append(client)
    return client


@over_the_wire
async def test_a_session_is_taken_up_on_another_socket_from_where_it_was() -> None:
    async with serving() as running:
        first = await stranger(running)
        ready = await first.ask(hello())
        await first.send(SendMessage(agent_id="a", text="say 5"), 2)
        frames = await first.until("TurnComplete")
        assert [frame.seq for frame in frames] == [1, 2, 3, 4, 5, 6, 7]
        second = await stranger(running)
        again = await second.ask(hello(ready.body["session_key"], 4), 9)
        assert (again.type_name, again.seq, again.request_id) == ("SessionReady", 0, 9)
        assert again.body["resumed"] is True
        assert again.body["session_id"] == ready.body["session_id"]
        assert again.body["session_key"] == ready.body["session_key"]
        assert again.body["last_request_id"] == 2
        rest = await second.until("TurnComplete")
        assert [frame.seq for frame in rest] == [5, 6, 7]
        assert [frame.body for frame in rest] == [frame.body for frame in frames[4:]]
        replaced = await first.receive()
        assert (replaced.type_name, replaced.seq, replaced.body["reason"]) == ("Goodbye", 0, "replaced")
        assert running.server.session_count == 1
        assert_error(await first.ask(ListAgents(), 5), 2002, "SessionNotReady", "Hello", 5)


@over_the_wire
async def test_without_last_seq_all_that_is_unacknowledged_comes() -> None:
    async with serving() as running:
        first = await stranger(running)
        ready = await first.ask(hello())
        await first.send(SendMessage(agent_id="a", text="say 5"), 2)
        await first.until("TurnComplete")
        await first.ask(Ping(last_seq=3))
        second = await stranger(running)
        await second.ask(hello(ready.body["session_key"]))
        assert [frame.seq for frame in await second.until("TurnComplete")] == [4, 5, 6, 7]


@over_the_wire
async def test_a_turn_runs_on_while_nobody_listens() -> None:
    async with serving() as running:
        first = await stranger(running)
        ready = await first.ask(hello())
        await first.send(SendMessage(agent_id="a", text="say 50"), 2)
        first.close()
        running.clients.remove(first)
        second = await stranger(running)
        await second.ask(hello(ready.body["session_key"], 0))
        frames = await second.until("TurnComplete")
        assert [frame.seq for frame in frames] == list(range(1, 53))


@over_the_wire
async def test_a_repeated_request_is_answered_alike_and_done_once() -> None:
    async with serving() as running:
        client = await running.session()
        one = await client.ask(SendMessage(agent_id="a", text="say 1"), 2)
        await client.until("TurnComplete")
        two = await client.ask(SendMessage(agent_id="a", text="say 1"), 2)
        assert (two.type_name, two.body) == (one.type_name, one.body)
        assert two.seq == one.seq + 3
        # One that is still being done is answered when it is done, once.
        await client.send(SendMessage(agent_id="b", text="never"), 3)
        await client.send(SendMessage(agent_id="b", text="never"), 3)
        assert (await client.ask(ListAgents(), 4)).request_id == 4
        assert [type(request).__name__ for request in running.sessions[0].seen] == [
            "SendMessage", "SendMessage", "ListAgents",
        ]  # fmt: skip


@over_the_wire
async def test_a_refused_request_is_refused_alike() -> None:
    async with serving() as running:
        client = await running.session()
        one = await client.ask(SendMessage(agent_id="a", text="busy"), 7)
        two = await client.ask(SendMessage(agent_id="a", text="say 1"), 7)
        assert (one.body["code"], two.body["code"]) == (3004, 3004)
        assert len(running.sessions[0].seen) == 1


@over_the_wire
async def test_a_reply_that_is_not_kept_any_more_is_not_made_again() -> None:
    async with serving() as running:
        client = await running.session()
        for request_id in range(2, 1_100):
            await client.send(ListAgents(), request_id)
            await client.receive()
        assert_error(await client.ask(ListAgents(), 2), 5001, "MalformedMessage", "new request_id", 2)
        assert len(running.sessions[0].seen) == 1_098


@over_the_wire
async def test_who_may_take_a_session_up() -> None:
    async with serving() as running:
        owner = await stranger(running)
        key = (await owner.ask(hello())).body["session_key"]
        other = await stranger(running)
        assert_error(await other.ask(hello(key, token="wrong"), 1), 1001, "Unauthorized", "", 1)
        assert_error(await other.ask(hello("wrong"), 2), 1002, "SessionExpired", "", 2)
        assert_error(await other.ask(hello(""), 3), 1002, "SessionExpired", "", 3)
        assert (await owner.ask(ListAgents())).type_name == "Agents"
        assert running.server.session_count == 1


@over_the_wire
async def test_a_silent_session_is_detached_and_anything_brings_it_back() -> None:
    async with serving() as running:
        client = await running.session()
        await client.ask(SendMessage(agent_id="a", text="say 2"), 2)
        await client.until("TurnComplete")
        await running.pass_time(16)
        running.sessions[0].push(text("while it was away"), None)
        back = [await client.ask(ListAgents(), 3)]
        while back[-1].seq < 6:
            back.append(await client.receive())
        # All that it did not acknowledge comes again, in order; its numbers say what is new.
        assert [frame.seq for frame in back] == [1, 2, 3, 4, 5, 6]
        assert back[4].body["text"] == "while it was away"
        assert back[5].type_name == "Agents"


@over_the_wire
async def test_after_the_window_a_session_is_over() -> None:
    async with serving(resume_window_s=100) as running:
        client = await stranger(running)
        key = (await client.ask(hello())).body["session_key"]
        await running.pass_time(114)
        second = await stranger(running)
        assert (await second.ask(hello(key))).type_name == "SessionReady"
        await running.pass_time(116)
        assert (await second.until("Goodbye"))[-1].body["reason"] == "expired"
        assert running.server.session_count == 0
        third = await stranger(running)
        assert_error(await third.ask(hello(key), 4), 1002, "SessionExpired", "", 4)
