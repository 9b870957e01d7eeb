"""Verifies webhooks. Needs nothing of the client."""

import base64
import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Any, Iterable, List, Protocol, Sequence, Tuple, Union

from ._operation import EVENT, read_amounts
from .errors import SignatureError

if TYPE_CHECKING:
    from .types import Event

TOLERANCE_SECONDS = 300.0


class Headers(Protocol):
    """Headers of a request: a dict, or what a framework has for them. The case of names does not matter."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


def verify_webhook(
    body: Union[bytes, bytearray, memoryview, str],
    headers: Headers,
    secrets: Union[str, Sequence[str]],
    *,
    tolerance: float = TOLERANCE_SECONDS,
) -> "Event":
    """Verifies the signature of a webhook and returns its event.

    body: The bytes of the body as they came.
    secrets: The secret of the endpoint, or several, as during a rotation: one match is enough.

    An event may arrive more than once: store its `id` and skip the ids that you have seen.
    """
    raw = _bytes_of(body)
    keys = [_key_of(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    del secrets  # reporters of errors collect local variables
    if not keys:
        raise ValueError("Pass the secret of the webhook endpoint: whsec_….")
    found = {str(name).lower().replace("_", "-"): value for name, value in headers.items()}
    message_id, sent_at, signatures = (_read(found, f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch("[0-9]{1,15}", sent_at) or not abs(time.time() - int(sent_at)) <= tolerance:
        keys.clear()
        raise SignatureError(f"This webhook was signed more than {tolerance:g} seconds ago, or your clock is wrong.")
    fits = _fits(keys, f"{message_id}.{sent_at}.".encode() + raw, signatures)
    keys.clear()
    if not fits:
        raise SignatureError("No signature of this webhook fits: it was changed, or the secret is of another endpoint.")
    event: Any = read_amounts(json.loads(raw), EVENT)
    result: "Event" = event
    return result


def _fits(keys: List[bytes], signed: bytes, signatures: str) -> bool:
    """Compares in constant time. The header may contain several signatures, and signatures of other versions."""
    given = [one.encode("utf-8", "surrogateescape") for one in signatures.split(" ") if one.startswith("v1,")]
    fits = False
    for key in keys:
        expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for one in given:
            fits = hmac.compare_digest(one, expected) or fits
    return fits


def _bytes_of(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(
        "verify_webhook needs the body as it came, not what was parsed from it: `request.get_data()` in Flask, "
        "`request.body` in Django, `await request.body()` in FastAPI."
    )


def _key_of(secret: object) -> bytes:
    found = re.fullmatch(r"\s*(?:whsec_)?([A-Za-z0-9+/]{20,}={0,2})\s*", secret) if isinstance(secret, str) else None
    try:
        if found:
            return base64.b64decode(found.group(1), validate=True)
    except ValueError:
        pass
    del secret, found
    raise ValueError("This is not the secret of a webhook endpoint: it looks like whsec_….")


def _read(headers: Any, name: str) -> str:
    # The names of WSGI (HTTP_WEBHOOK_ID) are taken too.
    value = headers.get(name) or headers.get(f"http-{name}")
    if isinstance(value, str) and value:
        return value
    raise SignatureError(f"The header {name} is missing: this is not a webhook of Trilho.")
