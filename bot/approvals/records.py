"""The records of approvals as a session keeps them, read one by one: a bad one spoils no other."""

from collections.abc import Mapping

from agents import Record
from bot import logs
from bot.approvals.request import Approval

REMEDY = "deploy the release that wrote it, or have the session deleted"


def readable(records: Mapping[str, Record]) -> dict[str, Approval]:
    """The approvals that can be read; each other one is left out, with a line in the log."""
    found: dict[str, Approval] = {}
    for name, record in records.items():
        try:
            found[name] = Approval.from_record(record)
        except ValueError as error:
            logs.error("approval.unreadable", approval=name, error=error, todo=REMEDY)
    return found
