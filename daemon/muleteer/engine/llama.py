"""The native library: load a model, evaluate tokens, fork and remove sequences, tokens and their bytes.

The only importer of llama_cpp. Knows nothing of prompts, prefixes or grammars: callers say which token goes
to which position of which sequences.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # a crash must end the process now, not after gdb has run

import llama_cpp
import numpy as np
from llguidance import LLTokenizer
from llguidance.llamacpp import lltokenizer_from_vocab
from numpy.typing import NDArray

from muleteer.engine import memory
from muleteer.engine.protocol import LoadSettings
from muleteer.errors import EngineError, ModelError

Logits = NDArray[np.float32]
Pointer = Any  # native handles: llama_cpp has no types for them

PIECE_BYTES = 512  # the longest token text of any known vocabulary is 256 bytes
TEXT_BYTES = 1 << 20  # a metadata value; chat templates are up to about 20 kB
ERROR_LEVEL = 4  # GGML_LOG_LEVEL_ERROR in ggml.h
ERROR_LINES = 8  # of llama.cpp's log, kept for the sentence about a failure

_errors: collections.deque[str] = collections.deque(maxlen=ERROR_LINES)


@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator]  # a ctypes function type
def _listen(level: int, text: bytes, _data: object) -> None:
    """Keep error lines for the next refusal; everything else llama.cpp says is dropped."""
    line = text.decode(errors="replace").strip()
    if level == ERROR_LEVEL and line:
        _errors.append(line)


llama_cpp.llama_log_set(_listen, None)
llama_cpp.llama_backend_init()


class NoRoomError(Exception):
    """llama.cpp found no free cells for a batch; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One token of a batch: its position, the sequence it extends, and whether its logits are wanted."""

    token: int
    position: int
    sequence: int
    logits: bool


def build() -> str:
    """The version and the CPU features of the native library, as one line."""
    text: bytes = llama_cpp.llama_print_system_info()
    pairs = [part.rpartition(":")[2].split("=") for part in text.decode().split("|")]
    features = " ".join(pair[0].strip() for pair in pairs if pair[-1].strip() == "1")
    return f"llama-cpp-python {llama_cpp.__version__} {features}"


class Llama:
    """One model in one context with a unified cache. `evaluated` counts the tokens llama_decode took."""

    def __init__(self, path: Path, settings: LoadSettings) -> None:
        """Load. Raises `ModelError` for a file that cannot be used or does not fit in memory."""
        size = memory.check_file(path)
        self._close = contextlib.ExitStack()
        with contextlib.ExitStack() as undo:
            peek = _load(path, vocab_only=True, extra_buffers=False)
            undo.callback(llama_cpp.llama_model_free, peek)
            self.metadata = _metadata(peek)
        trained = int(self.metadata.get(f"{self.metadata.get('general.architecture')}.context_length", "0"))
        self.context = min(settings.context, trained) if trained else settings.context
        self.need = memory.needed(self.metadata, size, settings)
        memory.check_memory(self.need, path, self.context)
        self.threads = settings.threads or memory.physical_cores()
        self.extra_buffers = settings.extra_buffers and "AMX" not in build()
        self.batch, self.sequences = settings.batch, settings.sequences
        self.trained_context, self.evaluated = trained, 0
        self._pieces: dict[int, bytes] = {}
        with contextlib.ExitStack() as undo:
            self._model = _load(path, vocab_only=False, extra_buffers=self.extra_buffers)
            undo.callback(llama_cpp.llama_model_free, self._model)
            self._context = _context(self._model, self.context, settings, self.threads)
            undo.callback(llama_cpp.llama_free, self._context)
            self._batch = llama_cpp.llama_batch_init(settings.batch, 0, 1)
            undo.callback(llama_cpp.llama_batch_free, self._batch)
            self._close = undo.pop_all()
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self.vocabulary: int = llama_cpp.llama_vocab_n_tokens(self._vocab)
        self._row = ctypes.c_float * self.vocabulary

    def close(self) -> None:
        """Free everything native; safe to call twice."""
        self._close.close()

    def set_threads(self, number: int) -> None:
        """Evaluate with so many threads, at least 1, from the next batch on."""
        self.threads = number
        llama_cpp.llama_set_n_threads(self._context, number, number)

    # Sequences.

    @property
    def partial_reuse(self) -> bool:
        """Whether a sequence can be cut in the middle: not in recurrent and hybrid models, nor where tokens
        that a sliding window has left behind give their cells to others."""
        model = self._model
        if llama_cpp.llama_model_is_recurrent(model) or llama_cpp.llama_model_is_hybrid(model):
            return False
        window: int = llama_cpp.llama_model_n_swa(model)
        return not 0 < window < self.context

    def evaluate(self, rows: Sequence[Row]) -> None:
        """Evaluate up to `batch` tokens. Raises `NoRoomError` (nothing changed) or `EngineError` (the
        sequences of these rows are in an unknown state and must be removed)."""
        batch = self._batch
        batch.n_tokens = len(rows)
        for i, row in enumerate(rows):
            batch.token[i], batch.pos[i], batch.logits[i] = row.token, row.position, row.logits
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, row.sequence
        code = llama_cpp.llama_decode(self._context, batch)
        if code == 1:
            raise NoRoomError
        if code:
            raise EngineError(f"llama.cpp could not decode a batch (code {code}{_last_error()}); try again.")
        self.evaluated += len(rows)

    def logits(self, row: int) -> Logits:
        """Logits after a row that wanted them: a view, `(vocabulary,)`, valid until the next evaluation."""
        pointer = llama_cpp.llama_get_logits_ith(self._context, row)
        return np.frombuffer(self._row.from_address(ctypes.addressof(pointer.contents)), np.float32)

    def copy(self, source: int, target: int, length: int) -> None:
        """Let `target` (empty) share the first `length` tokens of `source`."""
        end = length if self.partial_reuse else -1
        llama_cpp.llama_memory_seq_cp(self._memory, source, target, 0 if end >= 0 else -1, end)

    def remove(self, sequence: int, start: int = 0) -> None:
        """Forget a sequence's tokens from position `start` on."""
        llama_cpp.llama_memory_seq_rm(self._memory, sequence, start if start else -1, -1)

    def state(self, sequence: int) -> bytes:
        """Everything the context holds of a sequence, for `restore`: on the 1.5B model 28 kB a token."""
        size = llama_cpp.llama_state_seq_get_size(self._context, sequence)
        buffer = (ctypes.c_uint8 * size)()
        written = llama_cpp.llama_state_seq_get_data(self._context, buffer, size, sequence)
        return memoryview(buffer)[:written].tobytes()

    def restore(self, sequence: int, state: bytes) -> bool:
        """Put a state of this model and build into an empty sequence. False when llama.cpp refuses it or has
        no room; the sequence is then empty."""
        buffer = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)
        if llama_cpp.llama_state_seq_set_data(self._context, buffer, len(state), sequence):
            return True
        self.remove(sequence)
        return False

    # Text.

    def tokenize(self, text: str, special: bool) -> list[int]:
        """Tokens of a text, with no beginning-of-text token added. Only with `special` can the text of a
        control token become that token; user-defined tokens match either way."""
        raw = text.encode(errors="replace")
        tokens = (llama_cpp.llama_token * (len(raw) + 8))()
        count = llama_cpp.llama_tokenize(self._vocab, raw, len(raw), tokens, len(tokens), False, special)
        if count < 0:
            raise EngineError(f"llama.cpp could not tokenize a text of {len(raw)} bytes.")
        return tokens[:count]

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for in text; empty for control tokens."""
        piece = self._pieces.get(token)
        if piece is None:
            piece = self._pieces[token] = self._read_piece(token, special=False)
        return piece

    def _read_piece(self, token: int, special: bool) -> bytes:
        buffer = ctypes.create_string_buffer(PIECE_BYTES)
        count = llama_cpp.llama_token_to_piece(self._vocab, token, buffer, PIECE_BYTES, 0, special)
        return buffer.raw[: max(0, count)]

    def show_as_text(self, token: int) -> None:
        """From now on `piece` gives this control token's own text (tags of thoughts and calls)."""
        self._pieces[token] = self._read_piece(token, special=True)

    def is_end(self, token: int) -> bool:
        """Whether the vocabulary says that generation ends with this token."""
        return bool(llama_cpp.llama_vocab_is_eog(self._vocab, token))

    def is_control(self, token: int) -> bool:
        return bool(llama_cpp.llama_vocab_is_control(self._vocab, token))

    def markup(self) -> list[str]:
        """Texts of user-defined tokens that look like tags: they match even with special tokens off."""
        found = []
        for token in range(self.vocabulary):
            if llama_cpp.llama_vocab_get_attr(self._vocab, token) & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED:
                text = self._read_piece(token, special=True).decode(errors="replace")
                if len(text) > 1 and not text.isspace() and not text.isalnum():
                    found.append(text)
        return found

    @property
    def beginning(self) -> int | None:
        """The beginning-of-text token, if the vocabulary has one."""
        token: int = llama_cpp.llama_vocab_bos(self._vocab)
        return token if token >= 0 else None

    @property
    def adds_beginning(self) -> bool:
        return bool(llama_cpp.llama_vocab_get_add_bos(self._vocab))

    @property
    def end(self) -> int:
        """The vocabulary's end-of-text token."""
        return int(llama_cpp.llama_vocab_eos(self._vocab))

    def text_of(self, token: int | None) -> str:
        """A token's own text, control tokens included."""
        return "" if token is None else self._read_piece(token, special=True).decode(errors="replace")

    @property
    def template(self) -> str | None:
        """The chat template that came with the model."""
        text = llama_cpp.llama_model_chat_template(self._model, None)
        return text.decode(errors="replace") if text else None

    def grammar_tokenizer(self, ends: Sequence[int]) -> LLTokenizer:
        """The vocabulary as llguidance wants it; `ends` may end a text. Takes up to a second."""
        with warnings.catch_warnings():  # the bridge asks llama_cpp by a name that it calls deprecated
            warnings.simplefilter("ignore", DeprecationWarning)
            return lltokenizer_from_vocab(self._vocab, eos_token=list(ends))


def _load(path: Path, vocab_only: bool, extra_buffers: bool) -> Pointer:
    params = llama_cpp.llama_model_default_params()
    params.vocab_only, params.use_extra_bufts = vocab_only, extra_buffers
    _errors.clear()
    model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise ModelError(
            f"{path} is damaged or not a model llama.cpp can read{_last_error()}; "
            "check it with `muleteer model verify` and fetch it again."
        )
    return model


def _context(model: Pointer, size: int, settings: LoadSettings, threads: int) -> Pointer:
    params = llama_cpp.llama_context_default_params()
    params.n_ctx, params.n_seq_max, params.kv_unified = size, settings.sequences, True
    params.n_batch = params.n_ubatch = settings.batch
    params.n_outputs_max = min(settings.batch, settings.sequences)
    params.n_threads = params.n_threads_batch = threads
    context = llama_cpp.llama_init_from_model(model, params)
    if not context:
        raise ModelError(f"No context of {size} tokens could be made{_last_error()}; lower engine.context.")
    return context


def _metadata(model: Pointer) -> dict[str, str]:
    buffer = ctypes.create_string_buffer(TEXT_BYTES)
    pairs = {}
    for i in range(llama_cpp.llama_model_meta_count(model)):
        llama_cpp.llama_model_meta_key_by_index(model, i, buffer, TEXT_BYTES)
        key = buffer.value.decode(errors="replace")
        llama_cpp.llama_model_meta_val_str_by_index(model, i, buffer, TEXT_BYTES)
        pairs[key] = buffer.value.decode(errors="replace")
    return pairs


def _last_error() -> str:
    """What llama.cpp logged last, as the end of a clause."""
    return f" ({_errors[0].rstrip('.')})" if _errors else ""
