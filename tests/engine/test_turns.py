"""Conversations under templates of several families, as text with the slots filled in."""

from __future__ import annotations

import json

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.engine.template import Segment, Slots, Template
from muleteer.engine.turns import Turns
from muleteer.errors import EngineError

HERMES = """
{%- for m in messages %}
    {%- if loop.first and tools %}
        {{- '<S>' + (m.content if m.role == 'system' else '') + '\\nTools:' }}
        {%- for tool in tools %}{{ '\\n' + (tool | tojson) }}{% endfor %}
        {{- '</S>' }}
    {%- endif %}
    {%- if m.role == 'user' or (m.role == 'system' and not (loop.first and tools)) %}
        {{- '<' + m.role + '>' + m.content + '</>' }}
    {%- elif m.role == 'tool' %}
        {{- '<user>RESULT ' + m.content + '</>' }}
    {%- elif m.role == 'assistant' %}
        {{- '<assistant>' + m.content }}
        {%- for call in m.tool_calls or [] %}
            {{- '<call>\\n{"name": "' + call.function.name + '", "arguments": ' }}
            {{- call.function.arguments | tojson }}
            {{- '}\\n</call>' }}
        {%- endfor %}
        {{- '</>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"""

GEMMA = """
{%- if messages[0].role == 'system' %}{{ raise_exception('no system role') }}{% endif %}
{%- for m in messages %}
    {%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('take turns') }}{% endif %}
    {{- '<' + ('model' if m.role == 'assistant' else m.role) + '>' + m.content | trim + '</>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<model>' }}{% endif %}"""

THINKER = HERMES.replace("{{ '<assistant>' }}", "{{ '<assistant><think>\\n' }}")
CLOSED = HERMES.replace(
    "{{ '<assistant>' }}", "{{ '<assistant>' + ('' if enable_thinking else '<think>\\n\\n</think>\\n\\n') }}"
)
EMPTY = CLOSED.replace("{{- '<assistant>' + m", "{{- '<assistant><think>\\n\\n</think>\\n\\n' + m")

TOOL = ToolSpec("clock", "Tells the <time>.", {"type": "object", "properties": {"place": {"type": "string"}}})
SYSTEM, ASK = Message("system", "Be brief."), Message("user", "What time?")


def turns_of(source: str) -> Turns:
    return Turns(Template(source, "<s>", "</s>"))


def text(source: str, conversation: Conversation) -> str:
    slots = Slots()
    return "".join(s.text for s in slots.split(turns_of(source).text(slots, conversation)))


def test_abilities_are_found_by_trying() -> None:
    hermes, gemma = turns_of(HERMES).able, turns_of(GEMMA).able
    assert (hermes.system, hermes.tools, hermes.calls, hermes.results, hermes.runs) == (True,) * 5
    assert (gemma.system, gemma.tools, gemma.calls, gemma.results, gemma.runs) == (False,) * 5


def test_a_call_begins_as_the_template_writes_calls() -> None:
    prompt = text(HERMES, Conversation((SYSTEM, ASK), (TOOL,), begin_call=True))
    assert prompt.endswith('<user>What time?</><assistant><call>\n{"name": "clock", "arguments": ')
    spec = prompt.split("Tools:\n")[1].split("</S>")[0]
    assert json.loads(spec)["function"]["description"] == TOOL.description
    assert '"name": "clock", "description"' in spec


def test_a_call_begins_in_plain_json_where_the_template_knows_no_tools() -> None:
    prompt = text(GEMMA, Conversation((SYSTEM, ASK), (TOOL,), begin_call=True))
    assert prompt.startswith("<user>Be brief.\n\nYou may call this function")
    assert '"description": "Tells the <time>."' in prompt
    assert prompt.endswith('What time?</><model>{"name": "clock", "arguments": ')


def test_what_a_template_refuses_is_folded() -> None:
    conversation = Conversation(
        (
            SYSTEM,
            ASK,
            Message("assistant", "", (("clock", "{}"),)),
            Message("tool", "12:04"),
            Message("user", "And?"),
        )
    )
    assert text(GEMMA, conversation) == (
        '<user>Be brief.\n\nWhat time?</><model>{"name": "clock", "arguments": {}}</>'
        "<user>Result of the call:\n12:04\n\nAnd?</><model>"
    )


def test_arguments_keep_their_own_writing() -> None:
    written = '{"place":  "Rome"}'
    conversation = Conversation(
        (ASK, Message("assistant", "", (("clock", written),)), Message("tool", "12:04")), (TOOL,)
    )
    assert f'"arguments": {written}}}\n</call></><user>RESULT 12:04</>' in text(HERMES, conversation)


@pytest.mark.parametrize(
    "source",
    [THINKER, CLOSED, pytest.param(EMPTY, id="a template that also closes a thought in the last message")],
)
def test_thinking_is_closed_once_before_the_reply(source: str) -> None:
    closed = "<think>\n\n</think>\n\n"
    assert text(source, Conversation((ASK,), begin="@")).endswith(f"<assistant>{closed}@")
    call = text(source, Conversation((ASK,), (TOOL,), begin_call=True))
    assert call.endswith(f'<assistant>{closed}<call>\n{{"name": "clock", "arguments": ')


def test_a_call_needs_its_tool() -> None:
    with pytest.raises(EngineError, match="needs the tool"):
        text(HERMES, Conversation((ASK,), begin_call=True))


def test_a_template_that_refuses_everything_says_so() -> None:
    with pytest.raises(EngineError, match="refuses this conversation: never"):
        text("{{ raise_exception('never') }}", Conversation((ASK,)))


def test_templates_cannot_reach_the_machine() -> None:
    with pytest.raises(EngineError, match="refuses"):
        text("{{ messages.__class__.__mro__ }}", Conversation((ASK,)))
    with pytest.raises(jinja2.TemplateError):
        Template("{% for %}", "", "")


foreign = st.text(alphabet="ab <>|{}%\ue000\ue001\ue010\ue01f", min_size=1, max_size=30)


@given(foreign, foreign, foreign)
def test_foreign_text_stays_foreign_whatever_it_says(a: str, b: str, c: str) -> None:
    slots = Slots()
    tool = ToolSpec("clock", a, {"type": "object", "properties": {"x": {"type": "string", "description": b}}})
    conversation = Conversation((Message("system", b), Message("user", c), Message("tool", a)), (tool,))
    segments = slots.split(turns_of(HERMES).text(slots, conversation))
    own = "".join(segment.text for segment in segments if not segment.foreign)
    assert own == "<S>\nTools:\n</S><user></><user>RESULT </><assistant>"
    texts = [segment.text for segment in segments if segment.foreign]
    assert texts[0] == b
    assert texts[-2:] == [c, a]
    assert json.loads(texts[1])["function"]["description"] == a


def test_a_template_that_walks_a_schema_sees_names_and_not_texts() -> None:
    walker = """
{%- for tool in tools or [] %}{{ tool.function.description }}
    {%- for name, p in tool.function.parameters.properties.items() %}
        {{- name + ':' + p.type + ':' + p.description }}
    {%- endfor %}
{%- endfor %}{{ messages[0].content }}"""
    slots = Slots()
    parameters = {"type": "object", "properties": {"x": {"type": "string", "description": "a <b>"}}}
    conversation = Conversation((ASK,), (ToolSpec("clock", "<|end|>", parameters),))
    assert slots.split(turns_of(walker).text(slots, conversation)) == [
        Segment("<|end|>", foreign=True),
        Segment("x:string:"),
        Segment("a <b>", foreign=True),
        Segment("What time?", foreign=True),
    ]


def test_the_constant_text_is_what_other_prompts_begin_with() -> None:
    slots = Slots()
    turns = turns_of(HERMES)
    conversation = Conversation(
        (SYSTEM, ASK, Message("assistant", "12"), Message("user", "?")), (TOOL,), constant=3
    )
    constant = turns.constant_text(slots, conversation)
    assert constant.endswith("</><user>")
    assert turns.text(slots, conversation).startswith(constant)


OTHER = ToolSpec("lamp", "Switches.", {"type": "object", "properties": {}})


def test_several_tools_are_shown_as_the_template_shows_them() -> None:
    prompt = text(HERMES, Conversation((SYSTEM, ASK), (TOOL, OTHER)))
    shown = prompt.split("Tools:\n")[1].split("</S>")[0].splitlines()
    assert [json.loads(line)["function"]["name"] for line in shown] == ["clock", "lamp"]
    plain = text(GEMMA, Conversation((SYSTEM, ASK), (TOOL, OTHER)))
    assert "You may call these functions" in plain
    assert plain.index('"name": "clock"') < plain.index('"name": "lamp"')


def test_a_call_begins_only_where_it_is_clear_of_what() -> None:
    with pytest.raises(EngineError, match="and no other"):
        text(HERMES, Conversation((ASK,), (TOOL, OTHER), begin_call=True))


CALLS = Message("assistant", "Both.", (("clock", '{"place": "Rome"}'), ("lamp", "{}")))


def test_several_calls_stand_in_one_message_and_each_result_names_its_call() -> None:
    named = HERMES.replace("'<user>RESULT '", "'<user>' + m.name + m.tool_call_id + ' '")
    talk = Conversation((ASK, CALLS, Message("tool", "12:04"), Message("tool", "on")), (TOOL, OTHER))
    prompt = text(named, talk)
    assert prompt.count("<call>") == 2
    assert prompt.endswith("<user>clockcall00000 12:04</><user>lampcall00001 on</><assistant>")
    plain = text(GEMMA, talk)
    assert (
        'Both.\n{"name": "clock", "arguments": {"place": "Rome"}}\n{"name": "lamp", "arguments": {}}' in plain
    )


@pytest.mark.parametrize("source", [HERMES, GEMMA])
@pytest.mark.parametrize("arguments", ["{", "", "x", '{"a": "'])
def test_b3_calls_of_a_history_that_are_no_json_do_not_stop_it(source: str, arguments: str) -> None:
    talk = (ASK, Message("assistant", "", (("clock", arguments),)), Message("tool", "12:04"), ASK)
    assert "12:04" in text(source, Conversation(talk, (TOOL,)))
