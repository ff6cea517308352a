"""`python -m bot`."""

import logging
import os
import sys
import threading

from bot.cli import main


def leave(status: int) -> None:
    """End the process, also when a tool's thread is still at work.

    Nothing stops a thread, and waiting for it would outlast the platform's patience after SIGTERM;
    its call is in the journal, as for a process that was killed.
    """
    if threading.active_count() > 1:
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    leave(main())
