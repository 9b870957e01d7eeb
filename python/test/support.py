"""Servers for tests: one that answers as it is told, and the real one, whose address the environment has."""

import json
import os
import socketserver
import ssl
import threading
import unittest
from http.server import BaseHTTPRequestHandler
from typing import Any, Dict, List, Optional, Tuple, Union

import trilho
import trilho._send

CUT = "cut"
SILENCE = "silence"
HALF = "half"
Reply = Union[str, Tuple[Any, ...]]
"""What happens to a request: cut, silence, half of a response, or (status, body, headers)."""


def own(code: str) -> Dict[str, Any]:
    """An error object of Trilho."""
    error = {"type": "api_error", "code": code, "message": "No.", "doc_url": "http://a.b", "request_id": "req_1"}
    return {"error": error}


class Stage:
    """A server that gives these replies in turn, and from then on the last."""

    def __init__(self, *replies: Reply, certificate: str = "") -> None:
        self.replies: List[Reply] = list(replies)
        self.seen: List[Dict[str, Any]] = []
        self.connections = 0
        self.leaving = threading.Event()
        stage = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                stage.connections += 1
                super().setup()

            def handle_any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                stage.seen.append({"method": self.command, "path": self.path, "headers": dict(self.headers), "body": body})
                reply = stage.replies.pop(0) if len(stage.replies) > 1 else stage.replies[0]
                stage.answer(self, reply)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def log_message(self, *given: Any) -> None:
                pass

        class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, *given: Any) -> None:
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def answer(self, handler: Any, reply: Reply) -> None:
        if reply == CUT:
            handler.close_connection = True
            handler.connection.close()
            return
        if reply == SILENCE:
            self.leaving.wait(60)
            handler.close_connection = True
            return
        if reply == HALF:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
            handler.close_connection = True
            return
        assert isinstance(reply, tuple)
        status, body, headers = (*reply, "<html>", {})[:3] if len(reply) == 1 else (*reply, {})[:3]
        content = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        if status != 204:
            handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        if status != 204:
            handler.wfile.write(content)

    def stop(self) -> None:
        self.leaving.set()
        self.server.shutdown()
        self.server.server_close()


class Case(unittest.TestCase):
    """No test waits between attempts, unless the server says so."""

    def setUp(self) -> None:
        self.addCleanup(setattr, trilho._send, "FIRST_WAIT", trilho._send.FIRST_WAIT)
        trilho._send.FIRST_WAIT = 0.0

    def stage(self, *replies: Reply, certificate: str = "") -> Stage:
        stage = Stage(*replies, certificate=certificate)
        self.addCleanup(stage.stop)
        return stage

    def client(self, stage: Stage, **options: Any) -> trilho.Trilho:
        client = trilho.Trilho(**{"key": "svc_test_sk_1", "base_url": stage.url, **options})
        self.addCleanup(client.close)
        return client


def pay(client: trilho.Trilho, **more: Any) -> Any:
    return client.pix.payouts.create(
        **{
            "customer_id": "cus_1",
            "amount": 1,
            "counterparty": {"type": "pix_key", "pix_key": "529.982.247-25"},
            "idempotency_key": "job",
            **more,
        }
    )


def real_client(**options: Any) -> trilho.Trilho:
    return trilho.Trilho(**{"key": os.environ["TRILHO_KEY"], "base_url": os.environ["TRILHO_URL"], **options})


def needed(name: str) -> str:
    value: Optional[str] = os.environ.get(name)
    if not value:
        raise unittest.SkipTest(f"{name} is not set: test/python/python.test.ts sets it")
    return value
