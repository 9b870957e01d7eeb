import base64
import hashlib
import hmac
import os
import sys
import time


def verify(body: bytes, headers: dict, secret: str) -> None:
    """Raises ValueError unless Trilho sent this within the last five minutes. `body` is what came, before it is parsed;
    `headers` have lower-case names."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        raise ValueError("the secret is missing")
    sent_at = headers.get("webhook-timestamp", "")
    if not (sent_at.isascii() and sent_at.isdigit()) or abs(time.time() - int(sent_at)) > 300:
        raise ValueError("too old")
    signed = f"{headers.get('webhook-id', '')}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # While the secret is being rotated there are two signatures: one that fits is enough.
    given = headers.get("webhook-signature", "").encode().split(b" ")
    if not any(hmac.compare_digest(one, expected) for one in given):
        raise ValueError("not signed with this secret")


# Tries requests from standard input, one per line: id, time, signatures and body, with tabs between them.
if __name__ == "__main__":
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    for line in sys.stdin.buffer:
        *values, body = line.rstrip(b"\n").split(b"\t")
        headers = dict(zip(names, (value.decode() for value in values)))
        try:
            verify(body, headers, os.environ.get("TRILHO_WEBHOOK_SECRET", ""))
            print("good")
        except ValueError as error:
            print(error)
