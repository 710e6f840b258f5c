"""What can go wrong around a call: a full disk, Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
from collections.abc import Iterator
from typing import NoReturn


def no_space(*_: object, **__: object) -> NoReturn:
    """Fail as a write to a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextlib.contextmanager
def ctrl_c(seconds: float = 0.5) -> Iterator[None]:
    """Press Ctrl-C after some time inside the block, which must not end before."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, previous)
