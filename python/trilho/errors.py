"""The errors."""

from typing import Any, Dict, Literal, Optional, Tuple, Type

Outcome = Literal["none", "unknown"]
"""Whether a failed call took effect.

none: this call did nothing; an earlier call under the same idempotency key may have.
unknown: the call may have taken effect.
"""


class TrilhoError(Exception):
    """The base of all errors of this package."""


class OutcomeUnknown(TrilhoError):
    """The call may have taken effect. Raised together with ApiError or ConnectionFailed.

    A call with an idempotency key: send it again with the same key, which is safe, or look for it with
    `list(idempotency_key=…)`. For other calls, `advice` says how to find out.
    """

    advice: str
    """How to find out what happened."""


class ApiError(TrilhoError):
    """The server refused the call. Decide by `code`; a code that this version does not know is passed on as text."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        type: str,
        code: str,
        outcome: Outcome,
        param: Optional[str] = None,
        details: Optional[Dict[str, Any]] = None,
        doc_url: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        advice: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        """The HTTP status."""
        self.type = type
        """The class of the error; use it for codes that you do not handle."""
        self.code = code
        self.outcome: Outcome = outcome
        self.param = param
        """The field that caused the error, if any."""
        self.details: Dict[str, Any] = details or {}
        """Further fields of some codes; `trilho.types` has a class for each: InsufficientBalanceDetails, …"""
        self.doc_url = doc_url
        """The documentation page of this code."""
        self.request_id = request_id
        """The id of the request in the server's log."""
        self.retry_after = retry_after
        """Seconds to wait before a retry, if the server said so."""
        self.advice = advice

    def __str__(self) -> str:
        where = f" ({self.request_id})" if self.request_id else ""
        advice = f" {self.advice}" if self.advice else ""
        return f"{self.status} {self.code}: {self.message}{advice}{where}"

    def __reduce__(self) -> Tuple[Any, ...]:
        return _rebuild, (type(self), self.message, {**self.__dict__})


class ConnectionFailed(TrilhoError):
    """The call got no response: the connection was refused or cut, or the response took too long."""

    def __init__(self, message: str, *, outcome: Outcome, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.outcome: Outcome = outcome
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.message} {self.advice}".rstrip()

    def __reduce__(self) -> Tuple[Any, ...]:
        return _rebuild, (type(self), self.message, {**self.__dict__})


class ApiOutcomeUnknown(ApiError, OutcomeUnknown):
    """An error response after which the call may still have taken effect: a 5xx, or a response of a proxy."""


class ConnectionOutcomeUnknown(ConnectionFailed, OutcomeUnknown):
    """No response, and the call may have taken effect."""


class StillOpen(TrilhoError, TimeoutError):
    """The payment had not ended when the time of `wait_for_end` was up. This is not a failure: it may still complete."""

    def __init__(self, message: str, last: Any = None) -> None:
        super().__init__(message)
        self.last = last
        """The payment as it was read last; None if it could not be read."""

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (str(self), self.last)


class SignatureError(TrilhoError):
    """The request was not signed by Trilho, was changed, or is too old. Answer 400 and do nothing else."""


def _rebuild(kind: Type[TrilhoError], message: str, fields: Dict[str, Any]) -> TrilhoError:
    error = Exception.__new__(kind, message)
    error.__dict__.update(fields)
    return error
