import random
import unittest
from decimal import Decimal

from trilho import Trilho, decimal_string, units


class Units(unittest.TestCase):
    def test_reads_what_people_write(self) -> None:
        for text, scale, amount in [
            ("10.50", "BRL", 1050),
            ("10.5", "BRL", 1050),
            ("10", "BRL", 1000),
            ("0.00000001", "BTC", 1),
            ("-0.50", "BRL", -50),
            ("7", 0, 7),
            ("123456789012345678.99", 2, 12345678901234567899),
            (Decimal("10.50"), "BRL", 1050),
            (Decimal("10.500"), "BRL", 1050),
            (Decimal("1E+3"), "BRL", 100000),
        ]:
            self.assertEqual(units(text, scale), amount, text)  # type: ignore[arg-type]

    def test_refuses_what_could_mean_something_else(self) -> None:
        for text in ["", "10,50", "1.000,50", ".5", "5.", "1e3", " 1", "1\n", "+1", "--1", "1_000", "0x10", "R$ 1", "١", "NaN"]:
            with self.assertRaisesRegex(ValueError, "write it like '1050.25'", msg=text):
                units(text, "BRL")
        for wrong in [10.5, 10, True, None, b"10"]:
            with self.assertRaisesRegex(TypeError, "is not an amount", msg=repr(wrong)):
                units(wrong, "BRL")  # type: ignore[arg-type]
        for value in ("10.505", Decimal("10.505")):
            with self.assertRaisesRegex(ValueError, "has 3 decimals, and 'BRL' has 2"):
                units(value, "BRL")
        for scale in ("EUR", -1, 1.5, True, None):
            with self.assertRaisesRegex(ValueError, "neither an asset"):
                units("1", scale)  # type: ignore[arg-type]
        for special in ("NaN", "Infinity"):
            with self.assertRaises(ValueError):
                units(Decimal(special), "BRL")


class DecimalString(unittest.TestCase):
    def test_writes_every_digit(self) -> None:
        for amount, scale, text in [
            (1050, "BRL", "10.50"),
            (5, "BRL", "0.05"),
            (-5, 2, "-0.05"),
            (0, "BTC", "0.00000000"),
            (12, 0, "12"),
        ]:
            self.assertEqual(decimal_string(amount, scale), text)  # type: ignore[arg-type]
        for wrong in (10.5, True, "1050", None):
            with self.assertRaisesRegex(TypeError, "pass an int"):
                decimal_string(wrong, "BRL")  # type: ignore[arg-type]

    def test_is_the_other_way_round_of_units(self) -> None:
        for _ in range(2000):
            amount, decimals = random.randint(-(10**20), 10**20), random.randint(0, 20)
            self.assertEqual(units(decimal_string(amount, decimals), decimals), amount)


class Sent(unittest.TestCase):
    def test_an_amount_is_an_int_and_nothing_is_sent_otherwise(self) -> None:
        client = Trilho(key="svc_test_sk_1", base_url="http://127.0.0.1:1")
        for wrong in (10.5, True, "1050", Decimal("10")):
            with self.assertRaisesRegex(TypeError, "^amount is of type"):
                client.quotes.create(customer_id="cus_1", from_asset="BRL", to_asset="USDT", amount=wrong)  # type: ignore[arg-type]
        with self.assertRaisesRegex(TypeError, "override.amount is a float"):
            client.sandbox.events.create("pix.payout.completed", override={"amount": 10.5})
