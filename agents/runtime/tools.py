"""A Python function as a tool: what the model may know, and the one place its body is entered.

Whether a call may run is not decided here: the runner asks `needs_confirmation` once and stores
the answer.
"""

import functools
import logging
import math
from collections.abc import Callable
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    TypedDict,
    Unpack,
    cast,
    get_args,
    runtime_checkable,
)

from google.genai import types
from pydantic import JsonValue

from agents.runtime.approval import ApprovalPolicy
from agents.runtime.arguments import Bound, Unfit, bind
from agents.runtime.build import NO_BUILD, Build, build_of
from agents.runtime.confirmation import REQUEST_CONFIRMATION
from agents.runtime.context import ToolContext
from agents.runtime.declarations import declare, signature_of
from agents.runtime.digest import contract_version, promise_of
from agents.runtime.errors import UsageError
from agents.runtime.foreign import fits
from agents.runtime.functions import Beside, called
from agents.runtime.jsonable import to_json

log = logging.getLogger(__name__)

Effects = Literal["none", "idempotent", "once"]
PATIENCE = 20.0
"""Seconds that a function beside a body may take: less than a session is held for."""
NOTE = (
    "This starts work that takes a long time. While its last response says that it is under way, "
    "do not call it again: news will come by itself."
)


@runtime_checkable
class Tool(Protocol):
    """What the runner knows about a tool.

    `effects` says what a second run would do: nothing ("none"), the same again under the same key
    ("idempotent"), or harm ("once"). `contract` changes when an open question must be asked anew.
    `wake_on_progress`: intermediate news wakes the model. `secrets` are the arguments that nobody
    is shown. `build` tells one build of its body from another. `nested` is the agent that a Runner
    steps through in place of a body; its answer is the final one with `skip_summarization`.
    `promise` is what `contract` is about, as far as changes of it can be told. `patience` is how
    many seconds `reconcile` may take.
    """

    name: str
    declaration: types.FunctionDeclaration
    effects: Effects
    approval: ApprovalPolicy | None
    reconcile: Callable[..., Any] | None
    patience: float
    is_long_running: bool
    wake_on_progress: bool
    secrets: tuple[str, ...]
    build: Build
    nested: object | None
    skip_summarization: bool

    @property
    def promise(self) -> dict[str, JsonValue]:
        """The parameters and the effects."""
        ...

    @property
    def contract(self) -> str:
        """What people agree to besides the arguments."""
        ...

    def bind(self, args: dict[str, Any]) -> Bound | Unfit:
        """Validate and coerce what the model sent."""
        ...

    async def needs_confirmation(self, bound: Bound, tool_context: ToolContext) -> bool:
        """Whether a person must agree to this call."""
        ...

    async def precondition(self, bound: Bound, tool_context: ToolContext) -> dict[str, JsonValue]:
        """What the call depends on, as it is now; whatever goes wrong is raised."""
        ...

    async def run_async(self, *, args: Bound, tool_context: ToolContext) -> Any:
        """Run the body; whatever it raises is passed on."""
        ...


class ToolOptions(TypedDict, total=False):
    """What may be said about a function that becomes a tool; see FunctionTool."""

    require_confirmation: bool | Callable[..., Any]
    precondition: Callable[..., Any] | None
    approval: ApprovalPolicy | None
    effects: Effects
    reconcile: Callable[..., Any] | None
    patience: float
    name: str | None


class FunctionTool:
    """A Python function the model may call.

    `require_confirmation` is a bool or a predicate, sync or async, that takes any of the function's
    parameters, with `**kwargs` all of them, and a ToolContext. `precondition` takes the same and
    finds what the call depends on: a price, a balance, a list of targets. People see it with the
    call, the body has it as `tool_context.precondition`; when it finds something else right before
    the start, or fails, the call does not start. `approval` says who may agree. `effects`: see
    Tool. `reconcile` is given the idempotency key of a call whose outcome is unknown and finds out;
    None, said twice with twenty seconds in between, lets it run again. What arrives later than that
    happens twice. `patience` is how many seconds these three may take: later they count as failed.

    Raises UsageError for wrong options and DeclarationError for what cannot be declared.
    """

    is_long_running: bool = False
    wake_on_progress: bool = False
    nested: object | None = None
    skip_summarization: bool = False
    note: ClassVar[str] = ""

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        require_confirmation: bool | Callable[..., Any] = False,
        precondition: Callable[..., Any] | None = None,
        approval: ApprovalPolicy | None = None,
        effects: Effects = "once",
        reconcile: Callable[..., Any] | None = None,
        patience: float = PATIENCE,
        name: str | None = None,
    ) -> None:
        """Read the function's signature and check what was said about it."""
        self.signature = signature_of(func, name=name)
        self.name = self.signature.name
        self.declaration = declare(self.signature, note=self.note)
        self.secrets = tuple(each.name for each in self.signature.parameters if each.secret)
        self.description = self.declaration.description or ""
        self.approval = approval
        self.effects: Effects = effects
        self.reconcile = reconcile
        self.patience = patience
        self.build = build_of(func) if self.signature.context else NO_BUILD
        self._contract: str | None = None
        self._func = func
        if self.name == REQUEST_CONFIRMATION:
            raise UsageError(f"{self.name} is what the runtime asks people with: rename it")
        if effects not in get_args(Effects):
            raise UsageError(f"{self.name}: effects must be one of {', '.join(get_args(Effects))}")
        if not isinstance(cast("object", approval), ApprovalPolicy | None):
            raise UsageError(f"{self.name}: approval must be an ApprovalPolicy")
        if reconcile is not None and not fits(reconcile, "key"):
            raise UsageError(f"{self.name}: reconcile must be a function that takes a key")
        if getattr(reconcile, "__annotations__", {}).get("return") in (bool, "bool"):
            told = "must return what came of the call, None for nothing, and no bool"
            raise UsageError(f"{self.name}: reconcile {told}")
        if not _is_span(patience):
            raise UsageError(f"{self.name}: patience must be a number of seconds above 0")
        if not (isinstance(require_confirmation, bool) or callable(require_confirmation)):
            raise UsageError(f"{self.name}: require_confirmation must be True, False or a function")
        self._gate = (
            require_confirmation
            if isinstance(require_confirmation, bool)
            else Beside(require_confirmation, self.signature, role="predicate", within=patience)
        )
        self._precondition = precondition and Beside(
            precondition, self.signature, role="precondition", within=patience
        )

    @property
    def contract(self) -> str:
        """What people agree to besides the arguments: computed when the first one is asked."""
        if self._contract is None:
            self._contract = contract_version(self.signature, effects=self.effects)
        return self._contract

    @property
    def promise(self) -> dict[str, JsonValue]:
        """The parameters and the effects, as the contract has them."""
        return promise_of(self.signature, effects=self.effects)

    @property
    def may_ask(self) -> bool:
        """Whether anybody can ever be asked about a call, by the gate or by the function itself."""
        return self._gate is not False or self.signature.context is not None

    @property
    def asks_first(self) -> bool:
        """Whether a person is asked about every call, and nothing has to be found out before."""
        return self._gate is True and self._precondition is None

    def bind(self, args: dict[str, Any]) -> Bound | Unfit:
        """Validate and coerce what the model sent."""
        return bind(self.signature, args)

    async def needs_confirmation(self, bound: Bound, tool_context: ToolContext) -> bool:
        """Whether a person must agree: anything but False from a predicate means yes.

        A predicate that raises means yes as well, with a warning in the log.
        """
        if isinstance(self._gate, bool):
            return self._gate
        try:
            return await self._gate(bound.values, tool_context) is not False
        except Exception as error:  # noqa: BLE001 - whatever happens in it, nothing runs unasked
            log.warning(
                "tool.predicate_failed", extra={"tool": self.name, "error": type(error).__name__}
            )
            return True

    async def precondition(self, bound: Bound, tool_context: ToolContext) -> dict[str, JsonValue]:
        """What the call depends on, by name; a value alone is named like the function.

        Raises what the function raises, and ValueError for what has no JSON form.
        """
        if self._precondition is None:
            return {}
        found = to_json(await self._precondition(bound.values, tool_context), strict=True)
        return found if isinstance(found, dict) else {self._precondition.name: found}

    async def run_async(self, *, args: Bound, tool_context: ToolContext) -> Any:
        """Run the body and pass on whatever it returns or raises.

        A plain function runs in a thread. Of a generator's yields the last, or what it returns, is
        the result, in a Yielded.
        """
        context = {self.signature.context: tool_context} if self.signature.context else {}
        return await called(functools.partial(self._func, *args.args, **args.kwargs, **context))


class LongRunningFunctionTool(FunctionTool):
    """A function that starts something whose result comes later, as answers to the same call.

    None means nothing yet. With `wake_on_progress` intermediate news wakes the model too.
    """

    note: ClassVar[str] = NOTE

    def __init__(
        self,
        func: Callable[..., Any],
        *,
        wake_on_progress: bool = False,
        **options: Unpack[ToolOptions],
    ) -> None:
        """As FunctionTool."""
        super().__init__(func, **options)
        self.is_long_running = True
        self.wake_on_progress = wake_on_progress


def as_tool(tool: Tool | Callable[..., Any]) -> Tool:
    """A tool as it is; a plain function as a FunctionTool."""
    return tool if isinstance(tool, Tool) else FunctionTool(tool)


def _is_span(seconds: object) -> bool:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return False
    return math.isfinite(seconds) and seconds > 0
