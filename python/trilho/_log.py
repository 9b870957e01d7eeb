"""What is told of each attempt."""

import logging
from dataclasses import dataclass
from typing import Optional

logger = logging.getLogger("trilho")


@dataclass(frozen=True)
class LogEntry:
    """One attempt. It contains no keys, bodies or ids: a path parameter may be a Pix key."""

    method: str
    path: str
    """The path template: `/v1/pix/keys/{pix_key}`."""
    attempt: int
    duration: float
    """Seconds."""
    status: Optional[int] = None
    code: Optional[str] = None
    request_id: Optional[str] = None
    retry_in: Optional[float] = None
    """Seconds until the retry, if there is one."""


def write_to_logger(entry: LogEntry) -> None:
    """The default: the logger `trilho`, retries as INFO, everything else as DEBUG."""
    level = logging.DEBUG if entry.retry_in is None else logging.INFO
    if not logger.isEnabledFor(level):
        return
    result = " ".join(str(part) for part in (entry.status, entry.code, entry.request_id) if part is not None)
    again = "" if entry.retry_in is None else f", retry in {entry.retry_in:.1f} s"
    logger.log(
        level,
        "trilho: %s %s attempt %d: %s in %.3f s%s",
        entry.method,
        entry.path,
        entry.attempt,
        result,
        entry.duration,
        again,
    )
