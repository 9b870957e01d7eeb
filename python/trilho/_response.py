"""Turns a response into the result or an error."""

import json
import re
from typing import Any, Dict, Mapping, Optional, Union

from ._http import RawResponse
from ._operation import Operation, Repeat, read_amounts
from ._operations import DETAILS
from .errors import ApiError, ApiOutcomeUnknown, Outcome

ADVICE: Mapping[Repeat, str] = {
    "safe": "To send it again is safe.",
    "idempotency_key": "Send it again with the same idempotency_key, which is safe, or look: list(idempotency_key=…).",
    "idempotent": "To send it again is safe.",
    "harmless": "To send it again is safe.",
    "once": "To send it again is safe: a refusal then says that it had happened.",
    "never": "Look whether it has happened before you send it again.",
}

# 5xx codes that guarantee that nothing moved; any other 5xx may come after a commit.
NOTHING_MOVED = ("rail_unavailable", "price_unavailable")


class Failure:
    """An attempt that failed."""

    def __init__(self, error: Any, not_processed: bool, final: bool = False) -> None:
        self.error = error
        self.not_processed = not_processed
        """The server certainly did not act on the request, so even a call that must not happen twice can be sent again."""
        self.final = final
        """A retry would fail in the same way."""


class Success:
    def __init__(self, data: Any) -> None:
        self.data = data


def read_response(raw: RawResponse, operation: Operation, doubt: bool) -> Union[Success, Failure]:
    ok = 200 <= raw.status < 300
    if ok and operation.media and raw.headers.get("content-type", "").split(";")[0].strip() == operation.media:
        return Success(raw.body)
    data = _parse(raw.body)
    if ok and not operation.media and _is_wanted(data, raw.status, operation.has):
        return Success(read_amounts(data, operation.got))
    told = _error_in(data)
    code: Optional[str] = told["code"] if told else None
    outcome = _outcome_of(operation.repeat, raw.status, code, doubt)
    kind = ApiOutcomeUnknown if outcome == "unknown" else ApiError
    fields = told or {}
    details = fields.get("details")
    error = kind(
        fields.get("message") or _explain(raw, operation),
        status=raw.status,
        type=fields.get("type", "api_error"),
        code=code or "unexpected_response",
        outcome=outcome,
        param=fields.get("param"),
        details=read_amounts(details, DETAILS.get(code or "")) if isinstance(details, dict) else None,
        doc_url=fields.get("doc_url"),
        request_id=raw.headers.get("x-request-id"),
        retry_after=_seconds_of(raw.headers.get("retry-after")),
        advice=f"It may have happened. {ADVICE[operation.repeat]}" if outcome == "unknown" else "",
    )
    return Failure(error, not_processed=raw.status == 429 and told is not None)


def _error_in(data: Any) -> Optional[Dict[str, Any]]:
    """The error object of Trilho, if the body is one. The error of a proxy says nothing about what the server did."""
    told = data.get("error") if isinstance(data, dict) else None
    if not isinstance(told, dict) or not all(isinstance(told.get(name), str) for name in ("type", "code", "message")):
        return None
    return told if str(told.get("request_id", "")).startswith("req_") else None


def _is_wanted(data: Any, status: int, has: Optional[str]) -> bool:
    """Whether the body is a response of Trilho: a proxy that answers for an unreachable server may send JSON too."""
    if has == "" or (has is None and status == 204):
        return status == 204
    if has is None:
        return isinstance(data, (dict, list))
    if not isinstance(data, dict):
        return False
    return isinstance(data.get("data"), list) if has == "data" else has in data


def _settles(repeat: Repeat, status: int, code: str) -> bool:
    """Whether a refusal also settles the outcome of earlier attempts, even of one still in flight. With an idempotency
    key, a refusal by a business rule is stored under the key, and a conflicting key stays conflicting. Without a key, a
    later arrival may be accepted where this one was refused, except for an expired quote."""
    if repeat == "idempotency_key":
        return status == 422 or code == "idempotency_conflict"
    return code == "quote_expired"


def _outcome_of(repeat: Repeat, status: int, code: Optional[str], doubt: bool) -> Outcome:
    if repeat == "safe":
        return "none"
    if code is None or (doubt and not _settles(repeat, status, code)):
        return "unknown"
    may_have = status < 300 or status == 408 or status >= 500
    return "unknown" if may_have and code not in NOTHING_MOVED else "none"


def _explain(raw: RawResponse, operation: Operation) -> str:
    """Explains a response that is not from Trilho: a proxy or another server sent it."""
    call = f"{operation.method} {operation.path.split('?')[0]}"
    if not 300 <= raw.status < 400:
        return f"{call} got {raw.status} and no JSON of Trilho. Is base_url right, and what stands in between?"
    place = raw.headers.get("location")
    to = f" to {place}" if place else ""
    return f"{call} is redirected{to}. Redirects are not followed: set base_url to where the server is."


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return None


def _seconds_of(text: Optional[str]) -> Optional[int]:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,9}", text) else None
