# SPDX-License-Identifier: BSD-3-Clause
"""A process that only predicts: batches of requests come by a socket, replies go back.

It ends when the server does, however that was: then its stdin ends.
"""

import os
import signal
import socket
import threading
import time
from typing import Any

from skstruct.serving.copies import Copies
from skstruct.serving.messages import EVENT, FAILED, READY, REPLIES, packed, receive
from skstruct.serving.working import Work


def run_worker(fd: int) -> None:
    """Answer what comes by a socket until it ends."""
    threading.Thread(target=_end_with_server, daemon=True).start()
    sock, lock = socket.socket(fileno=fd), threading.Lock()

    def send(*message: Any) -> None:
        data = packed(message)
        with lock:  # models are read again in a thread of its own
            sock.sendall(data)

    told = receive(sock)
    try:
        work = Work(
            told["models"], told["max_rows"],
            lambda event, **fields: send(EVENT, event, fields), copies=Copies(told["copies"]),
            other_columns=told["other_columns"],
        )  # fmt: skip
    except Exception as error:
        send(FAILED, " ".join(str(error).split()) or type(error).__name__)
        return
    send(READY)
    if told["reload_seconds"] > 0:
        watching = threading.Thread(
            target=_watch, args=(work, told["reload_seconds"]), daemon=True
        )  # fmt: skip
        watching.start()
    while (requests := receive(sock)) is not None:
        for replies in work.replies(requests):
            send(REPLIES, replies)


def _watch(work: Work, seconds: float) -> None:
    """Look at the model files again and again."""
    while True:
        time.sleep(seconds)
        work.models.refresh()


def _end_with_server() -> None:
    while os.read(0, 1024):  # not sys.stdin, whose lock would be held at the end
        pass
    os.kill(os.getpid(), signal.SIGKILL)  # also in the midst of a prediction: nobody waits for it
