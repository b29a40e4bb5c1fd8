"""llama.cpp's own server, in a process of its own: `python -m muleteer.evaluate.peer_server`.

Reads one JSON line of settings from standard input, prints one JSON line with the server's address, and ends
when standard input does. The only importer of xllamacpp. Everything llama.cpp says goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any


def parameters(xllamacpp: Any, wanted: dict[str, object]) -> Any:
    """The server's parameters. What is not set here is llama.cpp's default, prompt caching included."""
    params = xllamacpp.CommonParams()
    params.model.path = wanted["model"]
    params.n_ctx = wanted["context"]
    params.n_parallel = wanted["slots"]
    params.kv_unified = wanted["slots"] != 1  # else each slot gets its share of the context only
    params.n_cache_reuse = wanted["cache_reuse"]
    params.slot_prompt_similarity = wanted["similarity"]
    params.no_extra_bufts = not wanted["extra_buffers"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = wanted["threads"]
    params.cache_ram_mib = wanted["cache_memory"]
    params.fit_params = False  # it would change what was asked for
    params.cache_prompt = True
    if wanted["drafting"]:
        params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    return params


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp prints to standard output as well
    xllamacpp = importlib.import_module("xllamacpp")  # an extra: only a benchmark has it
    server = xllamacpp.Server(parameters(xllamacpp, json.loads(sys.stdin.readline())))
    hello = {"address": server.listening_address, "build": xllamacpp.get_system_info().strip()}
    print(json.dumps(hello), file=answers, flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's own end waits for connections


if __name__ == "__main__":
    main()
