"""A question put to a person about one call, their answer, and what follows from both.

The wire form is Google ADK's: a function call named `adk_request_confirmation` asks, a function
response with that call's id answers. Only the runtime writes such calls; a model that invents one
has called a tool that does not exist.
"""

import json
from typing import Any, Literal, cast

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from agents.runtime.errors import AnswerError

REQUEST_CONFIRMATION = "adk_request_confirmation"

Outcome = Literal["rejected", "expired", "cancelled", "happened"]
Verdict = Literal["run", "ask", "reject"]


class ToolConfirmation(BaseModel):
    """What a person is asked about a call, and what they answered.

    `payload` is JSON: the initial values in a question, the person's values in an answer.
    `outcome` says why a call was not confirmed; `reason` is the person's own words.
    """

    model_config = ConfigDict(extra="forbid")

    hint: str = ""
    confirmed: bool = False
    payload: JsonValue = None
    reason: str | None = None
    outcome: Outcome | None = None

    def response(self, request_id: str) -> types.Part:
        """The function response that answers a request: what was said, not what was asked."""
        return types.Part.model_validate(self.wire(request_id))

    def wire(self, request_id: str) -> dict[str, JsonValue]:
        """The part of `response` as JSON."""
        said = self.model_dump(mode="json", exclude={"hint"}, exclude_none=True)
        told: dict[str, JsonValue] = {
            "id": request_id,
            "name": REQUEST_CONFIRMATION,
            "response": said,
        }
        return {"function_response": told}


class Question(BaseModel):
    """The stored question: the call as it will run, and what the answer must look like.

    `args` are the arguments after validation, with defaults filled in (JSON), `precondition` is
    what the call depends on besides them. `payload_schema` is a JSON schema object, or None when
    nothing is asked beyond yes or no; `form` names its fields as they were declared, for no store
    keeps the order of a JSON object, and `initial` are the values that they begin with.
    `dynamic` is true when the tool's own body asked; `kept` is what it found out once before it
    did. `defaults` are arguments the model left out, and paths inside others (`order.price`),
    `secrets` those that are shown to nobody; `changes` says what is different since people were
    asked about this call. `unknown`: the body was started and interrupted, and a person has to look
    whether it happened; `unasked`, before it had asked anybody, so that letting it run answers no
    question of its own. `ended`: the run that was started before is over, so that the next one is
    another start; `returned`: it ended by asking, before it did what people agree to.
    `lasting`: the tool is long-running, so its first response is not the end of it. `build` is the
    mark of the tool that asked: another one may ask for something else. `promise` is what the
    `contract` is about.
    """

    call_id: str
    tool: str
    agent: str
    hint: str = ""
    args: dict[str, JsonValue] = Field(default_factory=dict)
    precondition: dict[str, JsonValue] = Field(default_factory=dict)
    payload_schema: dict[str, JsonValue] | None = None
    form: tuple[str, ...] = ()
    initial: dict[str, JsonValue] = Field(default_factory=dict)
    contract: str = ""
    promise: dict[str, JsonValue] = Field(default_factory=dict)
    digest: str = ""
    dynamic: bool = False
    kept: dict[str, JsonValue] = Field(default_factory=dict)
    defaults: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    unknown: bool = False
    unasked: bool = False
    lasting: bool = False
    ended: bool = False
    returned: bool = False
    build: str = ""

    def repeats(self, older: "Question") -> bool:
        """Whether this asks again for the very call that an older question was about.

        Whether an interrupted call happened is another question: no newer one answers it.
        """
        return bool(self.digest) and self.digest == older.digest and not older.unknown


def verdict(*, needed: bool, answer: ToolConfirmation | None) -> Verdict:
    """Whether a call may run now: run where nobody need agree, ask while there is no answer."""
    if answer is None:
        return "ask" if needed else "run"
    return "run" if answer.confirmed else "reject"


def request_args(call: types.FunctionCall, question: ToolConfirmation) -> dict[str, Any]:
    """The arguments of the function call that asks; `call` is the model's call with our id."""
    original = {"id": call.id, "name": call.name, "args": call.args}
    asked = {"hint": question.hint, "confirmed": question.confirmed, "payload": question.payload}
    return {"originalFunctionCall": _known(original), "toolConfirmation": _known(asked)}


def _known(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


def read_answer(response: dict[str, Any] | None) -> ToolConfirmation:
    """The answer in a function response, also when wrapped as `{"response": "<JSON text>"}`.

    Raises AnswerError when it is not of the shape
    `{confirmed, payload?, reason?, outcome?, hint?}`, or says yes and why not at once; an empty
    answer rejects.
    """
    fields = dict(response or {})
    wrapped = fields.get("response")
    if len(fields) == 1 and isinstance(wrapped, str):
        try:
            fields = json.loads(wrapped)
        except ValueError as error:
            raise AnswerError("the answer to a confirmation is not JSON") from error
    if not isinstance(cast(object, fields), dict):
        raise AnswerError("the answer to a confirmation must be an object")
    try:
        answer = ToolConfirmation.model_validate(fields)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, e["loc"])) for e in error.errors())
        raise AnswerError(f"the answer to a confirmation is malformed: {wrong}") from error
    if answer.confirmed and answer.outcome is not None:
        raise AnswerError(f"an answer is confirmed or {answer.outcome}, not both")
    if not answer.confirmed and answer.outcome is None:
        return answer.model_copy(update={"outcome": "rejected"})
    return answer


BEFORE = " again, and whether it took effect before is not known"
LATER = " Do not call it again unless a person asks for it."


def rejection(answer: ToolConfirmation, *, tool: str, unsure: bool = False) -> dict[str, JsonValue]:
    """What the model reads about a call that a person did not confirm.

    `unsure`: it was started and interrupted before they were asked.
    """
    end = f"it did not run{BEFORE if unsure else ''}."
    said: dict[str, JsonValue] = {
        "error": {
            "expired": f"Nobody answered in time whether {tool} may run, so {end}{LATER}",
            "cancelled": f"The request for {tool} was withdrawn or closed: {end}{LATER}",
        }.get(answer.outcome or "", f"A person rejected this call of {tool}; {end}"),
        "outcome": answer.outcome or "rejected",
    }
    if answer.reason:
        said["reason"] = answer.reason
    return said
