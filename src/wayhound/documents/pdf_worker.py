"""The process that reads PDFs for another one: bound in memory and time, spoken to over pipes.

A request is a frame of JSON (`most_pages`, `seconds`, `cpu_seconds`) and a frame with the file; the answer is
a frame of JSON. A frame is its length in four bytes, and its bytes.
"""

from __future__ import annotations

import gc
import json
import os
import struct
import sys
from typing import Any, BinaryIO

from wayhound.documents.document import Unread, to_data
from wayhound.documents.limits import allow_cpu, bind_process

LENGTH = struct.Struct(">I")


def main() -> int:
    """Serve until the pipe is closed. What libraries print goes nowhere near the answers."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    from wayhound.documents.pdf_read import read_pdf  # noqa: PLC0415 - loads PDFium, here alone

    bind_process(int(sys.argv[1]))
    gc.disable()  # what is built for a file has no cycles, and the process is replaced after some hundreds
    _send(answers, {"ready": True})
    while request := _frame(sys.stdin.buffer):
        wanted = json.loads(request)
        body = _frame(sys.stdin.buffer)
        allow_cpu(wanted["cpu_seconds"])
        try:
            outcome = read_pdf(body, wanted["most_pages"], wanted["seconds"])
        except MemoryError:
            outcome = Unread("too_big", "The PDF needs more memory than is allowed.")
        _send(answers, to_data(outcome))
    return 0


def _frame(stream: BinaryIO) -> bytes:
    length = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(length)[0]) if len(length) == LENGTH.size else b""


def _send(stream: BinaryIO, data: dict[str, Any]) -> None:
    frame = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    stream.write(LENGTH.pack(len(frame)) + frame)
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
