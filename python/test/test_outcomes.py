"""What is told of a call when nobody answers, or something that is not Trilho."""

import pickle
import threading
import time
from typing import Any

import trilho
from support import CUT, HALF, SILENCE, Case, own, pay
from trilho import ApiError, ConnectionFailed, LogEntry, OutcomeUnknown


class Foreign(Case):
    def test_an_answer_that_is_not_trilhos_settles_nothing(self) -> None:
        for reply in [
            (400,),
            (404,),
            (409,),
            (422,),
            (429,),
            (302, "", {"location": "https://elsewhere.example.com"}),
            (403, {"message": "Forbidden"}),
            (409, {"error": "conflict"}),
            (422, {"error": {"code": "insufficient_balance", "message": "of another API"}}),
            (400, "null"),
            (200, "{}"),
            (200, '{"status":"ok"}'),
            (200, "[]"),
            (200, '{"data":[]}'),
            (204, ""),
        ]:
            with self.subTest(reply):
                client = self.client(self.stage(reply), max_retries=0)
                with self.assertRaises(OutcomeUnknown) as told:
                    pay(client)
                error: Any = told.exception
                self.assertIsInstance(error, ApiError)
                self.assertEqual((error.code, error.outcome), ("unexpected_response", "unknown"))
                self.assertIn("idempotency_key", error.advice)
                if reply[0] >= 300:
                    with self.assertRaises(ApiError) as read:
                        client.account.get()
                    self.assertEqual(read.exception.outcome, "none")
                    self.assertNotIsInstance(read.exception, OutcomeUnknown)

    def test_it_settles_nothing_that_was_in_doubt_before(self) -> None:
        for status in (409, 422):
            stage = self.stage(CUT, (status,))
            with self.assertRaises(OutcomeUnknown):
                pay(self.client(stage))
            self.assertEqual(len(stage.seen), 2)

    def test_a_call_that_must_not_happen_twice_is_not_sent_again_for_it(self) -> None:
        for reply in ((429,), (503,), CUT, HALF):
            stage = self.stage(reply)
            with self.assertRaises(OutcomeUnknown):
                self.client(stage).customers.create(name="Rui", document="1")
            self.assertEqual(len(stage.seen), 1)

    def test_what_may_be_repeated_is(self) -> None:
        for reply in ((500,), (507,), (599,), (408,), CUT, HALF):
            stage = self.stage(reply, (201, {"id": "po_1", "amount": "1050"}))
            self.assertEqual(pay(self.client(stage))["amount"], 1050)
            self.assertEqual(len(stage.seen), 2)
            self.assertEqual(stage.seen[0]["body"], stage.seen[1]["body"])

    def test_a_deletion_is_a_204(self) -> None:
        self.assertIsNone(self.client(self.stage((204, ""))).webhook_endpoints.delete("whe_1"))  # type: ignore[func-returns-value]
        with self.assertRaises(ApiError):
            self.client(self.stage((200, "{}"))).webhook_endpoints.delete("whe_1")


class Doubt(Case):
    def test_under_an_idempotency_key(self) -> None:
        for status, code, outcome in [
            (422, "insufficient_balance", "none"),
            (422, "of_a_later_version", "none"),
            (409, "idempotency_conflict", "none"),
            (409, "of_a_later_version", "unknown"),
            (403, "customer_blocked", "unknown"),
            (400, "invalid_request", "unknown"),
        ]:
            with self.assertRaises(ApiError) as told:
                pay(self.client(self.stage(CUT, (status, own(code)))))
            self.assertEqual((told.exception.code, told.exception.outcome), (code, outcome))
            self.assertIs(isinstance(told.exception, OutcomeUnknown), outcome == "unknown")

    def test_of_a_quote(self) -> None:
        for status, code, outcome in [
            (422, "insufficient_balance", "unknown"),
            (409, "of_a_later_version", "unknown"),
            (409, "quote_expired", "none"),
        ]:
            with self.assertRaises(ApiError) as told:
                self.client(self.stage(CUT, (status, own(code)))).quotes.execute("qt_1")
            self.assertEqual((told.exception.code, told.exception.outcome), (code, outcome))

    def test_nothing_moved_where_the_code_says_so(self) -> None:
        with self.assertRaises(ApiError) as told:
            pay(self.client(self.stage((503, own("rail_unavailable"))), max_retries=0))
        self.assertEqual(told.exception.outcome, "none")

    def test_a_key_is_one_for_all_attempts_of_a_call(self) -> None:
        keys = ["svc_test_sk_old", "svc_test_sk_new", "svc_test_sk_newer"]
        stage = self.stage(CUT, (201, {"id": "po_1"}))
        client = self.client(stage, key=lambda: keys.pop(0))
        pay(client)
        pay(client)
        sent = [request["headers"]["authorization"] for request in stage.seen]
        self.assertEqual(sent, [f"Bearer svc_test_sk_{end}" for end in ("old", "old", "new")])


class Waits(Case):
    def test_no_connection_is_tried_again_and_nothing_happened(self) -> None:
        stage = self.stage((200,))
        stage.stop()
        entries: list[LogEntry] = []
        client = self.client(stage, max_retries=2, log=entries.append)
        with self.assertRaises(ConnectionFailed) as told:
            client.customers.create(name="Rui", document="1")
        self.assertEqual(told.exception.outcome, "none")
        self.assertNotIsInstance(told.exception, OutcomeUnknown)
        self.assertRegex(str(told.exception), r"^POST /v1/customers: ConnectionRefusedError.*It was not sent\.$")
        self.assertEqual([(entry.attempt, entry.code) for entry in entries], [(n, "no_response") for n in (1, 2, 3)])
        unknown = self.client(stage, base_url="http://trilho.invalid", max_retries=0)
        with self.assertRaises(ConnectionFailed) as told:
            pay(unknown)
        self.assertEqual(told.exception.outcome, "none")

    def test_after_a_cut_nobody_there_is_unknown(self) -> None:
        stage = self.stage(CUT)
        client = self.client(stage, max_retries=1, log=lambda entry: stage.stop() if entry.attempt == 1 else None)
        with self.assertRaises(OutcomeUnknown):
            pay(client)

    def test_a_wait_is_never_shorter_than_the_server_wants_it(self) -> None:
        entries: list[LogEntry] = []
        stage = self.stage((429, own("rate_limit_exceeded"), {"retry-after": "1"}))
        began = time.monotonic()
        with self.assertRaises(ApiError) as told:
            self.client(stage, max_retries=1, log=entries.append).usage.get()
        self.assertGreaterEqual(time.monotonic() - began, 1)
        self.assertEqual((len(stage.seen), told.exception.retry_after), (2, 1))
        self.assertGreaterEqual(entries[0].retry_in or 0, 1)
        self.assertIsNone(entries[1].retry_in)

    def test_a_429_of_trilho_is_repeated_also_where_nothing_else_is(self) -> None:
        stage = self.stage((429, own("rate_limit_exceeded"), {"retry-after": "0"}), (201, {"id": "cus_1"}))
        self.assertEqual(self.client(stage).customers.create(name="Rui", document="1")["id"], "cus_1")

    def test_the_window_of_a_day_is_raised_at_once(self) -> None:
        stage = self.stage((429, own("rate_limit_exceeded"), {"retry-after": "61"}))
        with self.assertRaises(ApiError):
            self.client(stage).usage.get()
        self.assertEqual(len(stage.seen), 1)

    def test_refusals_are_not_asked_twice(self) -> None:
        for status in (400, 401, 403, 404, 409, 422):
            stage = self.stage((status, own("of_a_later_version")))
            with self.assertRaises(ApiError) as told:
                self.client(stage).quotes.execute("qt_1")
            self.assertEqual((told.exception.status, told.exception.outcome), (status, "none"))
            self.assertEqual(len(stage.seen), 1)

    def test_a_response_that_does_not_come_or_not_to_its_end(self) -> None:
        client = self.client(self.stage(SILENCE), timeout=0.2, max_retries=0)
        with self.assertRaises(OutcomeUnknown) as told:
            pay(client)
        self.assertRegex(str(told.exception), r"no response within 0\.2 s\. It may have happened\. .*same idempotency_key")

    def test_a_slow_response_cannot_outlast_the_time(self) -> None:
        stage = self.stage((200, {"id": "acc_1"}))
        over = threading.Event()

        def drip(handler: Any, _: Any) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            while not over.wait(0.05):
                try:
                    handler.wfile.write(b" ")
                except OSError:
                    return

        stage.answer = drip  # type: ignore[method-assign]
        self.addCleanup(over.set)
        with self.assertRaises(ConnectionFailed):
            self.client(stage, timeout=0.5, max_retries=0).account.get()

    def test_times_that_are_none_are_refused_before_anything_is_sent(self) -> None:
        stage = self.stage((200, {"id": "acc_1"}))
        for timeout in (0, -5, float("nan"), None, True):
            with self.assertRaisesRegex(ValueError, "it takes seconds above 0"):
                self.client(stage, timeout=timeout)
        for retries in (-1, 1.5, None):
            with self.assertRaisesRegex(ValueError, "whole number from 0"):
                self.client(stage, max_retries=retries)
        self.client(stage, timeout=float("inf")).account.get()

    def test_a_log_that_raises_changes_nothing(self) -> None:
        def full(_: LogEntry) -> None:
            raise OSError("disk full")

        self.assertEqual(self.client(self.stage((200, {"id": "acc_1"})), log=full).account.get()["id"], "acc_1")


class Errors(Case):
    def test_has_what_the_server_said_and_can_be_pickled(self) -> None:
        details = {"asset": "BRL", "needed": "1050", "available": "900"}
        error = {"type": "business_error", "code": "insufficient_balance", "message": "Not enough.", "param": "amount"}
        body = {"error": {**error, "details": details, "doc_url": "http://a.b", "request_id": "req_1"}}
        with self.assertRaises(ApiError) as told:
            pay(self.client(self.stage((422, body, {"x-request-id": "req_1"}))))
        for one in (told.exception, pickle.loads(pickle.dumps(told.exception))):
            self.assertEqual(
                (one.status, one.type, one.code, one.param, one.request_id, one.doc_url, one.outcome),
                (422, "business_error", "insufficient_balance", "amount", "req_1", "http://a.b", "none"),
            )
            self.assertEqual(one.details, {"asset": "BRL", "needed": 1050, "available": 900})
            self.assertEqual(str(one), "422 insufficient_balance: Not enough. (req_1)")
        with self.assertRaises(trilho.TrilhoError) as cut:
            pay(self.client(self.stage(CUT), max_retries=0))
        again = pickle.loads(pickle.dumps(cut.exception))
        self.assertEqual((type(again), str(again)), (type(cut.exception), str(cut.exception)))
