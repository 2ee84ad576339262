"""What a voice says of a text: a table, and what holds for any text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.sentences import SentenceSplitter
from bridge.spoken import Spoken

SAID = [
    # nothing to say
    ("", ""),
    ("*", ""),
    ("**", ""),
    ("🙂", ""),
    ("🙂👨‍👩‍👧❤️ 🇫🇷", ""),
    ("...", ""),
    ("?!", ""),
    ("   \n", ""),
    ("***", ""),
    ("* * *", ""),
    ("---", ""),
    ("```", ""),
    ("```python\n", ""),
    (":-)", ""),
    ("<3", ""),
    ("\x00\ud800\ufffd\ue000\u200b", ""),
    ("\u0301", ""),
    ("|---|---|", ""),
    # plain words
    ("hhh", "hhh"),
    ("x", "x"),
    ("Welcome to the inn. ", "Welcome to the inn."),
    ("Two roads diverged,\nAnd I was sorry.\n", "Two roads diverged, And I was sorry."),
    ("Well... no… stay.", "Well... no… stay."),
    ("Wait — what?", "Wait — what?"),
    ("Wait -- what?", "Wait — what?"),
    ("Wait--what?", "Wait — what?"),
    ("A well-known (and old) inn; come in: sit!", "A well-known (and old) inn; come in: sit!"),
    # stage directions
    ("*wipes the bar.* What will it be?", "What will it be?"),
    ('"Ale!" *wipes the bar* **now**, 2*3=6', "Ale! now, 2×3=6"),
    ("*smiles*", ""),
    ("*smiles*.", ""),
    ("Well *sighs*, fine.", "Well, fine."),
    ("Well, *sighs*, fine.", "Well, fine."),
    ("*sighs*, fine.", "fine."),
    ("(*sighs*) Fine.", "Fine."),
    ("—*sighs*— Fine.", "— — Fine."),
    ("*nods* Yes. *smiles* Sit.", "Yes. Sit."),
    ("*nods and walks away", ""),
    ("Fine. *nods\nGo on.", "Fine. Go on."),
    ("*laughs **loudly** at you* Hello.", "Hello."),
    ("*He is **very*** Angry.", "Angry."),
    ("*counts 2*3 coins* Done.", "Done."),
    ("*nods *smiles* Hi.", "Hi."),
    ("你好*笑*今天下雨。", "你好 今天下雨。"),
    ("2*3 is six.", "2×3 is six."),
    ("2 * 3 * 4", "2 × 3 × 4"),
    ("A 5* inn.", "A 5 inn."),
    ("Oh sh*t.", "Oh sh t."),
    # markup
    ("**bold** and ***both***", "bold and both"),
    ("**b**old", "bold"),
    ("_really_ good", "really good"),
    ("__very__ good", "very good"),
    ("Use snake_case_names.", "Use snake case names."),
    ("~~gone~~ here", "gone here"),
    ("# The Inn\n", "The Inn"),
    ("> Quoted words", "Quoted words"),
    ("* Ale\n* Wine\n", "Ale Wine"),
    ("- Ale\n- *cold* Wine", "Ale Wine"),
    ("1. First\n", "1. First"),
    ("Type `exit` now.", "Type exit now."),
    ("```python\nrun fast\n```", "run fast"),
    ("See [the map](https://map.example/a_b.html).", "See the map."),
    ('See ![the map](a.png "A map").', "See the map."),
    ("See https://map.example/a.html now.", "See map.example/a.html now."),
    ("Write to me@inn.example.", "Write to me@inn.example."),
    ("<b>Stop</b> there<br/>now.", "Stop there now."),
    ('<span class="x">Stop</span>!', "Stop!"),
    ("<player> is here.", "player is here."),
    ("[He nods.] Yes.", "He nods. Yes."),
    # signs and emoji
    ("Great! 🙂 See you 👋🏽.", "Great! See you."),
    ("Nice (🙂) day.", "Nice day."),
    ("I ❤️ ale :) a lot ;-) XD", "I ale a lot"),
    ("1️⃣ First", "1 First"),
    ("♪ La la ♪", "La la"),
    ("It costs $4.50, £3, €1.000 or 5%.", "It costs $4.50, £3, €1.000 or 5%."),
    ("It is -5 °C, +3 more.", "It is -5 °C, +3 more."),
    ("5 < 6 and 7>2", "5 < 6 and 7>2"),
    ("Rope & Co. and/or me.", "Rope & Co. and/or me."),
    ("Room #5, #tavern.", "Room #5, tavern."),
    ("At 10:30, v2.0, No. 5, .5 wide.", "At 10:30, v2.0, No. 5, .5 wide."),
    ("½ cup, 5² and № 7", "½ cup, 5² and № 7"),
    # quotes
    ('"Stop!" he said.', "Stop! he said."),
    ("“Stop,” she said. ‘Go’ now.", "Stop, she said. Go now."),
    ("Don’t. It's the dogs' bone.", "Don't. It's the dogs' bone."),
    ("'Tis late, runnin' fast.", "Tis late, runnin fast."),
    ("« Arrête ! » dit-il.", "Arrête! dit-il."),
    ("„Halt!“ rief er.", "Halt! rief er."),
    ("「行こう。」と言った。", "行こう。 と言った。"),
    ("He is 5'10\" tall.", "He is 5'10 tall."),
    # scripts
    ("Cafe\u0301 naïve Ångström", "Café naïve Ångström"),
    ("你好。今天下雨！", "你好。今天下雨！"),
    ("كيف حالك؟", "كيف حالك؟"),
    ("مَرْحَبًا", "مَرْحَبًا"),
    ("שָׁלוֹם \u200fעולם", "שָׁלוֹם עולם"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("नमस्ते। क्या", "नमस्ते। क्या"),
    ("안녕하세요. ไทยดี", "안녕하세요. ไทยดี"),
    ("𝓗𝓮𝓵𝓵𝓸 ａｂｃ", "Hello abc"),
    ("so\u00adft", "soft"),
]

ACTED = [
    ("*wipes the bar.* What will it be?", "wipes the bar. What will it be?"),
    ("*smiles*", "smiles"),
    ("Well *sighs*, fine.", "Well sighs, fine."),
    ("*laughs **loudly** at you* Hello.", "laughs loudly at you Hello."),
    ("*nods\nGo on.", "nods Go on."),
    ("2*3 is six. *counts 2*3 coins*", "2×3 is six. counts 2×3 coins"),
    ("* Ale\n* Wine", "Ale Wine"),
    ("*", ""),
]

ACROSS = [
    ("*He nods. He smiles.* Welcome to the inn.", "Welcome to the inn."),
    ("Hello. *He nods. He smiles broadly.* Welcome.", "Hello. Welcome."),
    ("*He nods. **Twice.** He smiles.* Welcome.", "Welcome."),
    ("*He nods. He goes.\nWelcome. Sit.", "Welcome. Sit."),
    ("你好。*他笑。他走。*再见。", "你好。 再见。"),
    ("She said *so. Then* what? 2*3. Six.", "She said what? 2×3. Six."),
    ("**One. Two.** Three.", "One. Two. Three."),
]


@pytest.mark.parametrize(("text", "said"), SAID)
def test_what_is_said(text: str, said: str) -> None:
    assert Spoken(speak_actions=False).of(text) == said


@pytest.mark.parametrize(("text", "said"), ACTED)
def test_what_is_said_with_its_directions(text: str, said: str) -> None:
    assert Spoken(speak_actions=True).of(text) == said


@pytest.mark.parametrize(("text", "said"), ACROSS)
def test_a_direction_goes_on_over_sentences(text: str, said: str) -> None:
    splitter, spoken = SentenceSplitter(), Spoken(speak_actions=False)
    sentences = splitter.feed(text) + splitter.finish()
    assert len(sentences) > 1
    assert " ".join(filter(None, map(spoken.of, sentences))).split() == said.split()
    assert Spoken(speak_actions=False).of(text).split() == said.split()


def test_a_star_within_a_word_that_was_cut_begins_no_direction() -> None:
    spoken = Spoken(speak_actions=False)
    assert [spoken.of("foot"), spoken.of("*note here")] == ["foot", "note here"]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


@given(st.lists(st.sampled_from(["ale ", "Wine. ", "No! ", "so, ", "3.5 ", "Mr. ", "\n", "你好。", "é ", "- "])))
def test_without_markup_every_word_is_said_once_and_in_order(pieces: list[str]) -> None:
    text = "".join(pieces)
    splitter, spoken = SentenceSplitter(12), Spoken(speak_actions=False)
    said = " ".join(spoken.of(sentence) for sentence in splitter.feed(text) + splitter.finish())
    assert words(said) == words(text)


@given(st.text(st.sampled_from(list("ab1 \n*_~.!,()\"'<>[]#-:🙂你。é\u0301\u200d\ud800"))) | st.text())
def test_any_text_gives_one_line_of_words_or_nothing(text: str) -> None:
    for speak_actions in (False, True):
        said = Spoken(speak_actions=speak_actions).of(text)
        assert said == " ".join(said.split())
        assert not said or any(char.isalnum() for char in said)
        assert not set(said) & set("_`\\{}[]🙂\ud800\x00\n")


def test_a_long_text_is_said_whole() -> None:
    assert Spoken(speak_actions=False).of("x" * 5000) == "x" * 5000
