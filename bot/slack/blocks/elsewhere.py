"""What is said first by a message that is not where it belongs."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.slack.blocks.rendered import Rendered, moment, plain, small
from bot.turns import Thread

_CHANNEL = re.compile(r"[CG][A-Z0-9]+")
_TS = re.compile(r"\d+\.\d+")


def elsewhere(pieces: Sequence[Rendered], home: Thread, *, sentence: str) -> list[Rendered]:
    """The pieces, above them in which thread they should be and, in a sentence, why they are not.

    The sentence may be of any origin.
    """
    channel = f"<#{home.channel}>" if _CHANNEL.fullmatch(home.channel) else "our conversation"
    thread = ""
    if _TS.fullmatch(home.ts):
        thread = f", in the thread of {moment(int(float(home.ts) * 1000))}"
    belongs = small(f"This belongs in {channel}{thread}.")
    why = belongs | {"elements": [*belongs["elements"], plain(sentence)]}
    return [replace(p, blocks=[why, *p.blocks]) for p in pieces[:1]] + list(pieces[1:])
