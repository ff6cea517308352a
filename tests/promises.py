"""The twenty promises, each with the rule that keeps it and a test that fails without that rule.

`python -m tests.promises [NUMBER …]` takes each rule out of a copy of the source and runs its test
there: a test that passes all the same proves nothing, and is named.
"""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
SLOT = "agents/runtime/slot"


@dataclass(frozen=True)
class Promise:
    """A promise, the file and text of its rule, what stands there without it, and its test."""

    text: str
    file: str
    rule: str
    without: str
    test: str


PROMISES = {
    1: Promise(
        "No decision, no run.",
        "agents/runtime/confirmation.py",
        'return "ask" if needed else "run"',
        'return "run"',
        "tests/bot/approvals/test_run.py::test_an_approved_call_runs_once",
    ),
    2: Promise(
        "No means no.",
        "agents/runtime/confirmation.py",
        'return "run" if answer.confirmed else "reject"',
        'return "run"',
        "tests/bot/approvals/test_run.py::test_a_refused_call_never_runs",
    ),
    3: Promise(
        "One outcome: the first decision wins.",
        f"{SLOT}/decide.lua",
        "if stored.rev ~= new.rev - 1 or stored.status ~= a.source then",
        "if false then",
        "tests/agents/slot/test_approvals.py::test_only_the_next_record_is_written",
    ),
    4: Promise(
        "One start for each approval.",
        f"{SLOT}/start_call.lua",
        "if started then",
        "if false then",
        "tests/agents/slot/test_approvals.py::test_a_body_starts_once",
    ),
    5: Promise(
        "What is shown is what is stored is what runs.",
        f"{SLOT}/start_call.lua",
        "stored.digest ~= a.digest then",
        "false then",
        "tests/agents/slot/test_approvals.py::test_the_gate",
    ),
    6: Promise(
        "Drift stops, and is asked again with what differs.",
        "agents/runtime/calling.py",
        "now.digest != asked.digest",
        "False",
        "tests/bot/approvals/test_again.py::test_a_build_that_changed_the_tool",
    ),
    7: Promise(
        "Only people decide.",
        "agents/runtime/story.py",
        'if call is None or call.request != response.id or call.status != "asked":',
        "if call is None:",
        "tests/agents/test_story.py",
    ),
    8: Promise(
        "A click is authentic and fits its card.",
        "bot/approvals/decide.py",
        "if decision.button.fits(approval) and not elsewhere:",
        "if True:",
        "tests/bot/approvals/test_decide.py::test_a_forged_button",
    ),
    9: Promise(
        "Authority now, not then.",
        "bot/approvals/resolve.py",
        "if not reached(approval.policy, votes):",
        "if False:",
        "tests/bot/approvals/test_terms.py::test_what_was_approved_at_the_start",
    ),
    10: Promise(
        "Nobody approves their own request.",
        "bot/approvals/policy.py",
        "if own and not (policy.self_approval and entitled):",
        "if False:",
        "tests/bot/approvals/test_policy.py::test_refusal",
    ),
    11: Promise(
        "The quorum is exact.",
        "bot/approvals/life.py",
        "if not reached(policy, in_favour(counted.votes, vote.payload)):",
        "if False:",
        "tests/bot/approvals/test_decide.py::test_quorum",
    ),
    12: Promise(
        "Deadlines by one clock, the store's.",
        f"{SLOT}/decide.lua",
        "if not a.late_ok and stored.deadline and now >= stored.deadline then",
        "if false then",
        "tests/agents/slot/test_approvals.py::test_deadlines_are_the_stores",
    ),
    13: Promise(
        "What people enter is checked against the stored schema.",
        "bot/approvals/decision.py",
        "return check_payload(approval.payload_schema, values, before=voted), {}",
        "return values, {}",
        "tests/bot/approvals/test_decide.py::test_wrong_values",
    ),
    14: Promise(
        "Questions of one turn are decided apart, and the model waits for all.",
        "agents/runtime/story.py",
        "return not any(c.version == call.version for c in self.unsettled.values())",
        "return True",
        "tests/agents/test_steps.py",
    ),
    15: Promise(
        "What is acknowledged is stored.",
        "bot/slack/listeners.py",
        'return BoltResponse(status=503, body="")',
        'return BoltResponse(status=200, body="")',
        "tests/bot/slack/test_listeners.py::test_a_click_while_the_store_is_down_shows_a_warning",
    ),
    16: Promise(
        "No lost wake-up: the decision and the turn it makes are one change.",
        "bot/approvals/decision.py",
        "entry=None if pending else resume(after),",
        "entry=None,",
        "tests/bot/approvals/test_decide.py::test_approve",
    ),
    17: Promise(
        "One writer.",
        f"{SLOT}/commit.lua",
        "if number('fence') ~= a.fence then return { 'fence' } end",
        "",
        "tests/agents/slot/test_turns.py::test_who_is_not_the_newest_writes_nothing",
    ),
    18: Promise(
        "The audit cannot be changed quietly.",
        f"{SLOT}/audit.lua",
        "sha256(hash .. entry)",
        "sha256(entry)",
        "tests/bot/approvals/test_audit.py::test_an_export_verifies",
    ),
    19: Promise(
        "Surfaces tell the truth: nothing hidden on a card.",
        "bot/slack/text.py",
        "return shown, shown != text",
        "return text, False",
        "tests/bot/slack/test_text.py",
    ),
    20: Promise(
        "Walls between workspaces.",
        "bot/approvals/policy.py",
        "if person.team != tenant or person.is_stranger:",
        "if False:",
        "tests/bot/approvals/test_policy.py::test_refusal",
    ),
}


def main(arguments: list[str]) -> int:
    """Take the rules out one by one; 1 when a test does not miss its rule."""
    numbers = [int(each) for each in arguments] or list(PROMISES)
    idle = [number for number in numbers if not misses(PROMISES[number])]
    for number in numbers:
        verdict = "passes without its rule" if number in idle else "fails without its rule"
        sys.stdout.write(f"{number:2} {PROMISES[number].text:66} {verdict}\n")
    return 1 if idle else 0


def misses(promise: Promise) -> bool:
    """Whether the promise's test fails in a copy of the source without its rule."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("agents", "bot", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        file = copy / promise.file
        file.write_text(file.read_text("utf-8").replace(promise.rule, promise.without), "utf-8")
        command = [sys.executable, "-m", "pytest", promise.test, "-q", "-x", "-p", "no:randomly"]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
        return done.returncode == 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
