from __future__ import annotations

import json
import os

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

STATUS = {
    "version": "0.1.0",
    "state": "degraded",
    "reason": "the engine is being restarted",
    "uptime_s": 3725.4,
    "pid": 10,
    "socket": "/run/x",
    "turns": {"finished": 7, "failed": 2, "refused": 1, "asked": 0},
    "engine": {
        "state": "ready",
        "reason": "",
        "restarts": 1,
        "queued": 3,
        "queued_background": 2,
        "pid": os.getpid(),
        "held": {
            "resident_tokens": 512,
            "resident_prefixes": 9,
            "memory": 12_000_000,
            "memory_prefixes": 3,
            "disk": 66_178_172,
            "disk_prefixes": 14,
            "restored": 5,
            "ignored": 1,
        },
        "threads": 1,
        "deferred": "the processor is hot (83 °C)",
        "totals": {"prompt": 1000, "reused": 900, "decoded": 100, "generated": 50, "sampled": 40, "ms": 5.0},
        "properties": {
            "name": "small",
            "path": "/m/small.gguf",
            "size": 491_400_064,
            "context": 4096,
            "trained_context": 32768,
            "template_knows_tools": True,
            "partial_reuse": True,
            "end_tokens": ["<|im_end|>", "<|endoftext|>"],
            "thinks": False,
            "threads": 2,
            "kv_bytes": 50_331_648,
            "build": "AVX2 FMA",
            "extra_buffers": True,
        },
    },
    "prompts": {"ready": 9, "all": 14},
    "heat": {"celsius": 82.6, "throttled": True, "undervoltage": False},
    "ledger": {"requests": 40, "mismatches": 0},
}
VOICE: dict[str, object] = {"listen": "off", "port": 0, "socket": "", "problem": ""}
SKILL = {
    "name": "find-it",
    "handle": "find-it",
    "description": "Find it.\nMore.",
    "state": "enabled",
    "reason": "",
    "origin": "shipped",
    "on_disk": "search-info",
    "tokens": {"planner": 40, "follower": 300, "agent": 0},
}
TOOLS = [
    {"name": "timer", "handle": "timer", "description": "Count.", "state": "enabled", "reason": ""},
    {"name": "bad_one", "handle": "bad-one", "state": "disabled", "reason": "bad_one.py:\x1b no schema"},
    {"name": "/x/tools", "handle": "", "state": "disabled", "reason": "may be written by others"},
    {
        "name": "worse",
        "handle": "worse",
        "description": "W.",
        "state": "enabled",
        "reason": "the newest version is broken",
    },
]


def test_status_says_how_it_is(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj(STATUS)
    done = run("status")
    assert done.code == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert "state degraded: the engine is being restarted" in lines
    assert "daemon 0.1.0, process 10, up 1:02:05" in lines
    assert "turns 7 finished, 2 failed, 1 refused" in lines
    assert "model small, 491 MB, /m/small.gguf" in lines
    assert "context 512 of 4096 tokens resident, cache 50 MB, 1 of 2 threads" in lines
    assert "prompts 9 of 14 prepared ahead of their first use" in lines
    assert (
        "kept read 9 in the context, 3 in memory (12 MB), 14 on disk (66 MB), 5 brought back; "
        "1 damaged files ignored"
    ) in lines
    assert "AVX2" not in done.out
    assert "board 83 °C, throttled" in lines
    assert "deferred background work waits: the processor is hot (83 °C)" in lines
    assert "tokens 900 reused (90 %), 100 decoded, 50 generated" in lines
    engine = next(line for line in lines if line.startswith("engine "))
    assert engine.startswith(f"engine ready, process {os.getpid()} with ")
    assert engine.endswith(" MB, 1 restarts, 3 waiting (2 of them background work)")


def test_status_tells_what_was_built_and_what_the_model_can_do_when_asked(
    run: Run, daemon: ScriptedDaemon
) -> None:
    daemon.replies["/v1/status"] = obj(STATUS)
    lines = [" ".join(line.split()) for line in run("status", "-v").out.splitlines()]
    assert "build AVX2 FMA; repacked buffers on" in lines
    assert (
        "abilities trained for 32768 tokens, template knows tools, ends with <|im_end|> or <|endoftext|>, "
        "does not think, reuses any part of a prefix"
    ) in lines


def test_status_says_when_tokens_do_not_add_up(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj(STATUS | {"ledger": {"requests": 40, "mismatches": 2}})
    assert "50 generated; 2 of 40 requests did not add up" in run("status").out


def test_status_of_a_cool_board_that_tells_no_temperature(run: Run, daemon: ScriptedDaemon) -> None:
    heat = {"celsius": None, "throttled": False, "undervoltage": False}
    daemon.replies["/v1/status"] = obj({"heat": heat, "engine": {"state": "unloaded", "deferred": ""}})
    said = run("status").out
    assert "unloaded" in said
    assert "no temperature sensor" in said
    assert "deferred" not in said


@pytest.mark.parametrize("body", [{}, {"engine": 5, "turns": []}, {"engine": {"pid": 2**22 + 1}}])
def test_status_of_a_daemon_that_says_little(run: Run, daemon: ScriptedDaemon, body: object) -> None:
    daemon.replies["/v1/status"] = obj(body)
    done = run("status")
    assert (done.code, done.err) == (0, "")
    assert "model" not in done.out


def test_json_is_what_the_daemon_said(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/status"] = obj(STATUS)
    daemon.replies["/v1/skills"] = obj({"skills": [SKILL]})
    daemon.replies["/v1/tools"] = obj({"tools": TOOLS[:1]})
    assert json.loads(run("status", "--json").out) == STATUS
    assert json.loads(run("skills", "--json").out) == {"skills": [SKILL]}
    assert json.loads(run("tools", "--json").out) == {"tools": TOOLS[:1]}


def test_lists_show_why_something_is_disabled(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/skills"] = obj({"skills": [SKILL]})
    daemon.replies["/v1/tools"] = obj({"tools": TOOLS})
    skill = "@find-it enabled 40 300 shipped (@search-info there) Find it."
    assert skill in [" ".join(line.split()) for line in run("skills").out.splitlines()]
    listed = [" ".join(line.split()) for line in run("tools").out.splitlines()]
    assert listed[1:] == [
        "@timer enabled Count.",
        "@bad-one disabled bad_one.py: no schema",
        "/x/tools disabled may be written by others",
        "@worse enabled the newest version is broken",
    ]


@pytest.mark.parametrize("command", ["status", "skills", "tools"])
def test_no_daemon(run: Run, command: str) -> None:
    done = run(command)
    assert done.code == 3
    assert "start one with `muleteer serve`" in done.err


def test_status_tells_of_the_network_and_of_servers_where_there_is_something_to_tell(
    run: Run, daemon: ScriptedDaemon
) -> None:
    daemon.replies["/v1/status"] = obj(
        STATUS
        | {
            "offline": {"mode": "on", "offline": True, "reason": "Offline mode is on"},
            "mcp": {
                "house": {"state": "ready", "reason": "", "tools": 5, "refused": 1, "restarts": 0},
                "garden": {"state": "waiting", "reason": "ended", "tools": 2, "refused": 0, "restarts": 3},
            },
        }
    )
    lines = [" ".join(line.split()) for line in run("status").out.splitlines()]
    assert {
        "offline Offline mode is on",
        "mcp house 5 tools, 1 not usable",
        "mcp garden waiting: ended",
    } <= set(lines)
    daemon.replies["/v1/status"] = obj(STATUS)
    assert "offline" not in run("status").out


def test_status_tells_what_the_index_of_files_holds_and_which_folder_is_missing(
    run: Run, daemon: ScriptedDaemon
) -> None:
    folders = {"/home/papers": "watched", "/media/stick": "it is not there"}
    files = {"files": 12, "read": 8, "waiting": 2, "left_out": {"links": 3, "hidden": 1}, "folders": folders}
    daemon.replies["/v1/status"] = obj(STATUS | {"files": files})
    lines = [" ".join(line.split()) for line in run("status").out.splitlines()]
    assert "files 12 found, 8 read, 2 to be read; left out: 3 links, 1 hidden" in lines
    assert "folder /media/stick: it is not there" in lines
    assert "/home/papers" not in run("status").out
    daemon.replies["/v1/status"] = obj(STATUS | {"files": files | {"folders": {}}})
    assert "12 found" not in run("status").out


@pytest.mark.parametrize(
    ("voice", "said"),
    [
        ({}, ""),
        ({"listen": "lan", "port": 10500}, "voice port 10500, from the local network, without a password"),
        (
            {"listen": "loopback", "port": 10501, "socket": "/run/v"},
            "voice port 10501, from this machine; /run/v",
        ),
        (
            {"listen": "lan", "problem": "TCP port 10500: it is taken"},
            "voice closed: TCP port 10500: it is taken",
        ),
    ],
)
def test_where_voice_pipelines_connect(
    run: Run, daemon: ScriptedDaemon, voice: dict[str, object], said: str
) -> None:
    daemon.replies["/v1/status"] = obj(STATUS | {"wyoming": VOICE | voice})
    rows = [" ".join(line.split()) for line in run("status").out.splitlines()]
    assert [row for row in rows if row.startswith("voice")] == ([said] if said else [])
