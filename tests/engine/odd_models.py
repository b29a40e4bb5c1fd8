"""Model files of kinds that the catalogue does not have, written by a test: recurrent, hybrid, with a sliding
window, thinking, and with a SentencePiece vocabulary.

Two layers of random weights with a fixed seed, so that they load and run in milliseconds and their words mean
nothing. What they share with real models of their kind is what the engine must get right: how llama.cpp keeps
what was decoded, the vocabulary's token types, and the chat template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from gguf import GGUFWriter, TokenType

SEED = 7
LAYERS, WIDTH, HEADS, HEAD, HIDDEN = 2, 32, 2, 16, 64
TRAINED = 1024  # tokens of context
WINDOW = 16  # tokens that the layer with a sliding window sees
STATE, INNER, RANK, KERNEL = 8, 64, 4, 4  # of a mamba layer
SHARP = 4  # times the usual spread of attention scores: a token that is missing is missed

WORDS = ("the", "time", "and", "system", "user", "assistant", "clock", "true", "false", "place")
TRAPS = ("</s", "<end_of_turn")  # pieces that with ">" spell a control token

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TOOLED = """
{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}
{% endif %}# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for m in messages %}
    {%- if m.role == 'tool' %}<|im_start|>user
<tool_response>
{{ m.content }}
</tool_response><|im_end|>
    {%- elif m.role != 'system' or not (loop.first and tools) %}<|im_start|>{{ m.role }}
{{ m.content }}
        {%- for call in m.tool_calls or [] %}
<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
        {%- endfor %}<|im_end|>
    {%- endif %}
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
"""
THINKER = TOOLED + "<think>\n{% endif %}"  # as DeepSeek's and QwQ's: always thinks
SWITCHED = TOOLED + "{% if not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"  # as Qwen3's
TOOLED += "{% endif %}"
NO_SYSTEM = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n{{ m.content | trim }}<end_of_turn>\n"
    "{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
INSTRUCT = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %} {{ m.content }} {{ eos_token }}"
    "{% else %}[INST] {{ m.content }} [/INST]{% endif %}{% endfor %}"
)
ZEPHYR = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content + eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


@dataclass(frozen=True)
class Vocabulary:
    """Tokens in the order of their numbers, and how a text becomes them."""

    kind: str
    tokens: Sequence[str]
    types: Sequence[TokenType]
    ends: Sequence[str]
    begin: str
    merges: Sequence[str] = ()
    settings: dict[str, bool] = field(default_factory=dict)


def byte_level(controls: Sequence[str], tags: Sequence[str] = ()) -> Vocabulary:
    """A byte-level BPE vocabulary as GPT-2's, with the first of `controls` beginning a text and the last
    ending a turn. `tags` are user-defined tokens, which match even where special tokens are off."""
    tokens, merges = list(_byte_letters()), []
    for word in [*WORDS, *(f"Ġ{word}" for word in WORDS)]:
        for end in range(1, len(word)):
            merged = word[: end + 1]
            if merged not in tokens:
                tokens.append(merged)
                merges.append(f"{word[:end]} {word[end]}")
    types = [TokenType.NORMAL] * len(tokens)
    types += [TokenType.CONTROL] * len(controls) + [TokenType.USER_DEFINED] * len(tags)
    return Vocabulary("gpt2", [*tokens, *controls, *tags], types, controls[-1:], controls[0], merges)


def sentencepiece(controls: Sequence[str] = (), space_prefix: bool = True) -> Vocabulary:
    """A SentencePiece vocabulary as Llama 2's: spaces are letters, bytes are the last resort, and with
    `space_prefix` a text gets a space that it does not have. With `TRAPS`, as web pages leave them."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    types = [TokenType.UNKNOWN, TokenType.CONTROL, TokenType.CONTROL] + [TokenType.BYTE] * 256
    letters = ["▁", *map(chr, range(33, 127))]
    pieces = [
        word[:end] for w in (*WORDS, *TRAPS) for word in (w, f"▁{w}") for end in range(2, len(word) + 1)
    ]
    normal = list(dict.fromkeys([*pieces, *letters]))
    tokens, types = [*tokens, *normal], types + [TokenType.NORMAL] * len(normal)
    tokens, types = [*tokens, *controls], types + [TokenType.CONTROL] * len(controls)
    settings = {"add_space_prefix": space_prefix, "add_bos_token": True}
    return Vocabulary("llama", tokens, types, controls[-1:] or ["</s>"], "<s>", settings=settings)


def _byte_letters() -> list[str]:
    """GPT-2's letter for each byte: itself where it can be seen, else one from 256 on."""
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    unseen = [byte for byte in range(256) if byte not in seen]
    letters = {byte: chr(byte) for byte in seen} | {byte: chr(256 + i) for i, byte in enumerate(unseen)}
    return [letters[byte] for byte in range(256)]


CHAT_TOKENS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
TURN_TOKENS = ("<bos>", "<start_of_turn>", "<end_of_turn>")


@dataclass(frozen=True)
class Odd:
    """What makes a model file odd: its architecture, vocabulary and template."""

    architecture: str
    vocabulary: Vocabulary
    template: str


MODELS = {
    "recurrent": Odd("mamba", byte_level(CHAT_TOKENS), CHATML),
    "hybrid": Odd("lfm2", byte_level(CHAT_TOKENS, TAGS), TOOLED),
    "window": Odd("gemma2", byte_level(TURN_TOKENS), NO_SYSTEM),
    "thinking": Odd("llama", byte_level(CHAT_TOKENS, TAGS), THINKER),
    "switched": Odd("llama", byte_level((*CHAT_TOKENS[:2], "<think>", "</think>", "<|im_end|>")), SWITCHED),
    "spm": Odd("llama", sentencepiece(), ZEPHYR),
    "instruct": Odd("llama", sentencepiece(), INSTRUCT),
    "spm-turns": Odd("gemma2", sentencepiece(TURN_TOKENS[1:], space_prefix=False), NO_SYSTEM),
}


def make(folder: Path, name: str) -> Path:
    """The file of one of `MODELS`."""
    return write(folder / f"{name}.gguf", MODELS[name])


def write(path: Path, odd: Odd) -> Path:
    """Write a model file."""
    writer = GGUFWriter(path, odd.architecture)
    writer.add_name(path.stem)
    writer.add_block_count(LAYERS)
    writer.add_context_length(TRAINED)
    writer.add_embedding_length(WIDTH)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_chat_template(odd.template)
    _add_vocabulary(writer, odd.vocabulary)
    shapes = {"token_embd": (len(odd.vocabulary.tokens), WIDTH)} | ARCHITECTURES[odd.architecture](writer)
    if "token_embd_norm" not in shapes:
        shapes["output_norm"] = (WIDTH,)
    _add_weights(writer, shapes)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_vocabulary(writer: GGUFWriter, vocabulary: Vocabulary) -> None:
    writer.add_tokenizer_model(vocabulary.kind)
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(vocabulary.types)
    if vocabulary.kind == "gpt2":
        writer.add_tokenizer_pre("qwen2")
        writer.add_token_merges(vocabulary.merges)
    else:  # a longer piece wins
        writer.add_token_scores([float(len(token)) for token in vocabulary.tokens])
        writer.add_unk_token_id(0)
    writer.add_bos_token_id(vocabulary.tokens.index(vocabulary.begin))
    writer.add_eos_token_id(vocabulary.tokens.index(vocabulary.ends[0]))
    for key, value in vocabulary.settings.items():
        writer.add_bool(f"tokenizer.ggml.{key}", value)


Shapes = dict[str, tuple[int, ...]]


def _feed_forward(layer: int) -> Shapes:
    block = f"blk.{layer}."
    return {
        f"{block}attn_norm": (WIDTH,),
        f"{block}ffn_norm": (WIDTH,),
        f"{block}ffn_gate": (HIDDEN, WIDTH),
        f"{block}ffn_up": (HIDDEN, WIDTH),
        f"{block}ffn_down": (WIDTH, HIDDEN),
    }


def _attention(layer: int) -> Shapes:
    size = HEADS * HEAD
    block = f"blk.{layer}.attn_"
    return {
        f"{block}q": (size, WIDTH),
        f"{block}k": (size, WIDTH),
        f"{block}v": (size, WIDTH),
        f"{block}output": (WIDTH, size),
    }


def _llama(writer: GGUFWriter) -> Shapes:
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    shapes: Shapes = {}
    for layer in range(LAYERS):
        shapes |= _feed_forward(layer) | _attention(layer)
    return shapes


def _gemma2(writer: GGUFWriter) -> Shapes:
    """Every second layer sees `WINDOW` tokens."""
    shapes = _llama(writer)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_sliding_window(WINDOW)
    for layer in range(LAYERS):
        shapes |= {f"blk.{layer}.post_{part}_norm": (WIDTH,) for part in ("attention", "ffw")}
    return shapes


def _lfm2(writer: GGUFWriter) -> Shapes:
    """A convolution with a state, then attention."""
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv([0, HEADS])
    writer.add_shortconv_l_cache(KERNEL)
    writer.add_vocab_size(1)  # llama.cpp asks for the key and counts the tokens
    convolution: Shapes = {
        "blk.0.shortconv.conv": (WIDTH, KERNEL),
        "blk.0.shortconv.in_proj": (3 * WIDTH, WIDTH),
        "blk.0.shortconv.out_proj": (WIDTH, WIDTH),
    }
    norms: Shapes = {"blk.1.attn_q_norm": (HEAD,), "blk.1.attn_k_norm": (HEAD,), "token_embd_norm": (WIDTH,)}
    return convolution | norms | _feed_forward(0) | _feed_forward(1) | _attention(1)


def _mamba(writer: GGUFWriter) -> Shapes:
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_ssm_conv_kernel(KERNEL)
    writer.add_ssm_inner_size(INNER)
    writer.add_ssm_state_size(STATE)
    writer.add_ssm_time_step_rank(RANK)
    shapes: Shapes = {}
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        shapes |= {
            f"{block}attn_norm": (WIDTH,),
            f"{block}ssm_in": (2 * INNER, WIDTH),
            f"{block}ssm_conv1d": (INNER, KERNEL),
            f"{block}ssm_conv1d.bias": (INNER,),
            f"{block}ssm_x": (RANK + 2 * STATE, INNER),
            f"{block}ssm_dt": (INNER, RANK),
            f"{block}ssm_dt.bias": (INNER,),
            f"{block}ssm_a": (INNER, STATE),
            f"{block}ssm_d": (INNER,),
            f"{block}ssm_out": (WIDTH, INNER),
        }
    return shapes


ARCHITECTURES = {"llama": _llama, "gemma2": _gemma2, "lfm2": _lfm2, "mamba": _mamba}


def _add_weights(writer: GGUFWriter, shapes: Shapes) -> None:
    """Random weights that keep what they are given at its size; a state that fades (`ssm_a` below zero)."""
    random = np.random.default_rng(SEED)
    for name, shape in shapes.items():
        weights = random.standard_normal(shape).astype(np.float32)
        if name.endswith("norm"):
            weights = np.ones(shape, np.float32)
        elif name.endswith("ssm_a"):
            weights = -np.abs(weights)
        elif len(shape) == 2 and not name.startswith("token_embd"):
            weights *= np.float32((SHARP if name.endswith("attn_q") else 1) / np.sqrt(shape[1]))
        bare = name.endswith((".bias", "ssm_a", "ssm_d"))
        writer.add_tensor(name if bare else f"{name}.weight", weights)
