"""A reply under a grammar: waits until it begins to look like a call, and from there says which tokens may come."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bridge.answer_text import REASONING_BLOCKS
from bridge.engine import Grammar
from bridge.engines.gbnf import gbnf
from bridge.engines.llama_library import lib, listening
from bridge.engines.llama_sampling import Logits, Table
from bridge.engines.llama_vocabulary import LlamaVocabulary
from bridge.errors import InferenceFailed

_REASONED = tuple(closing.encode() for _, closing in REASONING_BLOCKS)

_FEW_BYTES = 16
_MANY_TOKENS = 1000


class LlamaConstraint:
    """The grammar of one reply. For one thread, like the sampler that asks it.

    llama.cpp's own lazy grammars search with regular expressions that recurse over the whole reply, which overruns
    small stacks, and end the process where the token that triggers them does not fit. So the beginning is found here.
    """

    __slots__ = ("_bytes", "_forbidden", "_fresh", "_grammar", "_heads", "_one", "_openings", "_sampler", "_start",
                 "_starting", "_tokens", "_vocabulary", "off")  # fmt: skip

    def __init__(self, grammar: Grammar, vocabulary: LlamaVocabulary) -> None:
        """Raises InferenceFailed for a grammar that llama.cpp refuses."""
        self.off = False
        """Nothing is ruled any more: the reply began in a way that the grammar has no rule for."""
        self._sampler: Any = None
        self._fresh: Any = None
        self._vocabulary = vocabulary
        self._grammar = grammar
        self._one = Table(1)
        self._forbidden: npt.NDArray[np.bool_] | None = None
        self._openings = [wrapping.opening.encode() for wrapping in grammar.wrappings if not wrapping.heads]
        self._heads = [(wrapping.opening + head).encode() for wrapping in grammar.wrappings for head in wrapping.heads]
        # What was said so far, and by token where in it the token ends.
        self._bytes = b""
        self._tokens: list[tuple[int, int]] = []
        self._start = 0
        self._starting = bool(self._heads)
        self._fresh = self._compile("")
        for token in grammar.begun:
            if not self.allows(token):
                raise InferenceFailed("the prompt begins the reply in a way that its grammar does not allow")
            self.accept(token)

    @property
    def holds(self) -> bool:
        """Whether the reply has begun to be ruled."""
        return self._sampler is not None

    def allows(self, token: int) -> bool:
        """Whether the token may come next. One that makes the grammar hold is ruled by it already."""
        if self.off:
            return True
        if self._sampler is None:
            piece = self._vocabulary.piece(token)
            begin = self._begins_with(piece)
            if begin is not None:
                self._hold(self._bytes + piece, begin)
            if self._sampler is None:
                return True
        self._one.ids[0] = token
        self._one.logits[0] = 0
        self._one.show(1)
        self.mask(self._one)
        return bool(self._one.logits[0] == 0)

    def mask(self, table: Table) -> None:
        """Set the logits of all tokens that may not come next to minus infinity. Only while the grammar holds."""
        lib.llama_sampler_apply(self._sampler, table.reference)
        if self._forbidden is None:
            self._forbidden = self._markers()
        count = table.array.size
        table.logits[:count][self._forbidden[table.ids[:count]]] = -np.inf

    def fill(self, table: Table, logits: Logits) -> int:
        """Lay out all tokens that may come next, and say how many they are. Only while the grammar holds.

        To ask llama.cpp about every token takes 50 ms for 262,144. So it is first asked which bytes may come next, and
        where they are few, as in a key, also which may follow those that begin many tokens, such as a space.
        """
        firsts, seconds, _ = self._vocabulary.leading_bytes
        possible = self._next_bytes(self._sampler, table)
        ids = np.flatnonzero(possible[firsts])
        few = np.flatnonzero(possible[:256])
        if len(few) <= _FEW_BYTES:
            for byte in few:
                begun = firsts[ids] == byte
                if np.count_nonzero(begun) > _MANY_TOKENS and (after := self._after(int(byte), table)) is not None:
                    ids = ids[~begun | after[seconds[ids]]]
        self._lay_out(table, ids, logits)
        self.mask(table)
        left = ids[table.logits[: len(ids)] > -np.inf]
        self._lay_out(table, left, logits)
        return len(left)

    def _next_bytes(self, sampler: Any, table: Table) -> npt.NDArray[np.bool_]:
        """Which bytes a token may begin with; those that no token consists of count as possible, as does an end."""
        singles = self._vocabulary.leading_bytes[2]
        known = np.flatnonzero(singles >= 0)
        table.ids[: len(known)] = singles[known]
        table.logits[: len(known)] = 0
        table.show(len(known))
        lib.llama_sampler_apply(sampler, table.reference)
        possible = np.ones(258, dtype=np.bool_)
        possible[known] = table.logits[: len(known)] == 0
        possible[256] = False
        return possible

    def _after(self, byte: int, table: Table) -> npt.NDArray[np.bool_] | None:
        """Which second bytes may follow this first one, none at all included; None where it cannot be told."""
        single = int(self._vocabulary.leading_bytes[2][byte])
        copy = lib.llama_sampler_clone(self._sampler) if single >= 0 else None
        if not copy:
            return None
        try:
            lib.llama_sampler_accept(copy, single)
            possible = self._next_bytes(copy, table)
        finally:
            lib.llama_sampler_free(copy)
        possible[256] = True
        return possible

    @staticmethod
    def _lay_out(table: Table, ids: npt.NDArray[np.intp], logits: Logits) -> None:
        table.ids[: len(ids)] = ids
        table.logits[: len(ids)] = logits[ids]
        table.show(len(ids))

    def accept(self, token: int) -> None:
        """The token comes next; `allows` was true of it, or `mask` left it."""
        if self.off:
            return
        if self._sampler is not None:
            lib.llama_sampler_accept(self._sampler, token)
            return
        piece = self._vocabulary.piece(token)
        if piece:
            self._bytes += piece
            self._tokens.append((token, len(self._bytes)))

    def _begins_with(self, piece: bytes) -> int | None:
        """Where the wrapping begins that this piece completes; None: none."""
        if not piece:
            return None
        known = len(self._bytes)
        text = self._bytes + piece
        for opening in self._openings:
            at = text.find(opening, max(known - len(opening) + 1, 0))
            if at >= 0:
                return at
        for closing in _REASONED if self._heads else ():
            at = text.find(closing, max(known - len(closing) + 1, 0))
            if at >= 0:  # the reply proper begins behind what was thought
                self._start = at + len(closing)
                self._starting = True
        if self._starting:
            said = text[self._start :].lstrip()
            if any(said.startswith(head) for head in self._heads):
                return len(text) - len(said)
            self._starting = any(head.startswith(said) for head in self._heads)
        return None

    def _hold(self, text: bytes, begin: int) -> None:
        """Let the grammar hold from this place in the text on; tokens that were taken already may begin before it."""
        start = max((end for _, end in self._tokens if end <= begin), default=0)
        try:
            before = text[start:begin].decode()
        except UnicodeDecodeError:
            self.off = True
            return
        self._sampler, self._fresh = (self._compile(before), self._fresh) if before else (self._fresh, None)
        for token, end in self._tokens:
            if end <= start:
                continue
            if not self.allows(token):
                self.off = True
                self._free()
                return
            lib.llama_sampler_accept(self._sampler, token)

    def _markers(self) -> npt.NDArray[np.bool_]:
        """By token: a control token that belongs to no wrapping. In a text llama.cpp would take it for letters."""
        own = [text for wrapping in self._grammar.wrappings for text in (wrapping.opening, wrapping.closing)]
        mask = np.zeros(self._vocabulary.size, dtype=np.bool_)
        for text, token in self._vocabulary.markers.items():
            mask[token] = not self._vocabulary.is_end(token) and not any(text in one for one in own)
        return mask

    def _compile(self, before: str) -> Any:
        with listening() as lines:
            made = lib.llama_sampler_init_grammar(
                self._vocabulary.handle, gbnf(self._grammar, before).encode(), b"root"
            )
        if not made:
            cause = lines[-1][1] if lines else "its rules are too many or too long"
            raise InferenceFailed(f"llama.cpp refuses the grammar of the tools: {cause}")
        return made

    def _free(self) -> None:
        for sampler in (self._sampler, self._fresh):
            if sampler:
                lib.llama_sampler_free(sampler)
        self._sampler = self._fresh = None

    def __del__(self) -> None:
        if lib is not None:  # the module may be gone when the process ends
            self._free()
