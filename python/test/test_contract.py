"""Every method, against a real server: test/python/python.test.ts starts it, and a receiver of webhooks."""

import threading
import time
from datetime import datetime, timedelta, timezone
from typing import Any, Callable, List, TypeVar

import trilho
from support import Case, needed, real_client
from trilho import ApiError, Trilho, decimal_string, random_key, units
from trilho._operations import OPERATIONS

T = TypeVar("T")


def eventually(attempt: Callable[[], T]) -> T:
    deadline = time.monotonic() + 30
    while True:
        try:
            return attempt()
        except (AssertionError, ApiError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Contract(Case):
    client: Trilho
    customer_id: str
    cpf: str
    called: List[str] = []

    @classmethod
    def setUpClass(cls) -> None:
        cls.cpf = needed("CPF")
        cls.client = real_client()
        run = cls.client._run

        def noted(name: str, *given: Any) -> Any:
            cls.called.append(name)
            return run(name, *given)

        cls.client._run = noted  # type: ignore[method-assign]
        cls.customer_id = cls.client.customers.create(name="Ana Souza", document=cls.cpf, external_id="ana")["id"]
        for asset, amount in (("BRL", units("5000", "BRL")), ("USDT", units("500", "USDT"))):
            cls.client.sandbox.deposits.create(customer_id=cls.customer_id, asset=asset, amount=amount)  # type: ignore[arg-type]

    def pay(self, **more: Any) -> Any:
        return self.client.pix.payouts.create(**{**self.order(), **more})

    def order(self, pix_key: str = "") -> Any:
        return {
            "customer_id": self.customer_id,
            "amount": units("10.50", "BRL"),
            "counterparty": {"type": "pix_key", "pix_key": pix_key or self.cpf},
            "idempotency_key": random_key(),
        }

    def test_customers(self) -> None:
        client = self.client
        self.assertEqual(client.customers.get(self.customer_id).get("external_id"), "ana")
        updated = client.customers.update(self.customer_id, email="ana@example.com", metadata={"tier": "gold"})
        self.assertEqual((updated["metadata"], updated.get("email")), ({"tier": "gold"}, "ana@example.com"))
        self.assertNotIn("email", client.customers.update(self.customer_id, email=None))
        self.assertEqual([one["id"] for one in client.customers.list(external_id="ana")], [self.customer_id])
        self.assertEqual([one["asset"] for one in client.customers.balances(self.customer_id)], ["BRL", "USDT", "BTC"])
        first = list(client.customers.statement(self.customer_id, asset="BRL", limit=2))[-1]
        self.assertEqual(decimal_string(first["amount"], first["decimals"]), "5000.00")
        with self.assertRaises(ApiError) as told:
            client.customers.create(name="Ana Souza", document=self.cpf)
        self.assertEqual((told.exception.code, told.exception.details), ("customer_exists", {"customer_id": self.customer_id}))

    def test_pix(self) -> None:
        client = self.client
        self.assertIs(client.pix.keys.get(self.cpf, customer_id=self.customer_id).get("payable"), True)
        order = self.order()
        dry = client.pix.payouts.dry_run(**order)
        self.assertIsInstance(dry["balance_after"], int)
        made = client.pix.payouts.create(**order)
        self.assertFalse(client.last_response.replayed)
        self.assertEqual(client.pix.payouts.create(**order), made)
        self.assertTrue(client.last_response.replayed)
        self.assertRegex(client.last_response.request_id or "", "^req_")
        self.assertEqual(client.pix.payouts.get(made["id"])["amount"], 1050)
        self.assertTrue(client.pix.payouts.receipt(made["id"], lang="en").startswith(b"%PDF-"))
        self.assertEqual(len(client.pix.payouts.list(idempotency_key=made["idempotency_key"]).page().data), 1)
        self.assertEqual(client.sandbox.payouts.send_back(made["id"], amount=50)["amount_returned"], 50)
        for end, status in ((client.sandbox.payouts.complete, "completed"), (client.sandbox.payouts.fail, "failed")):
            open_payout = client.pix.payouts.create(**self.order("unknown@sandbox.test"))
            waiting: List[Any] = []
            waiter = threading.Thread(target=lambda: waiting.append(trilho.wait_for_end(real_client(), open_payout)))
            waiter.start()
            eventually(lambda: end(open_payout["id"]))
            waiter.join(30)
            self.assertEqual([one["status"] for one in waiting], [status])
        with self.assertRaises(trilho.StillOpen) as open_:
            trilho.wait_for_end(client, client.pix.payouts.create(**self.order("unknown@sandbox.test"))["id"], timeout=0.1)
        self.assertEqual(open_.exception.last["status"], "processing")
        self.assertIsInstance(open_.exception, TimeoutError)
        with self.assertRaises(ApiError) as told:
            self.pay(amount=units("999999", "BRL"))
        self.assertEqual(told.exception.code, "insufficient_balance")
        self.assertIsInstance(told.exception.details["available"], int)

    def test_transfers(self) -> None:
        client = self.client

        def order() -> Any:
            return {
                "customer_id": self.customer_id,
                "asset": "USDT",
                "network": "polygon",
                "amount": 10009003,  # stays processing
                "destination_address": "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
                "idempotency_key": random_key(),
            }

        self.assertGreater(len(client.onchain.fees.list().page().data), 0)
        self.assertIs(client.onchain.transfers.dry_run(**order())["would_replay"], False)
        first, second = client.onchain.transfers.create(**order()), client.onchain.transfers.create(**order())
        eventually(lambda: client.sandbox.transfers.confirm(first["id"]))
        self.assertEqual(trilho.wait_for_end(client, first)["status"], "confirmed")
        self.assertEqual(eventually(lambda: client.sandbox.transfers.fail(second["id"]))["status"], "failed")
        self.assertEqual(client.onchain.transfers.get(first["id"])["amount_net"], 10009003)
        self.assertTrue(client.onchain.transfers.receipt(first["id"]).startswith(b"%PDF-"))
        with self.assertRaises(ApiError) as told:
            client.onchain.transfers.receipt(second["id"])
        self.assertEqual(told.exception.code, "receipt_not_available")
        self.assertEqual(len(client.onchain.transfers.list(customer_id=self.customer_id).take(10)), 2)

    def test_conversions(self) -> None:
        client = self.client
        self.assertEqual(
            len(client.sandbox.prices.set(pair="USDT/BRL", price="5.40")["data"]), len(client.prices.list().page().data)
        )

        def quoted() -> Any:
            return client.quotes.create(customer_id=self.customer_id, from_asset="BRL", to_asset="USDT", amount=10_000)

        quote = quoted()
        self.assertIs(client.quotes.dry_run(quote["id"])["dry_run"], True)
        trade = client.quotes.execute(quote["id"])
        self.assertEqual((client.trades.get(trade["id"])["quote_id"], trade["from_amount"]), (quote["id"], 10_000))
        self.assertEqual(trade["fees"]["total"], trade["fees"]["partner"] + trade["fees"]["service"])
        self.assertEqual([one["id"] for one in client.trades.list(quote_id=quote["id"])], [trade["id"]])
        stale = quoted()
        client.sandbox.quotes.expire(stale["id"])
        self.assertEqual(client.quotes.get(stale["id"])["status"], "expired")
        with self.assertRaises(ApiError) as told:
            client.quotes.execute(stale["id"])
        self.assertEqual(told.exception.code, "quote_expired")
        self.assertEqual([one["id"] for one in client.quotes.list(status="expired")], [stale["id"]])

    def test_charges(self) -> None:
        client = self.client
        order = {"customer_id": self.customer_id, "amount": 1050, "idempotency_key": "charge"}
        charge = client.pix.charges.create(**order)
        paid = client.sandbox.payments.create(charge_id=charge["id"], amount=1000)
        self.assertEqual((paid["charge_id"], paid["amount"]), (charge["id"], 1000))
        returned = client.sandbox.payments.send_back(paid["end_to_end_id"], amount=50)
        self.assertEqual(returned["amount_returned"], 50)
        self.assertEqual(client.sandbox.charges.expire(charge["id"])["status"], "expired")
        self.assertEqual(client.pix.charges.get(charge["id"])["amount_received"], 1000)
        self.assertEqual([one["id"] for one in client.pix.charges.list(status="expired")], [charge["id"]])

    def test_deposits_account_usage_and_requests(self) -> None:
        client = self.client
        deposit = client.deposits.list(asset="USDT").first()
        assert deposit is not None
        self.assertEqual(client.deposits.get(deposit["id"])["amount"], 500_000_000)
        address = client.deposit_addresses.create(self.customer_id, network="bitcoin")
        self.assertEqual(list(client.deposit_addresses.list(self.customer_id)), [address])
        arrived = client.sandbox.deposits.receive(address=address["address"], amount=259_003)
        self.assertEqual((arrived["status"], arrived["network"]), ("pending", "bitcoin"))
        self.assertEqual(client.account.get()["environment"], "sandbox")
        self.assertIsNone(client.account.fee_payouts().first())
        self.assertGreater(client.usage.get()["minute"]["used"], 0)
        request_id = client.last_response.request_id or ""
        self.assertEqual(eventually(lambda: client.requests.get(request_id))["route"], "/v1/usage")
        self.assertEqual(len(client.requests.list(limit=1, after="start", wait=1).page().data), 1)
        self.assertEqual(client.request("GET", "/v1/account")["environment"], "sandbox")

    def test_events_and_webhooks(self) -> None:
        client = self.client
        endpoint = client.webhook_endpoints.create(url=needed("RECEIVER"), events=["pix.payout.completed"])
        self.assertRegex(endpoint["secret"], "^whsec_")
        self.assertNotEqual(client.webhook_endpoints.rotate_secret(endpoint["id"])["secret"], endpoint["secret"])
        self.assertEqual(client.webhook_endpoints.update(endpoint["id"], description="Payouts").get("description"), "Payouts")
        event = client.sandbox.events.create("pix.payout.completed", override={"amount": "1050"})
        found = eventually(lambda: client.events.get(event["id"]))
        assert found["type"] == "pix.payout.completed"
        self.assertEqual(found["data"]["object"]["amount"], 1050)
        delivery = client.webhook_endpoints.test(endpoint["id"])

        def delivered() -> None:
            self.assertEqual(len(client.webhook_endpoints.deliveries(endpoint["id"]).take(10)), 2)
            one = client.webhook_endpoints.delivery(endpoint["id"], delivery["event_id"])
            self.assertEqual(one["status"], "delivered")

        eventually(delivered)
        self.assertEqual(client.events.redeliver(event["id"], endpoint_id=endpoint["id"])["redelivered"], 1)
        until = (datetime.now(timezone.utc) + timedelta(seconds=1)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        again = client.webhook_endpoints.redeliver(endpoint["id"], from_="1970-01-01T00:00:00.000Z", to=until)
        self.assertGreater(again["redelivered"], 0)
        self.assertEqual(client.webhook_endpoints.get(endpoint["id"])["status"], "enabled")
        self.assertEqual(len(client.webhook_endpoints.list().take(5)), 1)
        client.webhook_endpoints.delete(endpoint["id"])
        self.assertEqual(len(client.events.list(type="pix.payout.completed", limit=1).page().data), 1)

    def test_the_stream_repeats_one_event_and_loses_none(self) -> None:
        client = self.client
        ids = [client.sandbox.events.create("customer.created")["id"] for _ in range(3)]
        kept: List[str] = []

        def stream() -> Any:
            return client.events.stream(
                after="start", types=["customer.created"], load=lambda: kept[-1] if kept else None, save=kept.append
            )

        first: List[str] = []
        for event in stream():
            first.append(event["id"])
            if len(first) == 2:
                break  # after the second, which is not saved
        self.assertEqual(kept[-1], first[0])
        rest: List[str] = []
        for event in stream():
            rest.append(event["id"])
            if event["id"] == ids[-1]:
                break
        self.assertEqual(rest[0], first[1])
        self.assertEqual([one for one in first + rest if one in ids][-3:], ids)
        stop = threading.Event()
        later: List[str] = []

        def follow() -> None:
            for event in real_client().events.stream(save=kept.append, stop=stop, types=["trade.failed", "trade.completed"]):
                later.append(event["id"])
                stop.set()

        kept.clear()
        follower = threading.Thread(target=follow)
        follower.start()
        eventually(lambda: self.assertTrue(kept))
        wanted = client.sandbox.events.create("trade.failed")["id"]
        follower.join(40)
        self.assertEqual(later, [wanted])
        client.events.list(limit=1).first()

    def test_pages_follow_each_other(self) -> None:
        client = self.client
        everything = [event["id"] for event in client.events.list(limit=100)]
        pages = list(client.events.list(limit=3).pages())
        self.assertGreater(len(pages), 1)
        self.assertTrue(all(len(page.data) <= 3 for page in pages))
        self.assertTrue(set(everything) <= {event["id"] for page in pages for event in page.data})
        oldest = client.events.list(limit=3, after="start").take(5)
        self.assertEqual([event["id"] for event in oldest[:2]], everything[::-1][:2])
        self.assertEqual(len(client.events.list(limit=2).take(4)), 4)

    def test_z_no_method_was_left_out(self) -> None:
        self.assertEqual([name for name in OPERATIONS if name not in self.called], [])

    @classmethod
    def tearDownClass(cls) -> None:
        cls.client.close()
