"""A brain elsewhere against a server that misbehaves in every way that was seen or feared."""

from __future__ import annotations

import asyncio
import logging
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from muleteer.brains import server as module
from muleteer.brains.server import Server
from muleteer.brains.settings import BrainServer
from muleteer.engine.protocol import Conversation, Message, ToolSpec, Use
from muleteer.errors import BrainError, TooLongError
from muleteer.harness.brains import Said
from tests.brains.scripted_server import (
    DONE,
    STREAM,
    Answer,
    Scripted,
    calls,
    delta,
    endless,
    event,
    raw,
    says,
    serving,
    status,
    stuck,
    whole,
)

PLAN = ToolSpec("plan", "Plan.", {"type": "object", "properties": {"text": {"type": "string"}}})
HELLO = Conversation((Message("system", "Be kind."), Message("user", "hello there")))
WITH_TOOL = Conversation(HELLO.messages, (PLAN,))


@asynccontextmanager
async def opened(*script: Answer, **settings: object) -> AsyncIterator[tuple[Server, Scripted]]:
    async with serving(*script) as scripted:
        given = {"url": scripted.url, "model": "big", **settings}
        server = Server("desk", BrainServer.model_validate(given), pause=0.001)
        await server.open()
        try:
            yield server, scripted
        finally:
            await server.close()


async def listen(server: Server, prompt: Conversation = HELLO, limit: int = 50) -> tuple[list[str], Said]:
    pieces: list[str] = []
    async with aclosing(server.talk(prompt, limit=limit)) as talk:
        async for piece in talk:
            if isinstance(piece, Said):
                return pieces, piece
            pieces.append(piece)
    raise AssertionError("it ended without Said")


async def test_a_text_comes_as_it_is_said_and_is_counted() -> None:
    async with opened(says("Hel", "lo.")) as (server, scripted):
        pieces, said = await listen(server)
    assert pieces == ["Hel", "lo."]
    assert (said.text, said.calls, said.finish) == ("Hello.", (), "stop")
    assert said.use.ms > 0
    assert (said.use.prompt, said.use.reused, said.use.decoded, said.use.generated) == (40, 30, 10, 5)
    sent = scripted.bodies[0]
    assert (sent["model"], sent["max_tokens"], sent["stream"]) == ("big", 50, True)
    assert "tools" not in sent
    assert scripted.messages() == [("system", "Be kind."), ("user", "hello there")]


async def test_calls_come_in_chunks() -> None:
    two = (("plan", {"text": "ask @a"}), ("other", {"x": [1, {"y": "z"}]}))
    other = ToolSpec("other", "", {"type": "object"})
    async with opened(calls(*two, text="Let me see.")) as (server, scripted):
        pieces, said = await listen(server, Conversation(HELLO.messages, (PLAN, other)))
    assert [(call.name, call.arguments) for call in said.calls] == list(two)
    assert pieces == ["Let me see."]
    assert [tool["function"]["name"] for tool in scripted.bodies[0]["tools"]] == ["plan", "other"]


async def test_what_follows_the_only_tools_call_is_not_paid_for() -> None:
    first = {"index": 0, "id": "a", "function": {"name": "plan", "arguments": '{"text": "@a"}'}}
    again = delta({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "plan", "arguments": "{}"}}]})
    script = endless(STREAM + delta({"tool_calls": [first]}), again)
    async with opened(script) as (server, scripted):
        _, said = await listen(server, WITH_TOOL)
        async with asyncio.timeout(10):
            await scripted.gone.wait()
    assert [call.arguments for call in said.calls] == [{"text": "@a"}]


async def test_the_conversation_that_followed_is_told_with_ids_that_fit() -> None:
    grown = Conversation(
        (
            *HELLO.messages,
            Message("assistant", "", (("plan", "{}"), ("plan", '{"text":"x"}'))),
            Message("tool", "one"),
            Message("tool", "two"),
            Message("assistant", "", (("plan", "{}"),)),
            Message("tool", "three"),
        ),
        (PLAN,),
    )
    async with opened(says("ok")) as (server, scripted):
        await listen(server, grown)
    _, _, made, one, two, more, three = scripted.bodies[0]["messages"]
    first, second = (call["id"] for call in made["tool_calls"])
    assert (one["tool_call_id"], two["tool_call_id"]) == (first, second)
    assert more["tool_calls"][0]["id"] == three["tool_call_id"] not in (first, second)
    assert made["tool_calls"][1]["function"] == {"name": "plan", "arguments": '{"text":"x"}'}


@pytest.mark.parametrize("arguments", ['{"text": ', "[1]", "no json", "{" * 5000])
async def test_arguments_that_cannot_be_read_are_a_fault_and_never_empty(arguments: str) -> None:
    async with opened(calls(("plan", arguments))) as (server, _):
        _, said = await listen(server, WITH_TOOL, limit=500)
    assert [call.arguments for call in said.calls] == [None]
    assert said.calls[0].fault


async def test_a_server_that_does_not_stream_is_read_all_the_same() -> None:
    call = {"id": "1", "function": {"name": "plan", "arguments": {"text": "@a"}}}
    async with opened(whole({"content": None, "tool_calls": [call]})) as (server, _):
        _, said = await listen(server, WITH_TOOL)
    assert [call.arguments for call in said.calls] == [{"text": "@a"}]


async def test_events_may_be_cut_anywhere() -> None:
    stream = delta({"content": "naïve "}) + b": ping\r\n\r\n" + delta({"content": "word"}, "stop") + DONE
    async with opened(raw(STREAM, *(bytes([byte]) for byte in stream))) as (server, _):
        _, said = await listen(server)
    assert said.text == "naïve word"


@pytest.mark.parametrize("size", [1, 3, 7, 200])
async def test_thoughts_are_no_prose_and_no_call(size: int) -> None:
    """Field report L1, from a server that passes them on."""
    text = '<think>I could use @timer. {"name": "plan", "arguments": {"text": "@a"}}</think>\n\nHello there.'
    async with opened(says(*(text[at : at + size] for at in range(0, len(text), size)))) as (server, _):
        pieces, said = await listen(server, WITH_TOOL)
    assert "".join(pieces) == said.text == "Hello there."
    assert said.calls == ()


@pytest.mark.parametrize("written", ['<tool_call>{"name": "plan", "arguments": {"text": "@a"}}</tool_call>'])
async def test_calls_in_the_text_are_calls(written: str) -> None:
    """Field reports A3 to A11: the server passes on what its model wrote."""
    async with opened(says(*written)) as (server, _):
        pieces, said = await listen(server, WITH_TOOL)
    assert pieces == []
    assert [(call.name, call.arguments) for call in said.calls] == [("plan", {"text": "@a"})]


async def test_two_calls_under_one_index_are_two() -> None:
    parts = [{"index": 0, "id": i, "function": {"name": "f", "arguments": f'{{"n":{i}}}'}} for i in "12"]
    script = raw(STREAM, *(delta({"tool_calls": [part]}) for part in parts), delta({}, "tool_calls"), DONE)
    tools = (PLAN, ToolSpec("f", "", {}))
    async with opened(script) as (server, _):
        _, said = await listen(server, Conversation(HELLO.messages, tools))
    assert [call.arguments for call in said.calls] == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize(
    "busy",
    [
        status("429 Too Many Requests", retry_after="0"),
        status("408 Request Timeout"),
        status("500 Internal Server Error", "<html>"),
        status("503 Service Unavailable", retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
        raw(b""),
        raw(STREAM),
        raw(STREAM, event({"error": {"message": "overloaded"}})),
    ],
)
async def test_what_may_be_over_in_a_moment_is_asked_again(busy: Answer) -> None:
    async with opened(busy, says("fine")) as (server, scripted):
        _, said = await listen(server)
        assert server.report()["retries"] == 1
    assert said.text == "fine"
    assert scripted.bodies[0] == scripted.bodies[1]


async def test_retries_end() -> None:
    async with opened(status("500 No"), retries=2) as (server, scripted):
        with pytest.raises(BrainError, match="The brain desk answered 500 Internal Server Error"):
            await listen(server)
    assert len(scripted.bodies) == 3


async def test_a_long_retry_after_is_not_waited_for() -> None:
    async with opened(status("429 Slow", retry_after="3600")) as (server, scripted):
        with pytest.raises(BrainError, match="left alone for 3600 seconds"):
            await listen(server)
    assert len(scripted.bodies) == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [("401 No", "key"), ("404 No", "url and the model"), ("302 Found", "302 Found"), ("422 No", "422")],
)
async def test_a_refusal_is_told_and_not_repeated(line: str, said: str) -> None:
    body = {"error": {"message": "you said: hello there"}}
    async with opened(status(line, body, location="http://127.0.0.1:1/")) as (server, scripted):
        with pytest.raises(BrainError, match=said) as refused:
            await listen(server)
    assert "hello there" not in str(refused.value)
    assert len(scripted.bodies) == 1


async def test_a_parameter_that_is_refused_is_left_out_from_then_on() -> None:
    refused = status("400 No", {"error": {"message": "Unsupported", "param": "max_tokens"}})
    async with opened(refused, says("fine")) as (server, scripted):
        await listen(server)
        await listen(server)
    assert [body.get("max_tokens") for body in scripted.bodies] == [50, None, None]
    assert scripted.bodies[1]["max_completion_tokens"] == 50
    assert len(scripted.bodies) == 3


async def test_nothing_is_asked_again_once_a_word_was_said() -> None:
    async with opened(raw(STREAM, delta({"content": "The light "})), says("never")) as (server, scripted):
        with pytest.raises(BrainError, match="broke off"):
            await listen(server)
    assert len(scripted.bodies) == 1


@pytest.mark.parametrize(
    "script",
    [
        stuck(),
        stuck(STREAM),
        stuck(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"),
        endless(STREAM, b": still here\n\n", pause=0.02),
    ],
)
async def test_a_server_that_says_nothing_is_left(script: Answer) -> None:
    async with opened(script, first=0.2) as (server, scripted):
        with pytest.raises(BrainError, match=r"said nothing for 0\.2 seconds"):
            await listen(server)
        async with asyncio.timeout(10):
            await scripted.gone.wait()


async def test_a_server_that_falls_silent_is_left() -> None:
    script = stuck(STREAM, delta({"reasoning_content": "hm"}), delta({"content": "Well"}))
    async with opened(script, between=0.2) as (server, _):
        with pytest.raises(BrainError, match=r"said nothing for 0\.2 seconds"):
            await listen(server)


@pytest.mark.parametrize(
    "script",
    [
        raw(STREAM, event("{half")),
        raw(STREAM, event("[1, 2]")),
        raw(STREAM, event({"choices": ["x"]})),
        raw(STREAM, delta({"content": 7})),
        raw(STREAM, delta({"tool_calls": [{"index": 10**9, "function": {"name": "f"}}] * 40})),
        raw(STREAM, b"data: \xff\xfe\n\n"),
        raw(STREAM, b"data: " + b"x" * 300_000),
        whole({"content": ["no text"]}),
        status("200 OK", "{}"),
        endless(STREAM, delta({"reasoning_content": "x" * 60_000})),
    ],
)
async def test_what_is_not_of_the_format_is_an_error_of_one_sentence(script: Answer) -> None:
    async with opened(script) as (server, _):
        with pytest.raises(BrainError, match=r"The brain desk [^\n]*\.$"):
            await listen(server)
        assert server.report()["failures"] == 1


async def test_a_server_that_ignores_the_limit_is_cut_there() -> None:
    async with opened(endless(STREAM, delta({"content": "word " * 40}))) as (server, scripted):
        pieces, said = await listen(server, limit=10)
        async with asyncio.timeout(10):
            await scripted.gone.wait()
    assert said.finish == "length"
    assert len(said.text) < 10_000
    assert "".join(pieces) == said.text


async def test_who_stops_listening_stops_the_server() -> None:
    async with opened(endless(STREAM, delta({"content": "word "}))) as (server, scripted):
        async with aclosing(server.talk(HELLO, limit=10_000)) as talk:
            await anext(talk)
        async with asyncio.timeout(10):
            await scripted.gone.wait()


async def test_a_prompt_that_is_too_long_is_not_sent() -> None:
    async with opened(says("no")) as (server, scripted):
        with pytest.raises(TooLongError, match=r"about \d+ tokens and may have 3"):
            async for _ in server.talk(HELLO, limit=5, prompt_limit=3):
                pass
    assert not scripted.bodies


async def test_nobody_there() -> None:
    async with serving() as scripted:
        gone = scripted.url
    server = Server("desk", BrainServer(url=gone, retries=1), pause=0.001)
    await server.open()
    try:
        with pytest.raises(BrainError, match="The brain desk cannot be reached"):
            await listen(server)
    finally:
        await server.close()
        await server.close()


async def test_the_key_is_sent_and_never_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    key = tmp_path / "key"
    key.write_text("sk-open-sesame\n")
    async with opened(status("401 No", "wrong sk-open-sesame"), key_file=str(key)) as (server, scripted):
        with pytest.raises(BrainError) as refused:
            await listen(server)
        assert scripted.heads[0]["authorization"] == "Bearer sk-open-sesame"
        assert "sesame" not in f"{refused.value}{server.report()}{server.settings}{caplog.text}"


async def test_a_key_that_is_missing_is_told_when_asked(tmp_path: Path) -> None:
    async with opened(says("no"), key_file=str(tmp_path / "none")) as (server, scripted):
        with pytest.raises(
            BrainError, match=r"cannot be asked: the file .*none for its token cannot be read"
        ):
            await listen(server)
    assert not scripted.bodies


async def test_tokens_are_estimated_where_they_are_not_counted() -> None:
    async with opened(raw(STREAM, delta({"content": "x" * 400}, "stop"))) as (server, _):
        _, said = await listen(server)
        assert said.use == Use(prompt := await server.count(HELLO), 0, prompt, 100, 100, said.use.ms)


@pytest.mark.parametrize(("text", "seconds"), [("7", 7.0), ("", None), ("soon", None), ("-3", None)])
def test_retry_after(text: str, seconds: float | None) -> None:
    assert module._retry_after(text) == seconds


@pytest.fixture
def tls(tmp_path: Path) -> tuple[ssl.SSLContext, Path]:
    """A server's own certificate for 127.0.0.1, and the file that holds it."""
    certificate, key = tmp_path / "c.pem", tmp_path / "k.pem"
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=desk"
    )
    more = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *more], check=True, capture_output=True)
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)
    return served, certificate


async def test_a_certificate_is_checked_and_may_be_the_households_own(
    tls: tuple[ssl.SSLContext, Path], tmp_path: Path
) -> None:
    served, certificate = tls
    async with serving(says("hi"), tls=served) as scripted:
        url = f"https://127.0.0.1:{scripted.port}/v1"
        for file, said in (
            ("", "cannot be trusted"),
            (str(certificate), ""),
            (str(tmp_path / "x"), "be read"),
        ):
            server = Server("desk", BrainServer(url=url, retries=0, certificates=file))
            await server.open()
            try:
                if said:
                    with pytest.raises(BrainError, match=f"certificate.* {said}"):
                        await listen(server)
                else:
                    assert (await listen(server))[1].text == "hi"
            finally:
                await server.close()
