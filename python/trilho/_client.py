"""The client."""

import json
import re
import ssl
import threading
import uuid
from types import TracebackType
from typing import Any, Callable, Dict, Mapping, Optional, Type, Union
from urllib.parse import quote, urlencode

from ._call import NULL, OMITTED, Omitted
from ._http import Pool
from ._log import LogEntry, write_to_logger
from ._operation import Operation, Repeat, write_amounts
from ._operations import OPERATIONS
from ._resources import Resources
from ._send import Response, Sending, send
from ._settings import (
    Key,
    Settings,
    base_of,
    checked_context,
    checked_retries,
    checked_timeout,
    key_source,
    user_agent_of,
)


class _Shared:
    """What a client and its `with_options` have in common."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self.settings = settings
        self.pool = pool
        self.own = threading.local()


class Trilho(Resources):
    """A client of one server, with one key. Threads may share it."""

    def __init__(
        self,
        *,
        key: Union[Key, Omitted] = OMITTED,
        base_url: Union[str, Omitted] = OMITTED,
        timeout: float = 30.0,
        max_retries: int = 3,
        log: Optional[Callable[[LogEntry], None]] = None,
        user_agent: Optional[str] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        """
        key: The API key, or a function that returns it, called once per call. Default: TRILHO_KEY.
        base_url: The address of the server. Default: TRILHO_URL, otherwise port 8080 of this machine.
        timeout: Seconds per attempt.
        max_retries: Maximum number of retries, where they are safe.
        log: Called with one entry per attempt. Default: the logger `trilho`.
        user_agent: Put in front of the User-Agent header, to tell your programs apart.
        ssl_context: For a certificate authority of your own.
        """
        base = base_of(base_url)
        source = key_source(key, base)
        del key  # reporters of errors collect local variables
        settings = Settings(
            base=base,
            key=source,
            timeout=checked_timeout(timeout),
            max_retries=checked_retries(max_retries),
            user_agent=user_agent_of(user_agent),
            log=log or write_to_logger,
            ssl_context=checked_context(ssl_context),
        )
        self._use(_Shared(settings, Pool(base, settings.ssl_context)), settings.timeout, settings.max_retries, {})

    def with_options(
        self,
        *,
        timeout: Optional[float] = None,
        max_retries: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> "Trilho":
        """The same client with other options, over the same connections: `client.with_options(timeout=5).account.get()`."""
        other = object.__new__(type(self))
        other._use(
            self._shared,
            self._timeout if timeout is None else checked_timeout(timeout),
            self._max_retries if max_retries is None else checked_retries(max_retries),
            {**self._headers, **(headers or {})},
        )
        return other

    def _use(self, shared: _Shared, timeout: float, max_retries: int, headers: Dict[str, str]) -> None:
        for name, value in headers.items():
            if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not re.fullmatch(r"[\x20-\x7e]*", value):
                raise ValueError(f"The header {name!r} is not one: use printable ASCII characters.")
        self._shared = shared
        self._timeout = timeout
        self._max_retries = max_retries
        self._headers = headers
        Resources.__init__(self, self._invoke)
        self.events._call_once = self._invoke_once

    @property
    def last_response(self) -> Response:
        """Facts about the last successful call of this thread: request id, `replayed`, headers."""
        found: Optional[Response] = getattr(self._shared.own, "last", None)
        if found is None:
            raise RuntimeError("No call of this thread has succeeded yet.")
        return found

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, object]] = None,
        body: Optional[Mapping[str, object]] = None,
        repeat: Optional[Repeat] = None,
    ) -> Any:
        """Sends a request for which this version has no method. Amounts are texts here, as in the API.

        repeat: What happens if the call is sent twice. Default: `safe` for GET, `never` for other methods.
        """
        if not path.startswith("/") or re.search(r"[^\x21-\x7e]", path):
            raise ValueError(f"{path!r} is not a path: it begins with /v1/.")
        if not re.fullmatch("[A-Z]+", method):
            raise ValueError(f"{method!r} is not a method: it looks like GET or POST.")
        operation = Operation(method, path.split("?")[0], repeat or ("safe" if method == "GET" else "never"), None)
        return self._send(operation, path, query or {}, body, self._max_retries)

    def close(self) -> None:
        """Closes the connections that are kept. The client can be used again."""
        self._shared.pool.close()

    def __enter__(self) -> "Trilho":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        base = self._shared.settings.base
        return f"Trilho(base_url='{base.geturl()}')"

    def _invoke(self, name: str, path: Mapping[str, str], fields: Mapping[str, object]) -> Any:
        return self._run(name, path, fields, self._max_retries)

    def _invoke_once(self, name: str, path: Mapping[str, str], fields: Mapping[str, object]) -> Any:
        return self._run(name, path, fields, 0)

    def _run(self, name: str, path: Mapping[str, str], fields: Mapping[str, object], max_retries: int) -> Any:
        operation = OPERATIONS[name]
        given = {
            field: None if value is NULL else value
            for field, value in fields.items()
            if value is not None and value is not OMITTED
        }
        target = re.sub(r"\{(\w+)\}", lambda match: _segment(name, match.group(1), path[match.group(1)]), operation.path)
        if operation.takes == "body":
            return self._send(operation, target, {}, given or None, max_retries)
        return self._send(operation, target, given, None, max_retries)

    def _send(
        self,
        operation: Operation,
        target: str,
        query: Mapping[str, object],
        body: Optional[Mapping[str, object]],
        max_retries: int,
    ) -> Any:
        wait = query.get("wait", 0)
        sending = Sending(
            operation=operation,
            target=target + _query_of(query, "&" if "?" in target else "?"),
            body=None if body is None else _body_of(body, operation),
            timeout=self._timeout,
            max_retries=max_retries,
            headers=self._headers,
            wait=float(wait) if isinstance(wait, int) and wait > 0 else 0.0,
        )
        data, self._shared.own.last = send(self._shared.settings, self._shared.pool, sending)
        return data


def random_key() -> str:
    """An idempotency key for a script that runs once. A job that may run again must store its own key, so that the second
    run finds the first."""
    return str(uuid.uuid4())


def _segment(name: str, field: str, value: object) -> str:
    """A path parameter. An empty value or `..` is refused, because it would change the path."""
    if not isinstance(value, str) or value in ("", ".", ".."):
        raise TypeError(f"{name} needs {field} as text, and got {value!r}.")
    return quote(value, safe="")


def _query_of(query: Mapping[str, object], mark: str) -> str:
    given = []
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, float):
            raise TypeError(f"{name} is a float. The API takes no fractions: pass an int, or text.")
        given.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return mark + urlencode(given) if given else ""


def _body_of(body: Mapping[str, object], operation: Operation) -> bytes:
    shape = operation.sent if isinstance(operation.sent, dict) else {}
    fields = {name: write_amounts(value, shape.get(name), name) for name, value in body.items()}
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
