import threading
from typing import Any, List

import trilho.payroll
from support import CUT, Case, own
from trilho import LineChanged, LineResult, pay_many

PAYOUT = {
    "id": "po_1",
    "customer_id": "cus_1",
    "amount": "1050",
    "status": "completed",
    "counterparty": {"pix_key": "52998224725"},
}


def found(*payouts: Any) -> Any:
    return (200, {"data": list(payouts), "has_more": False, "next_cursor": None})


NOBODY = found()


def line(line_id: Any = "a", **more: Any) -> Any:
    counterparty = {"type": "pix_key", "pix_key": "529.982.247-25"}
    return {"id": line_id, "customer_id": "cus_1", "amount": 1050, "counterparty": counterparty, **more}


class Payroll(Case):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(setattr, trilho.payroll, "FIRST_PAUSE", trilho.payroll.FIRST_PAUSE)
        trilho.payroll.FIRST_PAUSE = 0.01

    def test_lines_are_checked_before_the_first_is_paid(self) -> None:
        stage = self.stage(NOBODY)
        client = self.client(stage)
        for run, lines, told in [
            ("", [line()], "printable ASCII"),
            (None, [line()], "printable ASCII"),
            ("a:b", [line()], "no colon"),
            ("r", [line(), line()], "Two lines have the id 'a'"),
            ("r", [line(), line("")], "printable ASCII"),
            ("r", [line(5)], "a text of your own"),
            ("r" * 250, [line("12345")], "too long together"),
            ("r", [line(), line("b", amount=10.5)], "amount of line 'b' is 10.5"),
            ("r", [line(), line("b", amount=True)], "amount of line 'b' is True"),
            ("r", [line(), line("b", note="x")], "unknown field: note"),
            ("r", [line(), line("b", amount=0)], "amount of line 'b' is 0"),
            ("r", [line(), line("b", customer_id="")], "has no customer_id"),
            ("r", [line(), line("b", idempotency_key="own")], "made of `run` and `id`"),
        ]:
            with self.assertRaisesRegex((TypeError, ValueError), told):
                pay_many(client, lines, run=run)  # type: ignore[arg-type]
        with self.assertRaisesRegex(ValueError, "`threads`"):
            pay_many(client, [line()], run="r", threads=0)
        self.assertEqual(stage.seen, [])
        self.assertEqual(pay_many(client, [], run="r"), [])

    def test_a_line_is_looked_up_and_paid_under_run_and_line(self) -> None:
        stage = self.stage(NOBODY, (201, PAYOUT))
        (result,) = pay_many(self.client(stage), [line("a/b:c!")], run="2026/11")
        self.assertEqual(
            (result.id, result.status, result.idempotency_key), ("a/b:c!", "completed", "2026/11:a/b:c!")
        )
        look, paid = stage.seen
        self.assertEqual(look["path"], "/v1/pix/payouts?idempotency_key=2026%2F11%3Aa%2Fb%3Ac%21")
        self.assertIn(b'"idempotency_key":"2026/11:a/b:c!"', paid["body"])

    def test_a_line_that_was_paid_is_not_paid_again(self) -> None:
        stage = self.stage(found({**PAYOUT, "id": "po_2", "status": "failed"}, PAYOUT))
        (result,) = pay_many(self.client(stage), [line()], run="r")
        self.assertEqual((result.status, (result.payout or {}).get("id"), len(stage.seen)), ("completed", "po_1", 1))
        other = {"type": "pix_key", "pix_key": "ana@example.com"}
        for changed in (line(amount=2000), line(customer_id="cus_2"), line(counterparty=other)):
            (refused,) = pay_many(self.client(stage), [changed], run="r")
            self.assertEqual(refused.status, "unknown")
            self.assertIsInstance(refused.error, LineChanged)
        self.assertTrue(all(request["method"] == "GET" for request in stage.seen))

    def test_says_what_became_of_each(self) -> None:
        late = (429, own("rate_limit_exceeded"), {"retry-after": "86400"})
        for replies, status in [
            ([NOBODY, (201, {**PAYOUT, "status": "failed"})], "failed"),
            ([NOBODY, (422, own("insufficient_balance"))], "refused"),
            ([NOBODY, (409, own("idempotency_conflict"))], "unknown"),
            ([NOBODY, (403, own("customer_blocked"))], "refused"),
            ([NOBODY, CUT, NOBODY, (422, own("insufficient_balance"))], "refused"),
            ([NOBODY, CUT, NOBODY, (403, own("customer_blocked"))], "unknown"),
            ([NOBODY, CUT, NOBODY, late], "unknown"),
            ([NOBODY, (503,)], "unknown"),
            ([NOBODY, late], "unsent"),
            ([(401, own("invalid_api_key"))], "unsent"),
            ([CUT], "unsent"),
            ([(404,)], "unsent"),
            ([NOBODY, (201, {**PAYOUT, "status": "processing"}), (200, {**PAYOUT, "status": "processing"})], "unknown"),
            ([NOBODY, (201, {**PAYOUT, "status": "processing"}), CUT, (200, PAYOUT)], "completed"),
        ]:
            with self.subTest(replies):
                results: List[LineResult] = []
                client = self.client(self.stage(*replies), max_retries=0)
                (result,) = pay_many(client, [line()], run="r", timeout=0.3, wait=0.5, on_result=results.append)
                self.assertEqual((result.status, results), (status, [result]))

    def test_says_whether_a_line_was_sent_now_or_found(self) -> None:
        processing = {**PAYOUT, "status": "processing"}
        for replies, is_earlier in [
            ([found(PAYOUT)], True),
            ([CUT, found(PAYOUT)], True),
            ([found(processing), (200, PAYOUT)], True),
            ([NOBODY, (201, PAYOUT)], False),
            ([NOBODY, CUT, found(PAYOUT)], False),
            ([NOBODY, (201, processing), (200, PAYOUT)], False),
        ]:
            with self.subTest(replies):
                client = self.client(self.stage(*replies), max_retries=0)
                (result,) = pay_many(client, [line()], run="r")
                self.assertEqual((result.status, result.is_earlier), ("completed", is_earlier))

    def test_a_line_that_was_not_sent_says_why(self) -> None:
        lines = [line(str(number)) for number in range(50)]
        refused = self.client(self.stage((401, own("invalid_api_key"))))
        for result in pay_many(refused, lines, run="r", threads=2):
            self.assertIn("invalid_api_key", str(result.error))
        away = self.client(self.stage(CUT), max_retries=0)
        for result in pay_many(away, lines, run="r", threads=2, timeout=0.2):
            self.assertEqual(result.status, "unsent")
            self.assertIsNotNone(result.error)
        self.assertRegex(str(result.error), r"^The run made no progress for 0\.2 seconds\. The last error: .")

    def test_survives_what_passes(self) -> None:
        busy = (429, own("rate_limit_exceeded"), {"retry-after": "1"})
        stage = self.stage(CUT, (503, own("service_unavailable")), NOBODY, CUT, busy, (502,), NOBODY, (201, PAYOUT))
        (result,) = pay_many(self.client(stage, max_retries=0), [line()], run="r")
        self.assertEqual(result.status, "completed")

    def test_a_key_that_is_refused_ends_the_run_and_a_blocked_customer_does_not(self) -> None:
        lines = [line(str(number)) for number in range(200)]
        stage = self.stage((401, own("invalid_api_key")))
        results = pay_many(self.client(stage), lines, run="r", threads=2)
        self.assertEqual({result.status for result in results}, {"unsent"})
        self.assertLess(len(stage.seen), 10)
        stage = self.stage(NOBODY, (403, own("customer_blocked")), found(PAYOUT))
        results = pay_many(self.client(stage), lines[:3], run="r", threads=1)
        self.assertEqual([result.status for result in results], ["refused", "completed", "completed"])

    def test_ends_what_has_begun_when_it_is_left(self) -> None:
        stage = self.stage(found(PAYOUT))

        def leave(_: LineResult) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            pay_many(self.client(stage), [line(str(i)) for i in range(500)], run="r", threads=2, on_result=leave)
        self.assertLess(len(stage.seen), 500)
        self.assertEqual([one for one in threading.enumerate() if one.name.startswith("trilho-pay")], [])
