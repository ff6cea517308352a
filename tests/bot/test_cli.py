"""The commands: what they print, and the status they end with."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bot.cli import NOBODY_READS, STOPPED, main

ROOT = Path(__file__).parents[2]

COMPLETE = {
    "SLACK_BOT_TOKEN": "xoxb-1",
    "SLACK_SIGNING_SECRET": "secret",
    "MODEL": "rehearsal",
}


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """An environment with every setting that is needed but REDIS_URL."""
    monkeypatch.chdir(tmp_path)
    for name, value in COMPLETE.items():
        monkeypatch.setenv(name, value)


def test_help_names_every_command(capsys):
    """`--help` lists the roles and the commands, one line each."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    told = capsys.readouterr().out
    assert ended.value.code == 0
    for command in (
        "web",
        "worker",
        "clock",
        "release",
        "rehearse",
        "playground",
        "manifest",
        "doctor",
    ):
        assert f"\n    {command}" in told


def test_a_command_that_does_not_exist(capsys):
    """An unknown command is told, with those there are."""
    with pytest.raises(SystemExit) as ended:
        main(["cook"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("usage: python -m bot [-h] COMMAND ...\n")
    assert "argument COMMAND: invalid choice: 'cook'" in told
    assert "'rehearse'" in told


def test_the_manifest_is_json(complete, capsys):
    """What Slack wants to read is printed whole, and nothing else."""
    assert main(["manifest"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["socket_mode_enabled"] is True


def test_a_release_without_a_store_is_let_through(complete, capsys):
    """The first release may run before the add-on has set REDIS_URL: it says so."""
    assert main(["release"]) == 0
    assert "but for REDIS_URL" in capsys.readouterr().out


def test_a_release_with_all_it_needs(complete, store_server, monkeypatch, capsys):
    """A release asks the store, and says in one sentence that all is well."""
    monkeypatch.setenv("REDIS_URL", store_server)
    assert main(["release"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Settings and store are ready."


@pytest.mark.parametrize("name", ["COUNTERSIGN_REQUIRE_DURABLE_STORE", "REQUIRE_DURABLE_STORE"])
def test_a_release_whose_store_forgets(complete, store_server, monkeypatch, capsys, name):
    """A store that must not forget and does stops the release, by either name of the setting."""
    monkeypatch.setenv("REDIS_URL", store_server)
    monkeypatch.setenv(name, "true")
    assert main(["release"]) == 69
    assert "forgets everything" in capsys.readouterr().err


def test_a_release_whose_store_is_not_there(complete, free_port, monkeypatch, capsys):
    """A store that does not answer is waited for, and then named."""
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port}/0")
    monkeypatch.setattr("bot.app.RELEASE_WAIT", 0.2)
    assert main(["release"]) == 69
    assert "REDIS_URL does not answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        pytest.param("COUNTERSIGN_ROUTES", '{"#x": "nobody"}', "nobody", id="a route"),
        pytest.param(
            "COUNTERSIGN_APPROVAL_POLICIES",
            '{"reimbursement.reimburse": {"approvers": ["@max"], "tiers": {"amount <": {}}}}',
            "amount <",
            id="a policy",
        ),
    ],
)
@pytest.mark.usefixtures("complete")
def test_a_release_that_the_bot_would_not_start(variable, value, words, monkeypatch, capsys):
    """What the agents do not fit stops the release, not the bot after it."""
    monkeypatch.setenv(variable, value)
    assert main(["release"]) == 78
    assert words in capsys.readouterr().err


def test_a_setting_that_is_wrong(complete, monkeypatch, capsys):
    """A wrong setting ends any command with 78 and one sentence."""
    monkeypatch.setenv("PORT", "many")
    assert main(["release"]) == 78
    assert capsys.readouterr().err.startswith("PORT is wrong")


@pytest.mark.parametrize("command", ["manifest", "doctor"])
def test_whoever_reads_has_enough(complete, command: str):
    """A command whose reader has gone ends as one that was piped into `head`, without a word."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "bot", command],
            stdout=writer,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            check=False,
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (NOBODY_READS, b"")


def test_a_command_that_is_stopped(complete, free_port, monkeypatch):
    """Ctrl-C ends a command with a status of its own, and no traceback."""
    monkeypatch.setenv("REDIS_URL", f"redis://127.0.0.1:{free_port}/0")
    with subprocess.Popen(
        [sys.executable, "-m", "bot", "approvals", "list"],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    ) as waiting:
        assert waiting.stderr
        said = waiting.stderr.readline()
        waiting.send_signal(signal.SIGINT)
        left = waiting.stderr.read()
    assert "store" in said
    assert (waiting.returncode, "Traceback" in left) == (STOPPED, False)


def test_a_console_without_slack(complete, store_server, free_port, monkeypatch, capsys):
    """Whoever waits at a console is told what for; in the end Slack is named, as unavailable."""
    monkeypatch.setenv("REDIS_URL", store_server)
    monkeypatch.setenv("SLACK_API_URL", f"http://127.0.0.1:{free_port}/api/")
    monkeypatch.setattr("bot.console.PATIENCE", 0.05)
    monkeypatch.setattr("bot.slack.workspace.WAIT", 1.5)
    assert main(["approvals", "list"]) == 69
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "Still waiting for the store and Slack ..."
    assert "Slack does not answer at SLACK_API_URL" in told[-1]
