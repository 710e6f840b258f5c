"""What can go wrong around a call: a full disk, Ctrl-C."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import threading
import time
from collections.abc import Iterator
from typing import NoReturn


def no_space(*_: object, **__: object) -> NoReturn:
    """Fail as a write to a full disk does."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def press_ctrl_c(computed: float) -> threading.Event:
    """Press Ctrl-C once this process has computed for some seconds more; the event, when set, calls it off.

    Seconds of the processor: on a busy machine, seconds of the clock may pass before anything has begun.
    """
    until = time.process_time() + computed
    called_off = threading.Event()

    def press() -> None:
        while time.process_time() < until:
            if called_off.wait(0.01):
                return
        if not called_off.is_set():
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    return called_off


@contextlib.contextmanager
def ctrl_c(computed: float = 0.5) -> Iterator[None]:
    """Press Ctrl-C after some seconds of computing inside the block, which must not end before."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    called_off = press_ctrl_c(computed)
    try:
        yield
    finally:
        called_off.set()
        signal.signal(signal.SIGINT, previous)
