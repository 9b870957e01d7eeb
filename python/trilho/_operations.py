# Written by `npm run generate` from openapi.json. Not to be edited.

from typing import Dict

from ._operation import EVENT, Operation, Shape

VERSION = "0.1.0"

# Every method of the client by its name: what is sent where, whether it may be sent again, and where amounts are.
OPERATIONS: Dict[str, Operation] = {
    "customers.create": Operation("POST", "/v1/customers", "once", "id", takes="body"),
    "customers.list": Operation("GET", "/v1/customers", "safe", "data", takes="query"),
    "customers.get": Operation("GET", "/v1/customers/{customer_id}", "safe", "id"),
    "customers.update": Operation("PATCH", "/v1/customers/{customer_id}", "idempotent", "id", takes="body"),
    "customers.balances": Operation("GET", "/v1/customers/{customer_id}/balances", "safe", "data", got={"data": [{"available": True, "in_transit": True, "total": True}]}),
    "customers.statement": Operation("GET", "/v1/customers/{customer_id}/statement", "safe", "data", takes="query", got={"data": [{"amount": True, "balance_after": True}]}),
    "pix.payouts.create": Operation("POST", "/v1/pix/payouts", "idempotency_key", "id", takes="body", sent={"amount": True}, got={"amount": True, "fee": True}),
    "pix.payouts.dry_run": Operation("POST", "/v1/pix/payouts?dry_run=true", "safe", "dry_run", takes="body", sent={"amount": True}, got={"fee": True, "balance_after": True}),
    "pix.payouts.list": Operation("GET", "/v1/pix/payouts", "safe", "data", takes="query", got={"data": [{"amount": True, "fee": True}]}),
    "pix.payouts.get": Operation("GET", "/v1/pix/payouts/{payout_id}", "safe", "id", got={"amount": True, "fee": True}),
    "pix.keys.get": Operation("GET", "/v1/pix/keys/{pix_key}", "safe", "type", takes="query"),
    "pix.payouts.receipt": Operation("GET", "/v1/pix/payouts/{payout_id}/receipt", "safe", "", takes="query", media="application/pdf"),
    "sandbox.payouts.complete": Operation("POST", "/v1/sandbox/pix/payouts/{payout_id}/complete", "idempotent", "id", got={"amount": True, "fee": True}),
    "sandbox.payouts.fail": Operation("POST", "/v1/sandbox/pix/payouts/{payout_id}/fail", "idempotent", "id", got={"amount": True, "fee": True}),
    "onchain.transfers.create": Operation("POST", "/v1/onchain/transfers", "idempotency_key", "id", takes="body", sent={"amount": True}, got={"amount_gross": True, "amount_net": True, "fee": True}),
    "onchain.transfers.dry_run": Operation("POST", "/v1/onchain/transfers?dry_run=true", "safe", "dry_run", takes="body", sent={"amount": True}, got={"fee": True, "balance_after": True}),
    "onchain.transfers.list": Operation("GET", "/v1/onchain/transfers", "safe", "data", takes="query", got={"data": [{"amount_gross": True, "amount_net": True, "fee": True}]}),
    "onchain.transfers.get": Operation("GET", "/v1/onchain/transfers/{transfer_id}", "safe", "id", got={"amount_gross": True, "amount_net": True, "fee": True}),
    "onchain.fees.list": Operation("GET", "/v1/onchain/fees", "safe", "data", got={"data": [{"fee": True}]}),
    "onchain.transfers.receipt": Operation("GET", "/v1/onchain/transfers/{transfer_id}/receipt", "safe", "", takes="query", media="application/pdf"),
    "sandbox.transfers.confirm": Operation("POST", "/v1/sandbox/onchain/transfers/{transfer_id}/confirm", "idempotent", "id", got={"amount_gross": True, "amount_net": True, "fee": True}),
    "sandbox.transfers.fail": Operation("POST", "/v1/sandbox/onchain/transfers/{transfer_id}/fail", "idempotent", "id", got={"amount_gross": True, "amount_net": True, "fee": True}),
    "quotes.create": Operation("POST", "/v1/quotes", "harmless", "id", takes="body", sent={"amount": True}, got={"from_amount": True, "to_amount": True, "price": True, "fees": {"total": True, "partner": True, "service": True}}),
    "quotes.list": Operation("GET", "/v1/quotes", "safe", "data", takes="query", got={"data": [{"from_amount": True, "to_amount": True, "price": True, "fees": {"total": True, "partner": True, "service": True}}]}),
    "quotes.execute": Operation("POST", "/v1/quotes/{quote_id}/execute", "idempotent", "id", got={"from_amount": True, "to_amount": True, "executed_price": True, "fees": {"total": True, "partner": True, "service": True}}),
    "quotes.dry_run": Operation("POST", "/v1/quotes/{quote_id}/execute?dry_run=true", "safe", "dry_run", got={"fee": True, "balance_after": True}),
    "quotes.get": Operation("GET", "/v1/quotes/{quote_id}", "safe", "id", got={"from_amount": True, "to_amount": True, "price": True, "fees": {"total": True, "partner": True, "service": True}}),
    "trades.list": Operation("GET", "/v1/trades", "safe", "data", takes="query", got={"data": [{"from_amount": True, "to_amount": True, "executed_price": True, "fees": {"total": True, "partner": True, "service": True}}]}),
    "trades.get": Operation("GET", "/v1/trades/{trade_id}", "safe", "id", got={"from_amount": True, "to_amount": True, "executed_price": True, "fees": {"total": True, "partner": True, "service": True}}),
    "prices.list": Operation("GET", "/v1/prices", "safe", "data"),
    "sandbox.prices.set": Operation("POST", "/v1/sandbox/prices", "idempotent", "data", takes="body"),
    "sandbox.quotes.expire": Operation("POST", "/v1/sandbox/quotes/{quote_id}/expire", "idempotent", "id", got={"from_amount": True, "to_amount": True, "price": True, "fees": {"total": True, "partner": True, "service": True}}),
    "account.get": Operation("GET", "/v1/account", "safe", "id", got={"fees": {"pix": {"fee": True}}, "partner_fees": [{"accrued": True}]}),
    "account.fee_payouts": Operation("GET", "/v1/account/fee_payouts", "safe", "data", takes="query", got={"data": [{"amount": True}]}),
    "deposits.list": Operation("GET", "/v1/deposits", "safe", "data", takes="query", got={"data": [{"amount": True}]}),
    "deposits.get": Operation("GET", "/v1/deposits/{deposit_id}", "safe", "id", got={"amount": True}),
    "sandbox.deposits.create": Operation("POST", "/v1/sandbox/deposits", "never", "id", takes="body", sent={"amount": True}, got={"amount": True}),
    "events.list": Operation("GET", "/v1/events", "safe", "data", takes="query", got={"data": [EVENT]}),
    "events.get": Operation("GET", "/v1/events/{event_id}", "safe", "id", got=EVENT),
    "requests.list": Operation("GET", "/v1/requests", "safe", "data", takes="query"),
    "requests.get": Operation("GET", "/v1/requests/{request_id}", "safe", "id"),
    "webhook_endpoints.create": Operation("POST", "/v1/webhook_endpoints", "never", "id", takes="body"),
    "webhook_endpoints.list": Operation("GET", "/v1/webhook_endpoints", "safe", "data", takes="query"),
    "webhook_endpoints.get": Operation("GET", "/v1/webhook_endpoints/{endpoint_id}", "safe", "id"),
    "webhook_endpoints.update": Operation("PATCH", "/v1/webhook_endpoints/{endpoint_id}", "idempotent", "id", takes="body"),
    "webhook_endpoints.delete": Operation("DELETE", "/v1/webhook_endpoints/{endpoint_id}", "once", ""),
    "webhook_endpoints.rotate_secret": Operation("POST", "/v1/webhook_endpoints/{endpoint_id}/rotate_secret", "never", "id", takes="body"),
    "webhook_endpoints.deliveries": Operation("GET", "/v1/webhook_endpoints/{endpoint_id}/deliveries", "safe", "data", takes="query"),
    "webhook_endpoints.delivery": Operation("GET", "/v1/webhook_endpoints/{endpoint_id}/deliveries/{event_id}", "safe", "event_id"),
    "webhook_endpoints.test": Operation("POST", "/v1/webhook_endpoints/{endpoint_id}/test", "never", "event_id"),
    "webhook_endpoints.redeliver": Operation("POST", "/v1/webhook_endpoints/{endpoint_id}/redeliver", "never", "redelivered", takes="body"),
    "events.redeliver": Operation("POST", "/v1/events/{event_id}/redeliver", "never", "redelivered", takes="body"),
    "sandbox.events.create": Operation("POST", "/v1/sandbox/events/{kind}", "never", "id", takes="body", got=EVENT),
    "usage.get": Operation("GET", "/v1/usage", "safe", "minute"),
}

# Where amounts are in the object of an event, by the type of the event.
EVENTS: Dict[str, Shape] = {
    "customer.created": None,
    "customer.updated": None,
    "customer.blocked": None,
    "customer.unblocked": None,
    "deposit.completed": {"amount": True},
    "pix.payout.created": {"amount": True, "fee": True},
    "pix.payout.processing": {"amount": True, "fee": True},
    "pix.payout.completed": {"amount": True, "fee": True},
    "pix.payout.failed": {"amount": True, "fee": True},
    "onchain.transfer.created": {"amount_gross": True, "amount_net": True, "fee": True},
    "onchain.transfer.processing": {"amount_gross": True, "amount_net": True, "fee": True},
    "onchain.transfer.confirmed": {"amount_gross": True, "amount_net": True, "fee": True},
    "onchain.transfer.failed": {"amount_gross": True, "amount_net": True, "fee": True},
    "trade.completed": {"from_amount": True, "to_amount": True, "executed_price": True, "fees": {"total": True, "partner": True, "service": True}},
    "trade.failed": {"from_amount": True, "to_amount": True, "executed_price": True, "fees": {"total": True, "partner": True, "service": True}},
    "fee_payout.completed": {"amount": True},
    "api_key.created": None,
    "api_key.rotated": None,
    "api_key.revoked": None,
    "webhook_endpoint.disabled": None,
    "webhook_endpoint.test": None,
}

# Where amounts are in the details of an error, by its code.
DETAILS: Dict[str, Shape] = {
    "insufficient_balance": {"needed": True, "available": True},
    "limit_exceeded": {"allowed": True, "used": True},
}
