"""The options of a client and their defaults."""

import os
import platform
import re
import ssl
from dataclasses import dataclass
from typing import Callable, Optional, Union
from urllib.parse import SplitResult, urlsplit

from ._call import Omitted
from ._log import LogEntry
from ._operations import VERSION
from ._secret import Secret

Key = Union[str, Callable[[], str]]


@dataclass(frozen=True)
class Settings:
    base: SplitResult
    key: Callable[[], Secret]
    """Called once per call. Idempotency keys belong to an API key, so a retry under another API key would pay again."""
    timeout: float
    max_retries: int
    user_agent: str
    log: Callable[[LogEntry], None]
    ssl_context: Optional[ssl.SSLContext]


def base_of(base_url: Union[str, Omitted]) -> SplitResult:
    given = _setting(base_url, "base_url", "TRILHO_URL")
    text = given if isinstance(given, str) else "http://127.0.0.1:8080"
    try:
        url = urlsplit(text)
        host, _ = url.hostname, url.port
    except ValueError:
        host, url = None, urlsplit("")
    if (
        url.scheme not in ("http", "https")
        or not host
        or url.username is not None
        or url.password is not None
        or url.query
        or url.fragment
        or re.search(r"[\s\\]", text)
    ):
        shown = re.sub(r"^(\w+://)?.*@", r"\1…@", text, flags=re.DOTALL)
        raise ValueError(f"'{shown}' is not the address of a server: it looks like https://pay.example.com.")
    return url._replace(path=url.path.rstrip("/"))


def key_source(key: Union[Key, Omitted], base: SplitResult) -> Callable[[], Secret]:
    given = _setting(key, "key", "TRILHO_KEY")
    del key
    if callable(given):
        source = given
        del given
        return lambda: _checked(source(), base)
    secret = _checked(given, base)
    del given
    return lambda: secret


def _setting(given: Union[Key, Omitted, None], name: str, variable: str) -> Optional[Key]:
    """An option that is given but not set is a mistyped variable: an error, not a reason to use the environment."""
    if isinstance(given, Omitted):
        return os.environ.get(variable) or None
    if not given:
        raise TypeError(f"`{name}` is given and not set: leave it out to use {variable}.")
    return given


def _checked(value: object, base: SplitResult) -> Secret:
    # The key is never part of an error message. A key read from a file ends with a line break.
    if value is None or value == "":
        raise TypeError("There is no API key: pass `key`, or set TRILHO_KEY.")
    secret = Secret(value.strip() if isinstance(value, str) else "")
    del value
    if not re.fullmatch(r"[\x21-\x7e]+", secret.reveal()):
        raise ValueError("`key` is not an API key: it looks like svc_live_sk_… or svc_test_sk_….")
    if secret.reveal().startswith("svc_live_") and base.scheme == "http" and not _is_loopback(base.hostname):
        raise ValueError(f"A live key goes over https only, and {base.scheme}://{base.netloc} is http.")
    return secret


def _is_loopback(host: Optional[str]) -> bool:
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host or "", re.ASCII) is not None


def checked_timeout(timeout: float) -> float:
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError(f"`timeout` is {timeout!r}: it takes seconds above 0.")
    return min(float(timeout), 1_000_000.0)  # what a socket can wait for


def checked_retries(max_retries: int) -> int:
    if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
        raise ValueError(f"`max_retries` is {max_retries!r}: it takes a whole number from 0.")
    return max_retries


def user_agent_of(own: Optional[str]) -> str:
    if own is not None and not re.fullmatch(r"[\x20-\x7e]+", own):
        raise ValueError("`user_agent` takes printable ASCII characters.")
    return f"{own + ' ' if own else ''}trilho-python/{VERSION} Python/{platform.python_version()}"


def checked_context(context: Optional[ssl.SSLContext]) -> Optional[ssl.SSLContext]:
    if context is not None and (context.verify_mode != ssl.CERT_REQUIRED or not context.check_hostname):
        raise ValueError("`ssl_context` does not verify the server. Load the certificate of your own authority instead.")
    return context
