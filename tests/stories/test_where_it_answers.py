"""Where the bot answers, and which agent it is."""

import asyncio

from google.genai import types

from agents import Agent, LlmResponse
from bot.playground import ANA, BOT
from tests.stories.conftest import Opening
from tests.stories.office import Office


async def test_a_mention_in_a_routed_channel_starts_a_thread(office: Office):
    """Who mentions the bot in an agent's channel is answered by that agent, in a thread."""
    thread = await office.ask("please reimburse 50 dollars for lunch")
    answer = await office.answer(thread, "Paid")
    assert answer["thread_ts"] == thread
    assert office.amounts() == [50]


async def test_every_message_in_such_a_thread_is_answered(office: Office):
    """Inside the thread nobody has to mention the bot again."""
    thread = await office.ask("please reimburse 50 dollars for lunch")
    await office.answer(thread, "Paid")
    await office.slack.say("ben", "expenses", "and 12 dollars for a taxi", thread_ts=thread)
    await office.answer(thread, "taxi")
    assert office.amounts() == [50, 12]


async def test_a_message_beside_a_thread_is_not_answered(office: Office):
    """In a channel with `answer: thread`, talk among people is left alone."""
    said = await office.slack.say("ana", "expenses", "please reimburse 70 dollars for shoes")
    reply = await office.slack.say("ben", "expenses", "7 dollars, really?", thread_ts=said.ts)
    thread = await office.ask("please reimburse 50 dollars for lunch")
    await office.answer(thread, "Paid")
    assert [said.status, reply.status] == [200, 200]
    assert office.heard(said.ts) is None
    assert office.amounts() == [50]


async def test_a_channel_that_answers_everything(open_office: Opening):
    """With `answer: all`, every message in the channel is answered, in its own thread."""
    routes = {"#expenses": {"agent": "reimbursement", "answer": "all"}}
    office = await open_office(routes=routes)
    said = await office.slack.say("ana", "expenses", "please reimburse 20 dollars for a taxi")
    assert (await office.answer(said.ts, "Paid"))["thread_ts"] == said.ts


async def test_direct_messages_are_always_answered(office: Office):
    """In a DM the agent is the one whose words fit; no mention, no route."""
    await office.slack.dm("ana", "please reimburse 30 dollars for lunch")
    await office.slack.wait_for(lambda: office.slack.find("Paid", office.slack.dms("ana")))
    assert [payment["requester"] for payment in office.paid()] == [ANA.id]


async def test_an_unrouted_mention_hears_which_agents_there_are(office: Office):
    """Where no agent is at home, the bot says who there is and what one may say to them."""
    thread = await office.ask("hello?", where="general")
    answer = await office.answer(thread, "reimbursement", where="general")
    assert "time_off" in answer["text"]
    assert "Please reimburse 42.50" in answer["text"]


async def test_an_unclear_first_dm_hears_which_agents_there_are(office: Office):
    """A DM that fits no agent is answered with the same sentence."""
    await office.slack.dm("ben", "good morning")
    found = await office.slack.wait_for(
        lambda: office.slack.find("reimbursement:", office.slack.dms("ben"))
    )
    assert found["user"] == BOT.id


async def test_joining_a_channel_is_followed_by_the_same_sentence(office: Office):
    """Invited into a channel, the bot introduces its agents there."""
    await office.slack.join(BOT, "random")
    found = await office.slack.wait_for(
        lambda: office.slack.find("reimbursement:", office.slack.messages("random"))
    )
    assert "Say “" in found["text"]


async def test_a_mention_is_one_message_though_slack_tells_it_twice(office: Office):
    """Slack delivers a mention as `app_mention` and as `message`; it is answered once."""
    said = await office.slack.mention("ana", "expenses", "please reimburse 50 dollars for lunch")
    assert sorted(each.kind for each in said.deliveries) == ["app_mention", "message"]
    await office.answer(said.ts, "Paid")
    thread = office.slack.thread("expenses", said.ts)
    assert len([message for message in thread if message["user"] == BOT.id]) == 1
    assert office.amounts() == [50]


async def test_what_bots_say_is_not_answered(office: Office):
    """A message of another bot never wakes an agent, so two bots cannot talk for ever."""
    expenses = office.slack.workspace.channel("expenses").id
    delivered = await office.slack.deliver_event(
        {
            "type": "message",
            "subtype": "bot_message",
            "bot_id": "B0OTHERBOT1",
            "text": f"<@{BOT.id}> please reimburse 50 dollars for oil",
            "ts": "1700000000.000100",
            "channel": expenses,
            "channel_type": "channel",
        }
    )
    thread = await office.ask("please reimburse 5 dollars for tea")
    await office.answer(thread, "Paid")
    assert delivered.status == 200
    assert office.amounts() == [5]


async def test_a_stranger_hears_why_nobody_answers(open_office: Opening):
    """Somebody of another company who names the bot is told once, in private, and nothing runs."""
    office = await open_office(routes={"#partners": "reimbursement"})
    for _ in range(2):
        await office.ask("please reimburse 5 dollars for tea", who="pat", where="partners")
    await office.note("pat", "people of the company that runs me", where="partners")
    thread = await office.ask("please reimburse 6 dollars for tea", where="partners")
    await office.answer(thread, "Paid", where="partners")
    assert (
        len(office.slack.visible("pat", "partners"))
        == len(office.slack.visible("ana", "partners")) + 1
    )
    assert office.amounts() == [6]


async def test_a_thread_shows_that_an_answer_is_on_its_way(open_office: Opening):
    """While the model is at work the thread says so; the answer takes it away."""
    answered = asyncio.Event()

    class Slow:
        async def generate_content_async(self, request, *, stream=False):
            await answered.wait()
            part = types.Part(text="Here I am.")
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    agent = Agent(name="reimbursement", model=Slow())
    office = await open_office(agents=[agent], routes={"#expenses": "reimbursement"})
    thread = await office.ask("are you there?")
    await office.slack.wait_for(lambda: office.slack.status("expenses", thread))
    answered.set()
    await office.answer(thread, "Here I am.")
    assert office.slack.status("expenses", thread) == ""
