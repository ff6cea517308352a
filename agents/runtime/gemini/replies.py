"""What Gemini answered -> its one outcome: an answer, a second try, or words for a person.

`ENDINGS` says for every way a reply can end what is kept of it, and what the model is told before
it is asked once more. A reply that leaves nothing to keep the second time becomes an error, whose
code a person gets a sentence about; the runtime has one for a reply that is just empty.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from google.genai import types

from agents.runtime.errors import ModelUnavailable
from agents.runtime.model import PROMPT_BLOCKED, LlmResponse

LONGEST = 100_000
"""Characters of text in a reply, or of a call's arguments: no thread or card could take more."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
MALFORMED = "Your last reply could not be read. Answer again; call only the functions you have."


@dataclass(frozen=True, slots=True)
class Ending:
    """What becomes of a reply that ended so: the parts kept, and what the model hears if none is.

    Function calls are kept only where the model got to the end of its reply.
    """

    keeps: Literal["all", "text", "nothing"] = "nothing"
    nudge: str | None = None


REFUSED = Ending()
ENDINGS: Mapping[str, Ending] = {
    "STOP": Ending("all", "Your last reply was empty. Answer again."),
    "FINISH_REASON_UNSPECIFIED": Ending("all", "Your last reply was empty. Answer again."),
    "MAX_TOKENS": Ending("text", "Your last reply was too long to be read. Answer briefly."),
    "CONTINUATION": Ending("text", "Your last reply was too long to be read. Answer briefly."),
    "OTHER": Ending(nudge="Your last reply broke off. Answer again."),
    "RECITATION": Ending(nudge="Your last reply quoted too much. Answer in your own words."),
    "LANGUAGE": Ending(nudge="Your last reply was in no language known here. Answer again."),
    "MALFORMED_FUNCTION_CALL": Ending(nudge=MALFORMED),
    "MALFORMED_RESPONSE": Ending(nudge=MALFORMED),
    "UNEXPECTED_TOOL_CALL": Ending(nudge=MALFORMED),
    "TOO_MANY_TOOL_CALLS": Ending(nudge="You called too many functions at once. Call fewer."),
    "NO_IMAGE": Ending(nudge="Answer in words."),
    "IMAGE_OTHER": Ending(nudge="Answer in words."),
    "SAFETY": REFUSED,
    "BLOCKLIST": REFUSED,
    "PROHIBITED_CONTENT": REFUSED,
    "SPII": REFUSED,
    "IMAGE_SAFETY": REFUSED,
    "IMAGE_PROHIBITED_CONTENT": REFUSED,
    "IMAGE_RECITATION": REFUSED,
    "ESCALATION": REFUSED,
    "MODEL_ARMOR": REFUSED,
    "PUP_LIMITED_DISABLED": REFUSED,
    "MISSING_THOUGHT_SIGNATURE": REFUSED,
}


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply; with a `nudge` the model is worth asking once more with that sentence."""

    response: LlmResponse
    nudge: str | None = None


def whole(chunks: Sequence[types.GenerateContentResponse], *, stream: bool) -> Reply:
    """What one response, or the chunks of a stream, make together.

    Raises ModelUnavailable when a stream broke off before its end.
    """
    finish = next((reason for chunk in reversed(chunks) if (reason := _finish(chunk))), None)
    blocked = next((reason for chunk in chunks if (reason := _blocked(chunk))), None)
    if stream and not finish and not blocked:
        raise ModelUnavailable("the stream of Gemini's reply broke off")
    usage = _usage(chunks)
    if blocked:
        message = f"Gemini does not read this: {blocked}"
        return Reply(_failed(PROMPT_BLOCKED, message, finish=finish, usage=usage))
    ending = ENDINGS.get(finish or "STOP", REFUSED)
    said = _joined(chunks)
    if any(map(_impossible, said)):
        finish, ending = "MALFORMED_FUNCTION_CALL", ENDINGS["MALFORMED_FUNCTION_CALL"]
    parts, cut = _kept(said, ending)
    if not parts and ending.keeps == "all":
        return Reply(LlmResponse(finish_reason=finish, usage=usage), ending.nudge)
    if not parts:
        message = f"Gemini gave no answer (finish reason {finish})"
        return Reply(_failed(finish, message, finish=finish, usage=usage), ending.nudge)
    cut_short = cut or ending.keeps == "text"
    return Reply(
        LlmResponse(
            content=types.Content(role="model", parts=parts),
            finish_reason=finish,
            error_code="MAX_TOKENS" if cut_short else None,
            error_message="Gemini's answer was cut off" if cut_short else None,
            usage=usage,
        )
    )


def words(chunk: types.GenerateContentResponse) -> str:
    """The text of a chunk that is meant for a person."""
    return "".join(part.text for part in _parts(chunk) if part.text and not part.thought)


def together(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The sum of two counts of tokens."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in (*one, *other)}


def _failed(
    code: str | None, message: str, *, finish: str | None, usage: Mapping[str, int]
) -> LlmResponse:
    return LlmResponse(finish_reason=finish, error_code=code, error_message=message, usage=usage)


def _joined(chunks: Sequence[types.GenerateContentResponse]) -> list[types.Part]:
    """All parts; pieces of text in a row are one, except those with a signature of their own."""
    runs: list[list[types.Part]] = []
    for chunk in chunks:
        for part in _parts(chunk):
            if runs and _goes_on(runs[-1][-1], part):
                runs[-1].append(part)
            else:
                runs.append([part])
    return [_one(run) for run in runs]


def _goes_on(last: types.Part, part: types.Part) -> bool:
    return _plain(last) and _plain(part) and last.thought == part.thought


def _plain(part: types.Part) -> bool:
    return part.text is not None and part.thought_signature is None


def _one(run: Sequence[types.Part]) -> types.Part:
    if len(run) == 1:
        return run[0]
    return run[0].model_copy(update={"text": "".join(part.text or "" for part in run)})


def _kept(parts: list[types.Part], ending: Ending) -> tuple[list[types.Part], bool]:
    """The parts that are worth keeping, and whether their text had to be cut."""
    if ending.keeps == "nothing":
        return [], False
    if ending.keeps == "text":
        parts = [part for part in parts if part.function_call is None]
    if not any(map(_says, parts)):
        return [], False
    length = sum(len(part.text or "") for part in parts)
    if length <= LONGEST:
        return parts, False
    return [part for part in map(_cut, parts) if part.function_call is None], True


def _impossible(part: types.Part) -> bool:
    """Whether a call has a name Gemini would refuse, or arguments no person could be shown."""
    call = part.function_call
    if call is None:
        return False
    return not NAME.fullmatch(call.name or "") or len(str(call.args)) > LONGEST


def _cut(part: types.Part) -> types.Part:
    return part.model_copy(update={"text": part.text[:LONGEST]}) if part.text else part


def _says(part: types.Part) -> bool:
    """Whether a part means anything to a person or to the runtime: thoughts and blanks do not."""
    if part.text is not None:
        return bool(part.text.strip()) and not part.thought
    return part.function_call is not None or part.inline_data is not None


def _parts(response: types.GenerateContentResponse) -> list[types.Part]:
    candidate = response.candidates[0] if response.candidates else None
    content = candidate.content if candidate else None
    return list(content.parts or []) if content else []


def _finish(response: types.GenerateContentResponse) -> str | None:
    candidate = response.candidates[0] if response.candidates else None
    return candidate.finish_reason.name if candidate and candidate.finish_reason else None


def _blocked(response: types.GenerateContentResponse) -> str | None:
    feedback = response.prompt_feedback
    return feedback.block_reason.name if feedback and feedback.block_reason else None


def _usage(chunks: Sequence[types.GenerateContentResponse]) -> dict[str, int]:
    """Tokens in, out, cached and thought; the last chunk that counts them counts them all."""
    usage = next((c.usage_metadata for c in reversed(chunks) if c.usage_metadata), None)
    if usage is None:
        return {}
    counted = {
        "in": usage.prompt_token_count,
        "out": usage.candidates_token_count,
        "cached": usage.cached_content_token_count,
        "thoughts": usage.thoughts_token_count,
    }
    return {name: count for name, count in counted.items() if count is not None}
