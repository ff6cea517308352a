"""The summary agent: a text goes to another agent as it is, whose answer is the answer."""

from google.genai import types

from agents import InMemorySessionService, Runner
from agents.runtime.rehearsal import RehearsalModel
from agents.runtime.testing import ScriptedModel, call
from agents.summary import summary_agent
from tests.agents.talk import hears, says

TEXT = (
    "Please sum this up: The move is put off to May. The lease ends in June, and the new rooms are"
    " ready in April. Boxes come by post. Ana orders the van. Ben tells the landlord."
)


def runner(model: RehearsalModel | ScriptedModel) -> Runner:
    """The agent in sessions of its own."""
    return Runner(
        agent=summary_agent(),
        session_service=InMemorySessionService(),
        models=model,
        auto_create_session=True,
    )


async def test_the_nested_agents_words_are_the_answer() -> None:
    """The text arrives there unchanged; the outer model is not asked again."""
    model = ScriptedModel([call("summarizer", request=TEXT), "The move is in May."])
    events = await hears(runner(model), types.Part(text=TEXT))
    assert [text for event in events for text in event.texts()] == ["The move is in May."]
    assert events[-1].is_final_response()
    outer, inner = model.requests
    assert inner.contents[-1].parts[0].text == TEXT
    assert "sum texts up" in inner.system_instruction
    assert [tool.name for tool in outer.tools] == ["summarizer"]


async def test_in_rehearsal_a_summary_is_sensible() -> None:
    """Without an LLM it is the sentences that matter most, and shorter than the text."""
    told = await says(runner(RehearsalModel()), TEXT)
    assert told == "The move is put off to May. The lease ends in June, and the new rooms are" + (
        " ready in April."
    )


async def test_a_second_text_is_summed_up_alone() -> None:
    """What was said before is no part of the next text."""
    talk = runner(RehearsalModel())
    await says(talk, TEXT)
    told = await says(talk, summary_agent().examples[0])
    assert "landlord" not in told
    assert told == "The lease ends in June, and the new rooms are ready in April."


async def test_without_a_text_it_asks_for_one() -> None:
    """A greeting is answered, and is not summed up."""
    assert "Sum up a text" in await says(runner(RehearsalModel()), "hi")
