# Written by `npm run generate` from openapi.json. Not to be edited.

from typing import Any, List, Literal, Mapping, Optional, Sequence, Union

from . import types as t
from ._call import OMITTED, Call, Omitted, Resource, nullable
from ._listing import Listing
from ._stream import EventStream

class Customers(Resource):
    def create(
        self,
        *,
        name: str,
        document: str,
        email: Optional[str] = None,
        external_id: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.Customer:
        """Create a customer. `POST /v1/customers`

        name: Full name
        document: CPF or CNPJ
        email: E-mail address
        external_id: Your own id of this customer; unique
        metadata: Up to 20 texts of your own
        """
        result: t.Customer = self._call("customers.create", {}, {
            "name": name,
            "document": document,
            "email": email,
            "external_id": external_id,
            "metadata": metadata,
        })
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        status: Optional[Literal["active", "blocked"]] = None,
        document: Optional[str] = None,
        external_id: Optional[str] = None,
    ) -> Listing[t.Customer]:
        """List customers, newest first. `GET /v1/customers`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        status: A blocked customer can be read and starts nothing; what is paid to it is credited
        document: CPF or CNPJ, bare or fully punctuated
        external_id: Your own id of this customer; unique
        """
        return Listing(self._call, "customers.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "status": status,
            "document": document,
            "external_id": external_id,
        })

    def get(self, customer_id: str) -> t.Customer:
        """Read a customer. `GET /v1/customers/{customer_id}`"""
        result: t.Customer = self._call("customers.get", {"customer_id": customer_id}, {})
        return result

    def update(
        self,
        customer_id: str,
        *,
        name: Optional[str] = None,
        email: Union[Optional[str], Omitted] = OMITTED,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.Customer:
        """Change a customer’s name, e-mail or metadata. `PATCH /v1/customers/{customer_id}`

        name: Full name
        metadata: Up to 20 texts of your own
        """
        result: t.Customer = self._call("customers.update", {"customer_id": customer_id}, {
            "name": name,
            "email": nullable(email),
            "metadata": metadata,
        })
        return result

    def balances(self, customer_id: str) -> Listing[t.Balance]:
        """A customer’s balances. `GET /v1/customers/{customer_id}/balances`"""
        return Listing(self._call, "customers.balances", {"customer_id": customer_id}, {})

    def statement(
        self,
        customer_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
    ) -> Listing[t.StatementLine]:
        """A customer’s statement, newest first. `GET /v1/customers/{customer_id}/statement`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        asset: BRL, USDT or BTC
        """
        return Listing(self._call, "customers.statement", {"customer_id": customer_id}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "asset": asset,
        })


class PixPayouts(Resource):
    def create(
        self,
        *,
        customer_id: str,
        amount: int,
        counterparty: Union[t.ToPixKey, t.ToBankAccount],
        idempotency_key: str,
        description: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.PixPayout:
        """Send a Pix payment. `POST /v1/pix/payouts`

        customer_id: Starts with cus_
        amount: Whole number of the smallest unit
        counterparty: Where the money goes
        idempotency_key: Yours; the same key with the same body is one operation, for 24 hours
        description: Visible to the recipient
        metadata: Up to 20 texts of your own
        """
        result: t.PixPayout = self._call("pix.payouts.create", {}, {
            "customer_id": customer_id,
            "amount": amount,
            "counterparty": counterparty,
            "idempotency_key": idempotency_key,
            "description": description,
            "metadata": metadata,
        })
        return result

    def dry_run(
        self,
        *,
        customer_id: str,
        amount: int,
        counterparty: Union[t.ToPixKey, t.ToBankAccount],
        idempotency_key: str,
        description: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.PixPayoutDryRun:
        """Send a Pix payment: check only, nothing moves. `POST /v1/pix/payouts?dry_run=true`

        customer_id: Starts with cus_
        amount: Whole number of the smallest unit
        counterparty: Where the money goes
        idempotency_key: Yours; the same key with the same body is one operation, for 24 hours
        description: Visible to the recipient
        metadata: Up to 20 texts of your own
        """
        result: t.PixPayoutDryRun = self._call("pix.payouts.dry_run", {}, {
            "customer_id": customer_id,
            "amount": amount,
            "counterparty": counterparty,
            "idempotency_key": idempotency_key,
            "description": description,
            "metadata": metadata,
        })
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        customer_id: Optional[str] = None,
        status: Optional[Literal["pending", "processing", "completed", "failed"]] = None,
        idempotency_key: Optional[str] = None,
        end_to_end_id: Optional[str] = None,
    ) -> Listing[t.PixPayout]:
        """List payouts, newest first. `GET /v1/pix/payouts`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        customer_id: Starts with cus_
        status: completed and failed are final
        idempotency_key: Made under this idempotency key: 1 to 255 printable ASCII characters
        end_to_end_id: The payment’s id in the Pix network: letters and digits
        """
        return Listing(self._call, "pix.payouts.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "customer_id": customer_id,
            "status": status,
            "idempotency_key": idempotency_key,
            "end_to_end_id": end_to_end_id,
        })

    def get(self, payout_id: str) -> t.PixPayout:
        """Read a payout. `GET /v1/pix/payouts/{payout_id}`"""
        result: t.PixPayout = self._call("pix.payouts.get", {"payout_id": payout_id}, {})
        return result

    def receipt(
        self,
        payout_id: str,
        *,
        lang: Optional[Literal["pt", "en"]] = None,
    ) -> bytes:
        """Download the receipt (comprovante) of a payout. `GET /v1/pix/payouts/{payout_id}/receipt`

        lang: The language: pt (Brazilian Portuguese) or en; pt when absent
        """
        result: bytes = self._call("pix.payouts.receipt", {"payout_id": payout_id}, {
            "lang": lang,
        })
        return result


class PixKeys(Resource):
    def get(
        self,
        pix_key: str,
        *,
        customer_id: Optional[str] = None,
    ) -> t.PixKey:
        """Check a Pix key before paying it. `GET /v1/pix/keys/{pix_key}`

        customer_id: Starts with cus_
        """
        result: t.PixKey = self._call("pix.keys.get", {"pix_key": pix_key}, {
            "customer_id": customer_id,
        })
        return result


class PixCharges(Resource):
    def create(
        self,
        *,
        customer_id: str,
        amount: int,
        idempotency_key: str,
        expires_in_seconds: Optional[int] = None,
        description: Optional[str] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.PixCharge:
        """Ask for a Pix payment. `POST /v1/pix/charges`

        customer_id: Starts with cus_
        amount: Whole number of the smallest unit
        idempotency_key: Yours; the same key with the same body is one operation, for 24 hours
        expires_in_seconds: For how long it can be paid. Default: 3600
        description: Visible to the payer
        metadata: Up to 20 texts of your own
        """
        result: t.PixCharge = self._call("pix.charges.create", {}, {
            "customer_id": customer_id,
            "amount": amount,
            "idempotency_key": idempotency_key,
            "expires_in_seconds": expires_in_seconds,
            "description": description,
            "metadata": metadata,
        })
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        customer_id: Optional[str] = None,
        status: Optional[Literal["pending", "open", "paid", "expired", "failed"]] = None,
        idempotency_key: Optional[str] = None,
    ) -> Listing[t.PixCharge]:
        """List charges, newest first. `GET /v1/pix/charges`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        customer_id: Starts with cus_
        status: pending is being registered with the payment provider; open can be paid; paid and failed are final; expired becomes paid if a late payment completes the amount
        idempotency_key: Made under this idempotency key: 1 to 255 printable ASCII characters
        """
        return Listing(self._call, "pix.charges.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "customer_id": customer_id,
            "status": status,
            "idempotency_key": idempotency_key,
        })

    def get(self, charge_id: str) -> t.PixCharge:
        """Read a charge. `GET /v1/pix/charges/{charge_id}`"""
        result: t.PixCharge = self._call("pix.charges.get", {"charge_id": charge_id}, {})
        return result


class Pix(Resource):
    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.payouts = PixPayouts(call)
        self.keys = PixKeys(call)
        self.charges = PixCharges(call)


class SandboxPayouts(Resource):
    def complete(self, payout_id: str) -> t.PixPayout:
        """Let a processing payout complete. `POST /v1/sandbox/pix/payouts/{payout_id}/complete`"""
        result: t.PixPayout = self._call("sandbox.payouts.complete", {"payout_id": payout_id}, {})
        return result

    def fail(self, payout_id: str) -> t.PixPayout:
        """Let a processing payout fail. `POST /v1/sandbox/pix/payouts/{payout_id}/fail`"""
        result: t.PixPayout = self._call("sandbox.payouts.fail", {"payout_id": payout_id}, {})
        return result

    def send_back(
        self,
        payout_id: str,
        *,
        amount: Optional[int] = None,
    ) -> t.PixPayout:
        """Let a completed payout come back. `POST /v1/sandbox/pix/payouts/{payout_id}/return`

        amount: Whole number of the smallest unit
        """
        result: t.PixPayout = self._call("sandbox.payouts.send_back", {"payout_id": payout_id}, {
            "amount": amount,
        })
        return result


class SandboxPayments(Resource):
    def create(
        self,
        *,
        charge_id: Optional[str] = None,
        amount: Optional[int] = None,
    ) -> t.PixPayment:
        """Let somebody pay by Pix. `POST /v1/sandbox/pix/payments`

        charge_id: Default: the payment names no charge
        amount: Default: the amount of the charge
        """
        result: t.PixPayment = self._call("sandbox.payments.create", {}, {
            "charge_id": charge_id,
            "amount": amount,
        })
        return result

    def send_back(
        self,
        end_to_end_id: str,
        *,
        amount: Optional[int] = None,
    ) -> t.Deposit:
        """Let a received payment be given back. `POST /v1/sandbox/pix/payments/{end_to_end_id}/return`

        amount: Whole number of the smallest unit
        """
        result: t.Deposit = self._call("sandbox.payments.send_back", {"end_to_end_id": end_to_end_id}, {
            "amount": amount,
        })
        return result


class SandboxCharges(Resource):
    def expire(self, charge_id: str) -> t.PixCharge:
        """Let a charge expire now. `POST /v1/sandbox/pix/charges/{charge_id}/expire`"""
        result: t.PixCharge = self._call("sandbox.charges.expire", {"charge_id": charge_id}, {})
        return result


class SandboxTransfers(Resource):
    def confirm(self, transfer_id: str) -> t.OnchainTransfer:
        """Let a transfer be confirmed. `POST /v1/sandbox/onchain/transfers/{transfer_id}/confirm`"""
        result: t.OnchainTransfer = self._call("sandbox.transfers.confirm", {"transfer_id": transfer_id}, {})
        return result

    def fail(self, transfer_id: str) -> t.OnchainTransfer:
        """Let a transfer fail. `POST /v1/sandbox/onchain/transfers/{transfer_id}/fail`"""
        result: t.OnchainTransfer = self._call("sandbox.transfers.fail", {"transfer_id": transfer_id}, {})
        return result


class SandboxPrices(Resource):
    def set(
        self,
        *,
        pair: Literal["USDT/BRL", "BTC/USDT"],
        price: str,
        age_seconds: Optional[int] = None,
    ) -> t.SandboxPricesSetResult:
        """Move a sandbox price. `POST /v1/sandbox/prices`

        price: Above zero, up to 8 digits before and 8 after the point
        """
        result: t.SandboxPricesSetResult = self._call("sandbox.prices.set", {}, {
            "pair": pair,
            "price": price,
            "age_seconds": age_seconds,
        })
        return result


class SandboxQuotes(Resource):
    def expire(self, quote_id: str) -> t.Quote:
        """Let a quote expire now. `POST /v1/sandbox/quotes/{quote_id}/expire`"""
        result: t.Quote = self._call("sandbox.quotes.expire", {"quote_id": quote_id}, {})
        return result


class SandboxDeposits(Resource):
    def create(
        self,
        *,
        customer_id: str,
        asset: Literal["BRL", "USDT", "BTC"],
        amount: int,
    ) -> t.Deposit:
        """Credit a test balance. `POST /v1/sandbox/deposits`

        customer_id: Starts with cus_
        asset: BRL, USDT or BTC
        amount: Whole number of the smallest unit
        """
        result: t.Deposit = self._call("sandbox.deposits.create", {}, {
            "customer_id": customer_id,
            "asset": asset,
            "amount": amount,
        })
        return result

    def receive(
        self,
        *,
        amount: int,
        address: Optional[str] = None,
        customer_id: Optional[str] = None,
        network: Optional[Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"]] = None,
    ) -> t.Deposit:
        """Let a deposit arrive on a network. `POST /v1/sandbox/onchain/deposits`

        amount: Whole number of the smallest unit
        address: A deposit address of one of your customers
        customer_id: Starts with cus_
        network: polygon, arbitrum, optimism, tron, ethereum, bitcoin; needed with customer_id, and for an address that is in use on several
        """
        result: t.Deposit = self._call("sandbox.deposits.receive", {}, {
            "amount": amount,
            "address": address,
            "customer_id": customer_id,
            "network": network,
        })
        return result


class SandboxEvents(Resource):
    def create(
        self,
        kind: Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled"],
        *,
        override: Optional[Mapping[str, Any]] = None,
    ) -> t.Event:
        """Make a sample event. `POST /v1/sandbox/events/{kind}`

        override: Fields of the object, as GET shows them; not its id
        """
        result: t.Event = self._call("sandbox.events.create", {"kind": kind}, {
            "override": override,
        })
        return result


class Sandbox(Resource):
    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.payouts = SandboxPayouts(call)
        self.payments = SandboxPayments(call)
        self.charges = SandboxCharges(call)
        self.transfers = SandboxTransfers(call)
        self.prices = SandboxPrices(call)
        self.quotes = SandboxQuotes(call)
        self.deposits = SandboxDeposits(call)
        self.events = SandboxEvents(call)


class OnchainTransfers(Resource):
    def create(
        self,
        *,
        customer_id: str,
        asset: Literal["USDT", "BTC"],
        network: Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"],
        amount: int,
        destination_address: str,
        idempotency_key: str,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.OnchainTransfer:
        """Send USDT or BTC to an address. `POST /v1/onchain/transfers`

        customer_id: Starts with cus_
        network: polygon, arbitrum, optimism, tron or ethereum for USDT; bitcoin for BTC
        amount: Whole number of the smallest unit
        destination_address: Where it goes
        idempotency_key: Yours; the same key with the same body is one operation, for 24 hours
        metadata: Up to 20 texts of your own
        """
        result: t.OnchainTransfer = self._call("onchain.transfers.create", {}, {
            "customer_id": customer_id,
            "asset": asset,
            "network": network,
            "amount": amount,
            "destination_address": destination_address,
            "idempotency_key": idempotency_key,
            "metadata": metadata,
        })
        return result

    def dry_run(
        self,
        *,
        customer_id: str,
        asset: Literal["USDT", "BTC"],
        network: Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"],
        amount: int,
        destination_address: str,
        idempotency_key: str,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.OnchainTransferDryRun:
        """Send USDT or BTC to an address: check only, nothing moves. `POST /v1/onchain/transfers?dry_run=true`

        customer_id: Starts with cus_
        network: polygon, arbitrum, optimism, tron or ethereum for USDT; bitcoin for BTC
        amount: Whole number of the smallest unit
        destination_address: Where it goes
        idempotency_key: Yours; the same key with the same body is one operation, for 24 hours
        metadata: Up to 20 texts of your own
        """
        result: t.OnchainTransferDryRun = self._call("onchain.transfers.dry_run", {}, {
            "customer_id": customer_id,
            "asset": asset,
            "network": network,
            "amount": amount,
            "destination_address": destination_address,
            "idempotency_key": idempotency_key,
            "metadata": metadata,
        })
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        customer_id: Optional[str] = None,
        status: Optional[Literal["pending", "processing", "confirmed", "failed"]] = None,
        asset: Optional[Literal["USDT", "BTC"]] = None,
        network: Optional[Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"]] = None,
        idempotency_key: Optional[str] = None,
        tx_hash: Optional[str] = None,
    ) -> Listing[t.OnchainTransfer]:
        """List transfers, newest first. `GET /v1/onchain/transfers`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        customer_id: Starts with cus_
        status: confirmed and failed are final
        idempotency_key: Made under this idempotency key: 1 to 255 printable ASCII characters
        tx_hash: The transaction’s hash, as the transfer shows it once it is broadcast
        """
        return Listing(self._call, "onchain.transfers.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "customer_id": customer_id,
            "status": status,
            "asset": asset,
            "network": network,
            "idempotency_key": idempotency_key,
            "tx_hash": tx_hash,
        })

    def get(self, transfer_id: str) -> t.OnchainTransfer:
        """Read a transfer. `GET /v1/onchain/transfers/{transfer_id}`"""
        result: t.OnchainTransfer = self._call("onchain.transfers.get", {"transfer_id": transfer_id}, {})
        return result

    def receipt(
        self,
        transfer_id: str,
        *,
        lang: Optional[Literal["pt", "en"]] = None,
    ) -> bytes:
        """Download the receipt of a transfer. `GET /v1/onchain/transfers/{transfer_id}/receipt`

        lang: The language: pt (Brazilian Portuguese) or en; pt when absent
        """
        result: bytes = self._call("onchain.transfers.receipt", {"transfer_id": transfer_id}, {
            "lang": lang,
        })
        return result


class OnchainFees(Resource):
    def list(self) -> Listing[t.NetworkFee]:
        """What a transfer costs right now, per network. `GET /v1/onchain/fees`"""
        return Listing(self._call, "onchain.fees.list", {}, {})


class Onchain(Resource):
    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.transfers = OnchainTransfers(call)
        self.fees = OnchainFees(call)


class Quotes(Resource):
    def create(
        self,
        *,
        customer_id: str,
        from_asset: Literal["BRL", "USDT", "BTC"],
        to_asset: Literal["BRL", "USDT", "BTC"],
        amount: int,
        amount_asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
        amount_type: Optional[Literal["gross", "net"]] = None,
        partner_fee_bps: Optional[int] = None,
        metadata: Optional[Mapping[str, str]] = None,
    ) -> t.Quote:
        """Lock a price for 30 seconds. `POST /v1/quotes`

        customer_id: Starts with cus_
        from_asset: BRL, USDT or BTC
        to_asset: BRL, USDT or BTC
        amount: Whole number of the smallest unit
        amount_asset: from_asset or to_asset; from_asset when absent
        amount_type: gross: fees included, when absent; net: fees on top
        partner_fee_bps: Your own fee, in basis points; at most 1000 unless agreed otherwise
        metadata: Up to 20 texts of your own
        """
        result: t.Quote = self._call("quotes.create", {}, {
            "customer_id": customer_id,
            "from_asset": from_asset,
            "to_asset": to_asset,
            "amount": amount,
            "amount_asset": amount_asset,
            "amount_type": amount_type,
            "partner_fee_bps": partner_fee_bps,
            "metadata": metadata,
        })
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        customer_id: Optional[str] = None,
        from_asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
        to_asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
        status: Optional[Literal["pending", "expired", "executed"]] = None,
    ) -> Listing[t.Quote]:
        """List quotes, newest first. `GET /v1/quotes`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        customer_id: Starts with cus_
        from_asset: What is paid
        to_asset: What is received
        status: expired once 30 seconds have passed without execution
        """
        return Listing(self._call, "quotes.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "customer_id": customer_id,
            "from_asset": from_asset,
            "to_asset": to_asset,
            "status": status,
        })

    def execute(self, quote_id: str) -> t.Trade:
        """Execute a quote. `POST /v1/quotes/{quote_id}/execute`"""
        result: t.Trade = self._call("quotes.execute", {"quote_id": quote_id}, {})
        return result

    def dry_run(self, quote_id: str) -> t.TradeDryRun:
        """Execute a quote: check only, nothing moves. `POST /v1/quotes/{quote_id}/execute?dry_run=true`"""
        result: t.TradeDryRun = self._call("quotes.dry_run", {"quote_id": quote_id}, {})
        return result

    def get(self, quote_id: str) -> t.Quote:
        """Read a quote. `GET /v1/quotes/{quote_id}`"""
        result: t.Quote = self._call("quotes.get", {"quote_id": quote_id}, {})
        return result


class Trades(Resource):
    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        customer_id: Optional[str] = None,
        from_asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
        to_asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
        status: Optional[Literal["completed", "failed"]] = None,
        quote_id: Optional[str] = None,
    ) -> Listing[t.Trade]:
        """List trades, newest first. `GET /v1/trades`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        customer_id: Starts with cus_
        from_asset: What is paid
        to_asset: What is received
        status: A failed trade moved nothing
        quote_id: Starts with qt_
        """
        return Listing(self._call, "trades.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "customer_id": customer_id,
            "from_asset": from_asset,
            "to_asset": to_asset,
            "status": status,
            "quote_id": quote_id,
        })

    def get(self, trade_id: str) -> t.Trade:
        """Read a trade. `GET /v1/trades/{trade_id}`"""
        result: t.Trade = self._call("trades.get", {"trade_id": trade_id}, {})
        return result


class Prices(Resource):
    def list(self) -> Listing[t.Price]:
        """What each pair is worth right now. `GET /v1/prices`"""
        return Listing(self._call, "prices.list", {}, {})


class Account(Resource):
    def get(self) -> t.Account:
        """Your own terms, and the fees you have earned. `GET /v1/account`"""
        result: t.Account = self._call("account.get", {}, {})
        return result

    def fee_payouts(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
    ) -> Listing[t.FeePayout]:
        """The fees that were paid out to you, newest first. `GET /v1/account/fee_payouts`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        """
        return Listing(self._call, "account.fee_payouts", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
        })


class DepositAddresses(Resource):
    def create(
        self,
        customer_id: str,
        *,
        network: Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"],
    ) -> t.DepositAddress:
        """Get the deposit address of a customer on a network. `POST /v1/customers/{customer_id}/deposit_addresses`

        network: polygon, arbitrum, optimism, tron, ethereum, bitcoin
        """
        result: t.DepositAddress = self._call("deposit_addresses.create", {"customer_id": customer_id}, {
            "network": network,
        })
        return result

    def list(self, customer_id: str) -> Listing[t.DepositAddress]:
        """The deposit addresses of a customer. `GET /v1/customers/{customer_id}/deposit_addresses`"""
        return Listing(self._call, "deposit_addresses.list", {"customer_id": customer_id}, {})


class Deposits(Resource):
    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        customer_id: Optional[str] = None,
        asset: Optional[Literal["BRL", "USDT", "BTC"]] = None,
        status: Optional[Literal["completed", "pending", "dropped"]] = None,
    ) -> Listing[t.Deposit]:
        """List deposits, newest first. `GET /v1/deposits`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        customer_id: Starts with cus_
        asset: BRL, USDT or BTC
        status: completed is final: the balance has it. pending was seen on its network, and waits for confirmations; dropped was removed from the chain before that, and becomes pending again if it comes back
        """
        return Listing(self._call, "deposits.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "customer_id": customer_id,
            "asset": asset,
            "status": status,
        })

    def get(self, deposit_id: str) -> t.Deposit:
        """Read a deposit. `GET /v1/deposits/{deposit_id}`"""
        result: t.Deposit = self._call("deposits.get", {"deposit_id": deposit_id}, {})
        return result


class Events(EventStream):
    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        after: Optional[str] = None,
        wait: Optional[int] = None,
        type: Optional[Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled", "webhook_endpoint.test"]] = None,
        object_id: Optional[str] = None,
    ) -> Listing[t.Event]:
        """Read the event log. `GET /v1/events`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        after: An event’s id, a next_cursor, start or now
        wait: Seconds to wait when there is nothing yet, 0 to 30
        type: Events of this type
        object_id: Events of this object
        """
        return Listing(self._call, "events.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "after": after,
            "wait": wait,
            "type": type,
            "object_id": object_id,
        })

    def get(self, event_id: str) -> t.Event:
        """Read an event. `GET /v1/events/{event_id}`"""
        result: t.Event = self._call("events.get", {"event_id": event_id}, {})
        return result

    def redeliver(
        self,
        event_id: str,
        *,
        endpoint_id: Optional[str] = None,
    ) -> t.EventsRedeliverResult:
        """Send an event again. `POST /v1/events/{event_id}/redeliver`

        endpoint_id: Starts with whe_
        """
        result: t.EventsRedeliverResult = self._call("events.redeliver", {"event_id": event_id}, {
            "endpoint_id": endpoint_id,
        })
        return result


class Requests(Resource):
    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        after: Optional[str] = None,
        wait: Optional[int] = None,
        status: Optional[str] = None,
        key_id: Optional[str] = None,
    ) -> Listing[t.Request]:
        """Read the log of requests. `GET /v1/requests`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        after: A request’s id, a next_cursor, start or now
        wait: Seconds to wait when there is nothing yet, 0 to 30
        status: Answered with this status
        key_id: Made with this key
        """
        return Listing(self._call, "requests.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "after": after,
            "wait": wait,
            "status": status,
            "key_id": key_id,
        })

    def get(self, request_id: str) -> t.Request:
        """Read a request. `GET /v1/requests/{request_id}`"""
        result: t.Request = self._call("requests.get", {"request_id": request_id}, {})
        return result


class WebhookEndpoints(Resource):
    def create(
        self,
        *,
        url: str,
        events: Sequence[Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled", "*"]],
        description: Optional[str] = None,
    ) -> t.WebhookEndpointWithSecret:
        """Create a webhook endpoint. `POST /v1/webhook_endpoints`

        url: Where to POST: https (in the sandbox also http), a public address
        events: Event types; * is every type, also those to come
        description: For yourself
        """
        result: t.WebhookEndpointWithSecret = self._call("webhook_endpoints.create", {}, {
            "url": url,
            "events": events,
            "description": description,
        })
        return result

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
    ) -> Listing[t.WebhookEndpoint]:
        """List webhook endpoints, newest first. `GET /v1/webhook_endpoints`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        """
        return Listing(self._call, "webhook_endpoints.list", {}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
        })

    def get(self, endpoint_id: str) -> t.WebhookEndpoint:
        """Read a webhook endpoint. `GET /v1/webhook_endpoints/{endpoint_id}`"""
        result: t.WebhookEndpoint = self._call("webhook_endpoints.get", {"endpoint_id": endpoint_id}, {})
        return result

    def update(
        self,
        endpoint_id: str,
        *,
        url: Optional[str] = None,
        events: Optional[Sequence[Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled", "*"]]] = None,
        description: Union[Optional[str], Omitted] = OMITTED,
        status: Optional[Literal["enabled", "disabled"]] = None,
    ) -> t.WebhookEndpoint:
        """Change, enable or disable a webhook endpoint. `PATCH /v1/webhook_endpoints/{endpoint_id}`

        url: Where to POST: https (in the sandbox also http), a public address
        events: Event types; * is every type, also those to come
        """
        result: t.WebhookEndpoint = self._call("webhook_endpoints.update", {"endpoint_id": endpoint_id}, {
            "url": url,
            "events": events,
            "description": nullable(description),
            "status": status,
        })
        return result

    def delete(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint. `DELETE /v1/webhook_endpoints/{endpoint_id}`"""
        self._call("webhook_endpoints.delete", {"endpoint_id": endpoint_id}, {})

    def rotate_secret(
        self,
        endpoint_id: str,
        *,
        grace_hours: Optional[int] = None,
    ) -> t.WebhookEndpointWithSecret:
        """Give a webhook endpoint a new secret. `POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret`

        grace_hours: How long both are valid, in hours; 24 when absent
        """
        result: t.WebhookEndpointWithSecret = self._call("webhook_endpoints.rotate_secret", {"endpoint_id": endpoint_id}, {
            "grace_hours": grace_hours,
        })
        return result

    def deliveries(
        self,
        endpoint_id: str,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        created_after: Optional[str] = None,
        created_before: Optional[str] = None,
        status: Optional[Literal["pending", "delivered", "exhausted", "canceled"]] = None,
    ) -> Listing[t.WebhookDelivery]:
        """What was sent to a webhook endpoint, and what came back, newest first. `GET /v1/webhook_endpoints/{endpoint_id}/deliveries`

        limit: How many, 1 to 100; 20 when absent
        cursor: next_cursor of the page before, with the same filters
        created_after: Created at this time or later
        created_before: Created before this time
        """
        return Listing(self._call, "webhook_endpoints.deliveries", {"endpoint_id": endpoint_id}, {
            "limit": limit,
            "cursor": cursor,
            "created_after": created_after,
            "created_before": created_before,
            "status": status,
        })

    def delivery(
        self,
        endpoint_id: str,
        event_id: str,
    ) -> t.WebhookDelivery:
        """One delivery, with all that is kept of the responses. `GET /v1/webhook_endpoints/{endpoint_id}/deliveries/{event_id}`"""
        result: t.WebhookDelivery = self._call("webhook_endpoints.delivery", {"endpoint_id": endpoint_id, "event_id": event_id}, {})
        return result

    def test(self, endpoint_id: str) -> t.WebhookDelivery:
        """Send a test event to a webhook endpoint. `POST /v1/webhook_endpoints/{endpoint_id}/test`"""
        result: t.WebhookDelivery = self._call("webhook_endpoints.test", {"endpoint_id": endpoint_id}, {})
        return result

    def redeliver(
        self,
        endpoint_id: str,
        *,
        from_: str,
        to: str,
    ) -> t.WebhookEndpointsRedeliverResult:
        """Send everything of a time range again. `POST /v1/webhook_endpoints/{endpoint_id}/redeliver`

        from_: Inclusive
        to: Exclusive
        """
        result: t.WebhookEndpointsRedeliverResult = self._call("webhook_endpoints.redeliver", {"endpoint_id": endpoint_id}, {
            "from": from_,
            "to": to,
        })
        return result


class Usage(Resource):
    def get(self) -> t.Usage:
        """What is left of this key’s limits. `GET /v1/usage`"""
        result: t.Usage = self._call("usage.get", {}, {})
        return result


class Resources(Resource):
    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.customers = Customers(call)
        self.pix = Pix(call)
        self.sandbox = Sandbox(call)
        self.onchain = Onchain(call)
        self.quotes = Quotes(call)
        self.trades = Trades(call)
        self.prices = Prices(call)
        self.account = Account(call)
        self.deposit_addresses = DepositAddresses(call)
        self.deposits = Deposits(call)
        self.events = Events(call)
        self.requests = Requests(call)
        self.webhook_endpoints = WebhookEndpoints(call)
        self.usage = Usage(call)
