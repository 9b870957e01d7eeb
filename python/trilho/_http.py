"""One request over a connection that is kept for the next one."""

import http.client
import os
import re
import selectors
import socket
import ssl
import threading
import time
from dataclasses import dataclass
from typing import List, Mapping, Optional, Tuple
from urllib.parse import SplitResult

# Servers and proxies close idle connections; Trilho after 30 seconds.
IDLE_SECONDS = 20.0
MOST_IDLE = 32


class NotSent(Exception):
    """The connection failed before the request was sent, so the server certainly did not act on it."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True)
class RawResponse:
    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes


class Pool:
    """Connections to one server. They are never shared between threads at one time, nor with a forked process."""

    def __init__(self, base: SplitResult, context: Optional[ssl.SSLContext]) -> None:
        self._base = base
        self._context = context or (ssl.create_default_context() if base.scheme == "https" else None)
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._idle: List[Tuple[float, http.client.HTTPConnection]] = []

    def exchange(
        self,
        method: str,
        target: str,
        body: Optional[bytes],
        headers: Mapping[str, str],
        timeout: float,
        fresh: bool,
    ) -> RawResponse:
        """`timeout` is for the whole exchange. `fresh` takes a new connection: one that was kept may just be closing,
        which would leave the outcome of the call unknown."""
        deadline = time.monotonic() + timeout
        connection = None if fresh else self._take()
        if connection is None:
            connection = self._open(timeout)
        try:
            sock = connection.sock
            assert sock is not None
            _limit(sock, deadline)
            connection.request(method, self._base.path + target, body=body, headers=dict(headers))
            _limit(sock, deadline)
            response = connection.getresponse()
            received = _read(response, sock, deadline)
            found = {name.lower(): value for name, value in response.getheaders()}
            keep = not response.will_close and connection.sock is not None
            response.close()
        except BaseException:
            connection.close()
            raise
        if keep:
            self._keep(connection)
        else:
            connection.close()
        return RawResponse(response.status, found, received)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def __del__(self) -> None:
        for _, connection in getattr(self, "_idle", []):
            connection.close()

    def _open(self, timeout: float) -> http.client.HTTPConnection:
        host = self._base.hostname or ""
        connection: http.client.HTTPConnection
        if self._context is not None:
            connection = http.client.HTTPSConnection(host, self._base.port, timeout=timeout, context=self._context)
        else:
            connection = http.client.HTTPConnection(host, self._base.port, timeout=timeout)
        # A debug level that the program sets for all connections would print the key.
        connection.set_debuglevel(0)
        try:
            connection.connect()
        except Exception as cause:
            connection.close()
            raise NotSent(cause) from None
        return connection

    def _take(self) -> Optional[http.client.HTTPConnection]:
        while True:
            with self._lock:
                if self._pid != os.getpid():
                    # The parent process goes on with its connections. Closing the copies of this process sends nothing.
                    for _, connection in self._idle:
                        connection.close()
                    self._idle, self._pid = [], os.getpid()
                if not self._idle:
                    return None
                since, connection = self._idle.pop()
            if time.monotonic() - since < IDLE_SECONDS and connection.sock is not None and not _is_readable(connection.sock):
                return connection
            connection.close()

    def _keep(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if self._pid == os.getpid() and len(self._idle) < MOST_IDLE:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()


def _limit(sock: socket.socket, deadline: float) -> None:
    left = deadline - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    sock.settimeout(left)


def _read(response: http.client.HTTPResponse, sock: socket.socket, deadline: float) -> bytes:
    """The whole body. `read1` returns what has come, so that a slow response cannot outlast the deadline."""
    chunks: List[bytes] = []
    while not response.isclosed():
        if sock.fileno() >= 0:
            _limit(sock, deadline)
        chunk = response.read1(65536)
        if not chunk:
            break
        chunks.append(chunk)
    body = b"".join(chunks)
    length = response.getheader("content-length")
    expected = int(length) if length is not None and re.fullmatch("[0-9]{1,15}", length) else 0
    if response.getheader("transfer-encoding") is None and len(body) < expected:
        raise http.client.IncompleteRead(body, expected - len(body))
    return body


def _is_readable(sock: socket.socket) -> bool:
    """An idle connection has nothing to read unless the other side has closed it."""
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(sock, selectors.EVENT_READ)
            return bool(selector.select(0))
    except (OSError, ValueError):
        return True
