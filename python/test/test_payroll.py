import threading
from typing import Any, List

from support import CUT, Case, own
from trilho import LineResult, pay_many

PAYOUT = {"id": "po_1", "customer_id": "cus_1", "amount": "1050", "status": "completed"}
NOBODY = (200, {"data": [], "has_more": False, "next_cursor": None})


def line(line_id: str = "a", **more: Any) -> Any:
    counterparty = {"type": "pix_key", "pix_key": "529.982.247-25"}
    return {"id": line_id, "customer_id": "cus_1", "amount": 1050, "counterparty": counterparty, **more}


class Payroll(Case):
    def test_lines_are_checked_before_the_first_is_paid(self) -> None:
        stage = self.stage(NOBODY)
        client = self.client(stage)
        for run, lines, told in [
            ("a:b", [line()], "without a colon"),
            ("", [line()], "printable"),
            ("r", [line(), line()], "Two lines have the id 'a'"),
            ("r", [line(""), line("b")], "printable"),
            ("r", [line("ç")], "printable"),
            ("r" * 250, [line("12345")], "more than 254"),
            ("r", [line(), line("b", amount=10.5)], "amount of line 'b' is 10.5"),
            ("r", [line(), line("b", amount=True)], "amount of line 'b' is True"),
            ("r", [line(), line("b", amount=0)], "amount of line 'b' is 0"),
            ("r", [line(), line("b", customer_id="")], "has no customer_id"),
        ]:
            with self.assertRaisesRegex((TypeError, ValueError), told):
                pay_many(client, run, lines)
        with self.assertRaisesRegex(ValueError, "`threads`"):
            pay_many(client, "r", [line()], threads=0)
        self.assertEqual(stage.seen, [])
        self.assertEqual(pay_many(client, "r", []), [])

    def test_a_line_is_looked_up_and_paid_under_run_and_line(self) -> None:
        stage = self.stage(NOBODY, (201, PAYOUT))
        (result,) = pay_many(self.client(stage), "2026-11", [line()])
        self.assertEqual((result.id, result.status, result.idempotency_key), ("a", "completed", "2026-11:a"))
        look, paid = stage.seen
        self.assertEqual(look["path"], "/v1/pix/payouts?idempotency_key=2026-11%3Aa")
        self.assertIn(b'"idempotency_key":"2026-11:a"', paid["body"])

    def test_a_line_that_was_paid_is_not_paid_again(self) -> None:
        stage = self.stage((200, {"data": [PAYOUT], "has_more": False, "next_cursor": None}))
        (result,) = pay_many(self.client(stage), "2026-11", [line()])
        self.assertEqual((result.status, len(stage.seen)), ("completed", 1))
        (changed,) = pay_many(self.client(stage), "2026-11", [line(amount=2000)])
        self.assertEqual((changed.status, len(stage.seen)), ("refused", 2))
        self.assertIn("with another amount or customer", str(changed.error))

    def test_says_what_became_of_each(self) -> None:
        for replies, status in [
            ([(201, {**PAYOUT, "status": "failed"})], "failed"),
            ([(422, own("insufficient_balance"))], "refused"),
            ([(409, own("idempotency_conflict"))], "refused"),
            ([CUT, CUT, CUT, CUT, (403, own("customer_blocked"))], "unknown"),
            ([(503,)], "unknown"),
            ([(429, own("rate_limit_exceeded"), {"retry-after": "86400"})], "unknown"),
        ]:
            results: List[LineResult] = []
            stage = self.stage(NOBODY, *replies)
            client = self.client(stage, max_retries=4 if CUT in replies else 0)
            (result,) = pay_many(client, "r", [line()], patience=0.5, on_result=results.append)
            self.assertEqual((result.status, results), (status, [result]), replies)

    def test_survives_what_passes(self) -> None:
        stage = self.stage(CUT, (502,), NOBODY, CUT, (429, own("rate_limit_exceeded"), {"retry-after": "1"}), (503,), NOBODY, (201, PAYOUT))
        (result,) = pay_many(self.client(stage, max_retries=0), "r", [line()])
        self.assertEqual(result.status, "completed")

    def test_ends_what_has_begun_when_it_is_left(self) -> None:
        stage = self.stage(NOBODY, (201, PAYOUT))
        stage.replies = [(200, {"data": [PAYOUT], "has_more": False, "next_cursor": None})]

        def leave(_: LineResult) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            pay_many(self.client(stage), "r", [line(str(i)) for i in range(500)], threads=2, on_result=leave)
        self.assertLess(len(stage.seen), 500)
        self.assertEqual([one for one in threading.enumerate() if one.name.startswith("trilho-pay")], [])
