"""Sends a request, with retries where they are safe."""

import http.client
import random
import socket
import ssl
import time
from dataclasses import dataclass
from typing import Any, Dict, Mapping, Optional, Tuple, Union

from ._http import NotSent, Pool, RawResponse
from ._log import LogEntry
from ._operation import Operation, Repeat
from ._response import ADVICE, Failure, Success, read_response
from ._secret import Secret
from ._settings import Settings
from .errors import ApiError, ConnectionFailed, ConnectionOutcomeUnknown

FIRST_WAIT = 0.5
LONGEST_WAIT = 8.0
# A longer `Retry-After` is that of a daily limit: the caller decides whether to wait.
LONGEST_RETRY_AFTER = 60


@dataclass(frozen=True)
class Response:
    """Facts about the last response of a thread, beside its data."""

    status: int
    request_id: Optional[str]
    replayed: bool
    """The response is a replay: the server had already processed this idempotency key."""
    headers: Mapping[str, str]
    """Names in lower case."""


@dataclass(frozen=True)
class Sending:
    operation: Operation
    target: str
    """The path with its parameters and query."""
    body: Optional[bytes]
    """Serialised once, so that every attempt sends the same bytes."""
    timeout: float
    max_retries: int
    headers: Mapping[str, str]
    wait: float = 0.0
    """How long the server may hold the response (long polling), in seconds."""


def is_repeatable(repeat: Repeat) -> bool:
    return repeat not in ("once", "never")


def send(settings: Settings, pool: Pool, sending: Sending) -> Tuple[Any, Response]:
    operation = sending.operation
    key = settings.key()
    doubt = False
    attempt = 0
    while True:
        attempt += 1
        started = time.monotonic()
        result, raw = _try_once(settings, pool, sending, key, doubt)
        duration = time.monotonic() - started
        path = operation.path.split("?")[0]
        if isinstance(result, Success):
            assert raw is not None
            request_id = raw.headers.get("x-request-id")
            _write_log(settings, LogEntry(operation.method, path, attempt, duration, raw.status, None, request_id))
            replayed = raw.headers.get("idempotent-replayed") == "true"
            return result.data, Response(raw.status, request_id, replayed, raw.headers)
        error = result.error
        safe = result.not_processed or is_repeatable(operation.repeat)
        soon = is_retryable(error) and _retry_after_of(error) <= LONGEST_RETRY_AFTER and not result.final
        again = safe and soon and attempt <= sending.max_retries
        retry_in = retry_delay(attempt, error) if again else None
        _write_log(
            settings,
            LogEntry(
                operation.method,
                path,
                attempt,
                duration,
                error.status if isinstance(error, ApiError) else None,
                error.code if isinstance(error, ApiError) else "no_response",
                error.request_id if isinstance(error, ApiError) else None,
                retry_in,
            ),
        )
        if retry_in is None:
            raise error
        doubt = doubt or error.outcome == "unknown"
        time.sleep(retry_in)


def _try_once(
    settings: Settings, pool: Pool, sending: Sending, key: Secret, doubt: bool
) -> Tuple[Union[Success, Failure], Optional[RawResponse]]:
    operation = sending.operation
    try:
        raw = pool.exchange(
            operation.method,
            sending.target,
            sending.body,
            _headers_of(settings, sending, key),
            sending.timeout + sending.wait,
            fresh=not is_repeatable(operation.repeat),
        )
    except NotSent as failed:
        return _no_response(sending, failed.cause, doubt, unsent=True), None
    except (OSError, ValueError, http.client.HTTPException) as cause:
        return _no_response(sending, cause, doubt, unsent=False), None
    return read_response(raw, operation, doubt), raw


def _headers_of(settings: Settings, sending: Sending, key: Secret) -> Dict[str, str]:
    media = sending.operation.media
    given = {name.lower(): value for name, value in sending.headers.items()}
    headers = {
        "accept": f"{media}, application/json" if media else "application/json",
        "user-agent": settings.user_agent,
        **given,
    }
    if sending.body is not None:
        headers["content-type"] = "application/json"
    headers["authorization"] = f"Bearer {key.reveal()}"
    return headers


def _no_response(sending: Sending, cause: BaseException, doubt: bool, unsent: bool) -> Failure:
    operation = sending.operation
    unknown = operation.repeat != "safe" and not (unsent and not doubt)
    kind = ConnectionOutcomeUnknown if unknown else ConnectionFailed
    if unsent and not doubt:
        advice = "It was not sent."
    else:
        advice = f"{'It may have happened' if unknown else 'It changes nothing'}. {ADVICE[operation.repeat]}"
    late = isinstance(cause, (socket.timeout, TimeoutError))
    why = f"no response within {sending.timeout:g} s" if late else f"{type(cause).__name__}: {cause}".rstrip(": ")
    error = kind(
        f"{operation.method} {operation.path.split('?')[0]}: {why}.",
        outcome="unknown" if unknown else "none",
        advice=advice,
    )
    error.__cause__ = _without_frames(cause)
    # A certificate that does not fit will not fit the next time.
    return Failure(error, not_processed=unsent, final=isinstance(cause, ssl.SSLCertVerificationError))


def _without_frames(cause: BaseException) -> BaseException:
    """The frames below have the key in their local variables, which some reporters of errors collect."""
    seen: Optional[BaseException] = cause
    while seen is not None:
        seen.__traceback__ = None
        seen.__cause__, seen = None, seen.__cause__ or seen.__context__
    cause.__context__ = None
    return cause


def is_retryable(error: Any) -> bool:
    """Whether a retry may succeed."""
    return isinstance(error, ConnectionFailed) or error.status in (408, 429) or error.status >= 500


def retry_delay(attempt: int, error: Any) -> float:
    """Exponential backoff with full jitter, so that clients do not retry in step; never shorter than `Retry-After`."""
    most = min(FIRST_WAIT * 2.0 ** min(attempt - 1, 10), LONGEST_WAIT)
    return float(_retry_after_of(error)) + random.random() * most


def _retry_after_of(error: Any) -> int:
    return (error.retry_after or 0) if isinstance(error, ApiError) else 0


def _write_log(settings: Settings, entry: LogEntry) -> None:
    try:
        settings.log(entry)
    except Exception:
        pass  # an exception in `log` must not make a payment look failed
