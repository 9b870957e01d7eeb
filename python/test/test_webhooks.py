"""The vectors come from test/support/webhook-vectors.ts, which signs as the service does."""

import json
import unittest

from support import needed
from trilho import SignatureError, verify_webhook


class Webhooks(unittest.TestCase):
    def setUp(self) -> None:
        with open(needed("WEBHOOK_VECTORS"), encoding="utf-8") as file:
            self.vectors = json.load(file)
        self.secret = self.vectors["secret"]
        self.good = self.vectors["cases"]["good"]

    def test_tells_good_old_and_changed_apart(self) -> None:
        self.assertGreater(len(self.vectors["cases"]), 10)
        for name, case in self.vectors["cases"].items():
            with self.subTest(name):
                if case["is"] == "good":
                    event = verify_webhook(case["body"].encode(), case["headers"], self.secret)
                    self.assertEqual(event["type"], "pix.payout.completed")
                else:
                    with self.assertRaises(SignatureError):
                        verify_webhook(case["body"].encode(), case["headers"], self.secret)

    def test_takes_text_and_bytes_and_headers_of_any_kind(self) -> None:
        body, headers = self.good["body"], self.good["headers"]
        spellings = [
            headers,
            {name.title(): value for name, value in headers.items()},
            {"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers.items()},
        ]
        for given in (body, body.encode(), bytearray(body.encode()), memoryview(body.encode())):
            for spelling in spellings:
                self.assertEqual(verify_webhook(given, spelling, self.secret)["type"], "pix.payout.completed")

    def test_one_of_several_secrets_is_enough_and_amounts_are_ints(self) -> None:
        body, headers = self.good["body"], self.good["headers"]
        event = verify_webhook(body, headers, [self.vectors["foreign"], self.secret])
        assert event["type"] == "pix.payout.completed"
        self.assertEqual(event["data"]["object"]["amount"], 1050)
        with self.assertRaises(SignatureError):
            verify_webhook(body, headers, [self.vectors["foreign"]])

    def test_a_tolerance_that_is_no_number_takes_nothing(self) -> None:
        old = self.vectors["cases"]["old"]
        verify_webhook(old["body"], old["headers"], self.secret, tolerance=600)
        with self.assertRaises(SignatureError):
            verify_webhook(old["body"], old["headers"], self.secret, tolerance=float("nan"))

    def test_says_what_is_missing(self) -> None:
        body, headers = self.good["body"], self.good["headers"]
        for name in headers:
            with self.assertRaisesRegex(SignatureError, name):
                verify_webhook(body, {key: value for key, value in headers.items() if key != name}, self.secret)
        for parsed in (json.loads(body), None):
            with self.assertRaisesRegex(TypeError, "request.get_data"):
                verify_webhook(parsed, headers, self.secret)  # type: ignore[arg-type]
        for secret in ("", "whsec_", "svc_test_sk_abc", [], None):
            with self.assertRaisesRegex((TypeError, ValueError), "whsec_…|not iterable"):
                verify_webhook(body, headers, secret)  # type: ignore[arg-type]

    def test_no_secret_is_in_the_frames_of_an_error(self) -> None:
        headers = {**self.good["headers"], "webhook-id": "evt_other"}
        try:
            verify_webhook(self.good["body"], headers, self.secret)
        except SignatureError as error:
            trace = error.__traceback__
            assert trace is not None and trace.tb_next is not None
            self.assertNotIn("whsec_", repr(trace.tb_next.tb_frame.f_locals))
            self.assertEqual(trace.tb_next.tb_frame.f_locals.get("keys"), [])
