"""Projection: which messages a node's model reads."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bridge.prompt import SUMMARY_HEADING, PromptMessage, Spoken, View, project, spoken_reply, user_area
from bridge.protocol import Interaction, Output


def output(node: str, text: str, step: int = 1, role: str = "Assistant", name: str = "") -> Output:
    return Output.model_validate(
        {"step": step, "node_name": node, "slot": node, "text": text, "history_role": role, "history_name": name}
    )


def view(history: list[Interaction], line: str = "now", outputs: list[Output] | None = None) -> View:
    return View(
        node_name="mira",
        system_prompt="S",
        player_name="Player",
        history=history,
        user_message=line,
        outputs=outputs or [],
        area=user_area(
            input_text=line, user_message=line, rendering=None, placement="InPlaceOfUser", player_name="Player"
        ),
        first_turn=0,
    )


def said(messages: list[PromptMessage]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


def test_order_and_labels_do_not_depend_on_the_reader() -> None:
    history = [
        Interaction(turn_id=1, user="one", outputs=[output("mira", "a"), output("bram", "b", 2, name="Bram")]),
        Interaction(
            turn_id=2, user="", outputs=[output("mira", ""), output("n", "x", 2, role="None"), output("bram", "c", 3)]
        ),
    ]
    assert said(project(view(history))) == [
        ("system", "S"),
        ("user", "one"),
        ("assistant", "a"),
        ("assistant", "Bram: b"),
        ("assistant", "c"),
        ("user", "now"),
    ]


def test_a_summary_stands_under_a_heading_behind_the_system_prompt() -> None:
    assert said(project(replace(view([]), summary="They met.")))[0] == ("system", f"S\n\n{SUMMARY_HEADING}\nThey met.")
    assert said(project(replace(view([]), summary="They met.", system_prompt="")))[0][1].startswith(SUMMARY_HEADING)


def test_a_line_that_stands_twice_is_marked() -> None:
    messages = project(view([], outputs=[output("bram", "b")]))
    assert [message.repeats_player for message in messages] == [False, False, False, True]


def test_own_replies_carry_their_tokens() -> None:
    spoken = {(0, 1): Spoken((4, 5), "!")}
    history = [Interaction(turn_id=1, user="x", outputs=[output("mira", "ab!"), output("bram", "ab!", 1)])]
    own, other = [m.spoken for m in project(replace(view(history), spoken=spoken)) if m.role == "assistant"]
    assert own == Spoken((4, 5), "!")
    assert other is None


PIECES = {1: b" Yes", 2: b",", 3: b" sir", 4: b".\n", 5: b"Player", 6: "é".encode()[:1], 7: "é".encode()[1:]}


def test_spoken_tokens_end_where_the_text_does() -> None:
    assert spoken_reply([1, 2, 3], PIECES.__getitem__, "Yes, sir") == Spoken((1, 2, 3), "")
    assert spoken_reply([1, 2, 3, 4, 5], PIECES.__getitem__, "Yes, sir.") == Spoken((1, 2, 3), ".")
    assert spoken_reply([1, 6, 7], PIECES.__getitem__, "Yesé") == Spoken((1, 6, 7), "")
    assert spoken_reply([1, 2], PIECES.__getitem__, "Aye") is None
    assert spoken_reply([], PIECES.__getitem__, "") is None
    assert spoken_reply([1, 6], PIECES.__getitem__, "Yes") == Spoken((1,), "")


texts = st.text(alphabet="ab \n", max_size=6)
interactions = st.builds(
    lambda user, texts: Interaction(turn_id=1, user=user, outputs=[output("n", t, i + 1) for i, t in enumerate(texts)]),
    texts,
    st.lists(texts, max_size=3),
)


@given(st.lists(interactions, max_size=5), texts, st.lists(texts, max_size=2))
def test_nothing_is_lost_or_reordered(history: list[Interaction], line: str, earlier: list[str]) -> None:
    outputs = [output("bram", text, index + 1) for index, text in enumerate(earlier)]
    expected = ["S"]
    for turn in history:
        expected += [turn.user, *(item.text for item in turn.outputs)]
    if any(earlier):
        expected += [line, *earlier]
    expected.append(line)
    assert [m.text for m in project(view(history, line, outputs))] == [text for text in expected if text]
