"""Where a key may go, and where it may not be seen."""

import http.client
import io
import logging
import os
import pickle
import ssl
import threading
import traceback
from contextlib import redirect_stdout
from typing import Any, List

import trilho
from support import CUT, Case, needed, own, pay
from trilho import ApiError, ConnectionFailed, LogEntry, Trilho

LIVE = "svc_live_sk_0123456789"
KEY = "svc_test_sk_0123456789"


class Settings(Case):
    def test_a_live_key_goes_over_http_to_this_machine_only(self) -> None:
        for url in ("http://pay.example.com", "http://127.0.0.1.example.com", "http://10.0.0.1", "http://[::2]"):
            with self.assertRaisesRegex(ValueError, "over https only"):
                Trilho(key=LIVE, base_url=url)
            with self.assertRaisesRegex(ValueError, "over https only"):
                Trilho(key=f" {LIVE}\n", base_url=url)
            with self.assertRaisesRegex(ValueError, "over https only"):
                Trilho(key=lambda: LIVE, base_url=url).usage.get()
            Trilho(key=KEY, base_url=url)
        for url in ("http://127.0.0.1:8080", "http://127.9.9.9", "http://localhost:1", "http://[::1]:1", "https://a.b"):
            Trilho(key=LIVE, base_url=url)

    def test_says_what_is_missing_or_wrong_and_never_shows_a_key(self) -> None:
        environment = dict(os.environ)
        self.addCleanup(os.environ.update, environment)
        os.environ.pop("TRILHO_KEY", None)
        os.environ.pop("TRILHO_URL", None)
        with self.assertRaisesRegex(TypeError, "There is no API key: pass `key`, or set TRILHO_KEY."):
            Trilho()
        with self.assertRaisesRegex(ValueError, "^`key` is not an API key: it looks like svc_live_sk_…"):
            Trilho(key=f"{KEY}\nX-Evil: 1")
        for url in ("pay.example.com", "ftp://a.b", "https://a.b?x=1", "https://a.b#c", "https://a b", "https://a:x"):
            with self.assertRaisesRegex(ValueError, "is not the address of a server"):
                Trilho(key=KEY, base_url=url)
        for url in ("https://:s3cret@a.b", "https://s3cret@a.b", "https://u:s3/cret@a.b", "u:s3cret@a.b"):
            with self.assertRaisesRegex(ValueError, r"^'(https://)?…@a\.b' is not the address"):
                Trilho(key=KEY, base_url=url)
        os.environ.update(TRILHO_KEY=LIVE, TRILHO_URL="https://pay.example.com")
        for unset in (None, ""):
            with self.assertRaisesRegex(TypeError, "`key` is given and not set: leave it out to use TRILHO_KEY."):
                Trilho(key=unset)  # type: ignore[arg-type]
            with self.assertRaisesRegex(TypeError, "`base_url` is given and not set"):
                Trilho(key=KEY, base_url=unset)  # type: ignore[arg-type]
        self.assertEqual(repr(Trilho()), "Trilho(base_url='https://pay.example.com')")

    def test_certificates_are_verified_always(self) -> None:
        careless = ssl.create_default_context()
        careless.check_hostname = False
        careless.verify_mode = ssl.CERT_NONE
        with self.assertRaisesRegex(ValueError, "does not verify the server"):
            Trilho(key=KEY, base_url="https://a.b", ssl_context=careless)
        certificate = needed("CERTIFICATE")
        stage = self.stage((200, {"minute": {}}), certificate=certificate)
        with self.assertRaisesRegex(ConnectionFailed, "CERTIFICATE_VERIFY_FAILED.*It was not sent") as told:
            pay(self.client(stage, key=LIVE))
        self.assertEqual((told.exception.outcome, stage.seen, stage.connections), ("none", [], 1))
        own_authority = ssl.create_default_context(cafile=certificate)
        client = self.client(stage, key=LIVE, ssl_context=own_authority)
        for _ in range(3):
            client.usage.get()
        self.assertEqual((len(stage.seen), stage.connections), (3, 2))
        with self.assertRaisesRegex(ConnectionFailed, "CERTIFICATE_VERIFY_FAILED"):
            elsewhere = stage.url.replace("127.0.0.1", "localhost")
            self.client(stage, base_url=elsewhere, ssl_context=own_authority).usage.get()

    def test_user_agent_headers_and_path(self) -> None:
        stage = self.stage((200, {"minute": {}}))
        client = self.client(stage, key=f"{KEY}\n", base_url=f"{stage.url}/trilho/", user_agent="shop/1.0")
        client.with_options(headers={"X-Trace": "1", "Authorization": "Bearer other"}).usage.get()
        (request,) = stage.seen
        headers = {name.lower(): value for name, value in request["headers"].items()}
        self.assertEqual(request["path"], "/trilho/v1/usage")
        self.assertRegex(headers["user-agent"], r"^shop/1\.0 trilho-python/[\d.]+ Python/3\.")
        self.assertEqual((headers["authorization"], headers["x-trace"]), (f"Bearer {KEY}", "1"))
        with self.assertRaises(ValueError):
            client.with_options(headers={"X-Evil": "1\r\nHost: a.b"})


class Places(Case):
    def test_never_to_where_a_redirect_leads(self) -> None:
        elsewhere = self.stage((200, {}))
        moved = self.stage((307, "", {"location": f"{elsewhere.url}/v1/usage"}))
        with self.assertRaisesRegex(ApiError, "set base_url"):
            self.client(moved).usage.get()
        self.assertEqual(elsewhere.seen, [])

    def test_never_to_another_path_than_the_methods(self) -> None:
        client = Trilho(key=KEY)
        for wrong in ("", ".", "..", None, 5):
            with self.assertRaisesRegex(TypeError, "customers.get needs customer_id as text"):
                client.customers.get(wrong)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "is not a method"):
            client.request("GET / HTTP/1.1\r\nX: ", "/v1/usage")
        for path in ("@evil.example.com", "/v1/a b", "/v1/\r\n"):
            with self.assertRaisesRegex(ValueError, "is not a path"):
                client.request("GET", path)

    def test_with_ids_and_queries_escaped(self) -> None:
        stage = self.stage((200, {"type": "cpf", "data": [], "has_more": False, "next_cursor": None}))
        client = self.client(stage)
        client.pix.keys.get("a/../b?c#d@e", customer_id="cus_1")
        client.pix.payouts.list(idempotency_key="a&b=c d", limit=5).page()
        client.request("GET", "/v1/new?x=1", query={"at": 1, "on": True, "not": None})
        self.assertEqual(
            [request["path"] for request in stage.seen],
            [
                "/v1/pix/keys/a%2F..%2Fb%3Fc%23d%40e?customer_id=cus_1",
                "/v1/pix/payouts?limit=5&idempotency_key=a%26b%3Dc+d",
                "/v1/new?x=1&at=1&on=true",
            ],
        )

    def test_what_is_left_out_is_not_sent_and_none_is_null_where_null_means_something(self) -> None:
        stage = self.stage((200, {"id": "cus_1"}))
        client = self.client(stage)
        client.customers.update("cus_1", name="Ana", email=None)
        client.customers.update("cus_1", name="Ana", metadata=None)
        self.assertEqual([request["body"] for request in stage.seen], [b'{"name":"Ana","email":null}', b'{"name":"Ana"}'])

    def test_a_response_that_is_no_json_is_bytes(self) -> None:
        from trilho._operation import Operation

        pdf = b"%PDF-1.7\n\xff\x00"
        stage = self.stage((200, pdf, {"content-type": "application/pdf"}), (404, own("payout_not_found")), (200, "<html>"))
        client = self.client(stage, max_retries=0)
        receipt = Operation("GET", "/v1/receipt", "safe", "", media="application/pdf")
        self.assertEqual(client._send(receipt, "/v1/receipt", {}, None, 0), pdf)
        self.assertEqual(stage.seen[0]["headers"]["accept"], "application/pdf, application/json")
        for code in ("payout_not_found", "unexpected_response"):
            with self.assertRaises(ApiError) as told:
                client._send(receipt, "/v1/receipt", {}, None, 0)
            self.assertEqual(told.exception.code, code)


class Seen(Case):
    def test_the_log_has_no_secrets_and_nothing_about_people(self) -> None:
        entries: List[LogEntry] = []
        stage = self.stage((404, own("pix_key_not_found")), CUT)
        client = self.client(stage, key=KEY, max_retries=1, log=entries.append)
        with self.assertRaises(trilho.TrilhoError):
            client.pix.keys.get("529.982.247-25", customer_id="cus_1")
        with self.assertRaises(trilho.TrilhoError):
            pay(client, idempotency_key="secret-job")
        self.assertEqual([entry.path for entry in entries], ["/v1/pix/keys/{pix_key}", "/v1/pix/payouts", "/v1/pix/payouts"])
        self.assertNotRegex(repr(entries), r"529\.982|cus_1|secret-job|svc_")

    def test_the_logger_is_the_default(self) -> None:
        client = self.client(self.stage((503,), (200, {"minute": {}})), key=KEY)
        with self.assertLogs("trilho", logging.DEBUG) as logs:
            client.usage.get()
        self.assertEqual([record.levelname for record in logs.records], ["INFO", "DEBUG"])
        self.assertRegex(logs.output[0], r"trilho: GET /v1/usage attempt 1: 503 unexpected_response .*retry in")
        self.assertNotIn(KEY, "".join(logs.output))

    def test_no_key_in_errors_their_frames_the_client_or_what_is_printed(self) -> None:
        level = http.client.HTTPConnection.debuglevel
        self.addCleanup(setattr, http.client.HTTPConnection, "debuglevel", level)
        http.client.HTTPConnection.debuglevel = 1
        printed = io.StringIO()
        gone = self.stage((200,))
        gone.stop()
        with redirect_stdout(printed):
            for stage in (self.stage(CUT), self.stage((503,)), self.stage((422, own("no"))), gone):
                client = self.client(stage, key=KEY, max_retries=1)
                try:
                    pay(client)
                except trilho.TrilhoError as error:
                    self._has_no_key(error)
                self.assertNotIn(KEY, repr(client) + repr(vars(client)) + repr(vars(client._shared)))
                with self.assertRaises(TypeError):
                    pickle.dumps(client._shared.settings.key())
        self.assertNotIn(KEY, printed.getvalue())

    def _has_no_key(self, error: Any) -> None:
        seen = error
        while seen is not None:
            text = "".join(traceback.TracebackException.from_exception(seen, capture_locals=True).format())
            self.assertNotIn("Bearer", text)
            frames = seen.__traceback__
            while frames is not None:
                module = frames.tb_frame.f_globals.get("__name__", "")
                if module.startswith("trilho"):
                    self.assertNotIn(KEY, repr(frames.tb_frame.f_locals))
                frames = frames.tb_next
            seen = seen.__cause__ or seen.__context__


class Connections(Case):
    def test_are_kept_and_taken_fresh_for_what_must_not_happen_twice(self) -> None:
        stage = self.stage((200, {"id": "one", "minute": {}}))
        client = self.client(stage)
        for _ in range(5):
            client.usage.get()
        self.assertEqual(stage.connections, 1)
        client.customers.create(name="Rui", document="1")
        self.assertEqual(stage.connections, 2)

    def test_one_that_the_server_closed_is_not_used(self) -> None:
        stage = self.stage((200, {"minute": {}}, {"connection": "close"}))
        client = self.client(stage, max_retries=0)
        for _ in range(3):
            client.usage.get()
        self.assertEqual(stage.connections, 3)

    def test_threads_share_a_client(self) -> None:
        stage = self.stage((200, {"id": "po_1", "amount": "7"}))
        client = self.client(stage)
        found: List[Any] = []
        threads = [threading.Thread(target=lambda: found.append(pay(client)["amount"])) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [7] * 16)
        with self.assertRaises(RuntimeError):
            client.last_response  # of this thread

    def test_a_forked_process_uses_no_connection_of_its_parent(self) -> None:
        if not hasattr(os, "fork"):
            self.skipTest("this system has no fork")
        stage = self.stage((200, {"minute": {}}))
        client = self.client(stage)
        client.usage.get()
        child = os.fork()
        if child == 0:
            try:
                client.usage.get()
                os._exit(0)
            except BaseException:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(stage.connections, 2)
        client.usage.get()
        self.assertEqual(stage.connections, 2)
