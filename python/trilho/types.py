# Written by `npm run generate` from openapi.json. Not to be edited.
"""What the API takes and returns, as dictionaries with typed keys."""

from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

class CustomerAlways(TypedDict):
    id: str
    """Starts with cus_"""
    name: str
    document: str
    """CPF or CNPJ, masked"""
    document_type: Union[Literal["cpf", "cnpj"], str]
    metadata: Dict[str, str]
    status: Union[Literal["active", "blocked"], str]
    """A blocked customer can be read and starts nothing; what is paid to it is credited"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class Customer(CustomerAlways, total=False):
    email: str
    external_id: str
    third_party_payouts: bool
    """Whether the operator arranged that this customer may pay other documents; its own setting, beside that of the partner"""


class Balance(TypedDict):
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    available: int
    """Whole number of the smallest unit"""
    in_transit: int
    """Whole number of the smallest unit"""
    total: int
    """Whole number of the smallest unit"""
    decimals: int


class StatementLineCauseAlways(TypedDict):
    type: Union[Literal["payout", "transfer", "trade", "deposit", "reversal", "return", "adjustment"], str]
    """`reversal` is money that a failed payout or transfer returned, with the id of that payout or transfer, or a credit that the operator took back (`adj_…`). `return` is money of a completed Pix payment that went back: `of` names the payment"""
    id: str
    """The object that moved the money; its prefix tells its type"""


class StatementLineCause(StatementLineCauseAlways, total=False):
    of: str
    """For a `return`: the payout or deposit of which the money went back"""


class StatementLine(TypedDict):
    id: str
    """Names this line, and no other: the customer, the asset and seq"""
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    seq: int
    """Counts the lines of this asset from 1, without a gap"""
    amount: int
    """Whole number of the smallest unit; negative when it left the balance"""
    balance_after: int
    """Whole number of the smallest unit"""
    decimals: int
    cause: "StatementLineCause"
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class ToPixKeyAlways(TypedDict):
    type: Literal["pix_key"]
    pix_key: str
    """CPF, CNPJ, e-mail, phone (+55…) or random key"""


class ToPixKey(ToPixKeyAlways, total=False):
    document: str
    """The holder’s CPF or CNPJ: another holder’s key is refused. Default: whoever the directory names; where it cannot be asked, the customer’s own document, so a payout to somebody else needs it"""


class ToBankAccount(TypedDict):
    type: Literal["bank_account"]
    ispb: str
    """The bank’s ISPB, eight characters"""
    branch: str
    """Branch, without its check digit"""
    account_number: str
    """Account with its check digit, digits only"""
    account_type: Literal["checking", "savings", "payment", "salary"]
    name: str
    """The holder’s name"""
    document: str
    """The holder’s CPF or CNPJ"""


class PixPayoutCounterpartyAlways(TypedDict):
    name: str
    """Empty if the payment provider names no holders, and it is not the customer"""
    document: str
    """Masked"""
    pix_key: Optional[str]
    """Normalised; null for a bank account"""


class PixPayoutCounterparty(PixPayoutCounterpartyAlways, total=False):
    ispb: str
    branch: str
    account_number: str
    account_type: str


class PixPayoutFailureAlways(TypedDict):
    code: Union[Literal["recipient_account_invalid", "recipient_account_blocked", "recipient_account_closed", "recipient_document_mismatch", "recipient_key_not_found", "recipient_limit_exceeded", "payment_not_supported", "rejected_by_recipient_bank", "suspected_fraud", "regulatory_block", "network_timeout", "never_sent", "provider_error", "resolved_by_operator"], str]
    message: str


class PixPayoutFailure(PixPayoutFailureAlways, total=False):
    rail_code: str
    """As the Pix network said it"""


class PixPayoutAlways(TypedDict):
    id: str
    """Starts with po_"""
    customer_id: str
    """Starts with cus_"""
    direction: Union[Literal["outbound"], str]
    amount: int
    """Whole number of the smallest unit"""
    fee: int
    """Fee in centavos"""
    decimals: Literal[2]
    status: Union[Literal["pending", "processing", "completed", "failed"], str]
    """completed and failed are final"""
    counterparty: "PixPayoutCounterparty"
    end_to_end_id: Optional[str]
    """Id in the Pix network; null until completed"""
    failure: Optional["PixPayoutFailure"]
    """Why it failed; null otherwise"""
    idempotency_key: str
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class PixPayout(PixPayoutAlways, total=False):
    description: str
    metadata: Dict[str, str]
    """Your own texts, as the request had them"""
    amount_returned: int
    """What came back of the payment after it was completed, in centavos; absent if nothing did"""
    completed_at: str
    """When it was paid"""
    failed_at: str
    """When it failed, and the money was given back"""


class PixPayoutDryRunCounterpartyAlways(TypedDict):
    name: str
    """Empty if the payment provider names no holders, and it is not the customer"""
    document: str
    """Masked"""
    pix_key: Optional[str]
    """Normalised; null for a bank account"""


class PixPayoutDryRunCounterparty(PixPayoutDryRunCounterpartyAlways, total=False):
    ispb: str
    branch: str
    account_number: str
    account_type: str


class PixPayoutDryRunAlways(TypedDict):
    dry_run: Literal[True]
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    decimals: int
    """Decimals of asset"""
    fee: int
    """Whole number of the smallest unit"""
    balance_after: int
    """Whole number of the smallest unit"""
    would_replay: bool
    """This very request was made before: it would get that answer, and nothing would move"""


class PixPayoutDryRun(PixPayoutDryRunAlways, total=False):
    counterparty: "PixPayoutDryRunCounterparty"


class PixKeyHolder(TypedDict):
    """Who holds the key. Absent where the payment provider lets nobody look keys up: it checks the holder when it pays"""
    name: str
    document: str
    """Masked"""


class PixKeyAlways(TypedDict):
    type: Union[Literal["cpf", "cnpj", "email", "phone", "random"], str]
    pix_key: str
    """Normalised"""


class PixKey(PixKeyAlways, total=False):
    holder: "PixKeyHolder"
    """Who holds the key. Absent where the payment provider lets nobody look keys up: it checks the holder when it pays"""
    payable: bool
    """Whether the customer asked about may pay it; absent if this shows only when the payment is made"""


class PixChargeFailureAlways(TypedDict):
    code: Union[Literal["provider_error", "provider_unreachable"], str]
    message: str


class PixChargeFailure(PixChargeFailureAlways, total=False):
    """Why it failed"""
    rail_code: str
    """As the payment provider said it"""


class PixChargeAlways(TypedDict):
    id: str
    """Starts with chg_"""
    customer_id: str
    """Starts with cus_"""
    amount: int
    """Whole number of the smallest unit"""
    decimals: Literal[2]
    status: Union[Literal["pending", "open", "paid", "expired", "failed"], str]
    """pending is being registered with the payment provider; open can be paid; paid and failed are final; expired becomes paid if a late payment completes the amount"""
    amount_received: int
    """The sum of the payments that were credited, in centavos; it may be above `amount`"""
    pix_copia_e_cola: Optional[str]
    """The BR Code that the payer copies, or scans as a QR code; null until the charge is open"""
    txid: str
    """The charge’s reference in the Pix network"""
    idempotency_key: str
    expires_at: str
    """Until when it can be paid"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class PixCharge(PixChargeAlways, total=False):
    description: str
    failure: "PixChargeFailure"
    """Why it failed"""
    metadata: Dict[str, str]
    """Your own texts, as the request had them"""
    paid_at: str
    """When the payment was made that completed the amount"""
    failed_at: str
    """When it failed"""


class PixPayment(TypedDict):
    end_to_end_id: str
    """The id of the payment in the Pix network"""
    charge_id: Optional[str]
    """The charge that was paid"""
    amount: int
    """Whole number of the smallest unit"""
    deposit_id: Optional[str]
    """Its credit; null if nothing was credited"""


class DepositConfirmations(TypedDict):
    seen: int
    """Blocks with and above the transaction, when it was last looked at"""
    needed: int
    """It is credited when so many were seen"""


class DepositAlways(TypedDict):
    id: str
    """Starts with dep_"""
    customer_id: str
    """Starts with cus_"""
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    amount: int
    """Whole number of the smallest unit"""
    decimals: int
    status: Union[Literal["completed", "pending", "dropped"], str]
    """completed is final: the balance has it. pending was seen on its network, and waits for confirmations; dropped was removed from the chain before that, and becomes pending again if it comes back"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class Deposit(DepositAlways, total=False):
    network: Union[Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"], str]
    """The network on which it came in"""
    address: str
    """The deposit address that was paid"""
    tx_hash: str
    """The transaction that paid it"""
    output_index: int
    """Which output of the transaction, or which of its log entries; with tx_hash it names one deposit"""
    confirmations: "DepositConfirmations"
    below_minimum: bool
    """There, and true, when it is below the minimum of its network: then it stays pending"""
    end_to_end_id: str
    """The id of the payment in the Pix network"""
    charge_id: str
    """The charge that was paid"""
    amount_returned: int
    """The amount that was returned to the payer and debited again; absent if nothing was"""
    completed_at: str
    """When the balance got it"""


class OnchainTransferFailureAlways(TypedDict):
    code: Union[Literal["refused_before_broadcast", "reverted", "canceled", "resolved_by_operator"], str]
    message: str


class OnchainTransferFailure(OnchainTransferFailureAlways, total=False):
    rail_code: str
    """As the network said it"""


class OnchainTransferAlways(TypedDict):
    id: str
    """Starts with tr_"""
    customer_id: str
    """Starts with cus_"""
    direction: Union[Literal["outbound"], str]
    asset: Union[Literal["USDT", "BTC"], str]
    network: Union[Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"], str]
    amount_gross: int
    """What leaves the balance: amount_net + fee"""
    amount_net: int
    """What the recipient gets"""
    fee: int
    """Network fee"""
    decimals: int
    status: Union[Literal["pending", "processing", "confirmed", "failed"], str]
    """confirmed and failed are final"""
    destination_address: str
    tx_hash: Optional[str]
    """Null until broadcast"""
    failure: Optional["OnchainTransferFailure"]
    """Why it failed; null otherwise"""
    idempotency_key: str
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class OnchainTransfer(OnchainTransferAlways, total=False):
    metadata: Dict[str, str]
    """Your own texts, as the request had them"""
    completed_at: str
    """When it was confirmed"""
    failed_at: str
    """When it failed, and the money was given back"""


class OnchainTransferDryRun(TypedDict):
    dry_run: Literal[True]
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    decimals: int
    """Decimals of asset"""
    fee: int
    """Whole number of the smallest unit"""
    balance_after: int
    """Whole number of the smallest unit"""
    would_replay: bool
    """This very request was made before: it would get that answer, and nothing would move"""


class NetworkFee(TypedDict):
    network: Union[Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"], str]
    asset: Union[Literal["USDT", "BTC"], str]
    fee: int
    """Whole number of the smallest unit"""
    decimals: int


class Fees(TypedDict):
    """In smallest units of from_asset; total is partner plus service"""
    total: int
    """Whole number of the smallest unit"""
    total_bps: int
    """partner_bps + service_bps"""
    partner: int
    """Whole number of the smallest unit"""
    partner_bps: int
    """The partner’s part, in basis points"""
    service: int
    """Whole number of the smallest unit"""
    service_bps: int
    """The service’s part, in basis points"""


class QuoteAlways(TypedDict):
    id: str
    """Starts with qt_"""
    customer_id: str
    """Starts with cus_"""
    from_asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """What is paid"""
    to_asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """What is received"""
    from_amount: int
    """What leaves the balance, fees included"""
    to_amount: int
    """What is added to the balance"""
    from_decimals: int
    to_decimals: int
    price: int
    """What 1 to_asset costs, in smallest units of from_asset; for display"""
    price_decimals: int
    """Shown price = price / 10^price_decimals"""
    market_price: str
    """Quote asset per base asset, exact: what the amounts were computed with"""
    side: Union[Literal["buy", "sell"], str]
    """What the customer does with the base asset of the pair"""
    fees: "Fees"
    status: Union[Literal["pending", "expired", "executed"], str]
    """expired once 30 seconds have passed without execution"""
    expires_at: str
    """30 seconds after created_at"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class Quote(QuoteAlways, total=False):
    trade_id: str
    """The trade it became, once it was executed"""
    metadata: Dict[str, str]
    """Your own texts, as the request had them"""


class TradeFailure(TypedDict):
    code: Union[Literal["treasury_limit"], str]
    message: str


class TradeAlways(TypedDict):
    id: str
    """Starts with td_"""
    quote_id: str
    """Starts with qt_"""
    customer_id: str
    """Starts with cus_"""
    status: Union[Literal["completed", "failed"], str]
    """A failed trade moved nothing"""
    from_asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """What is paid"""
    to_asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """What is received"""
    from_amount: int
    """What leaves the balance, fees included"""
    to_amount: int
    """What is added to the balance"""
    from_decimals: int
    to_decimals: int
    executed_price: int
    """The quote’s price"""
    price_decimals: int
    """Shown price = price / 10^price_decimals"""
    market_price: str
    """Quote asset per base asset, exact: what the amounts were computed with"""
    side: Union[Literal["buy", "sell"], str]
    """What the customer does with the base asset of the pair"""
    fees: "Fees"
    failure: Optional["TradeFailure"]
    """Why it failed; null otherwise"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    completed_at: str
    """ISO 8601, UTC, milliseconds"""


class Trade(TradeAlways, total=False):
    metadata: Dict[str, str]
    """Your own texts, as the request had them"""


class TradeDryRunWouldFail(TypedDict):
    """Present when the trade would be, or was, made as `failed`: nothing would move"""
    code: str
    message: str


class TradeDryRunAlways(TypedDict):
    dry_run: Literal[True]
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    decimals: int
    """Decimals of asset"""
    fee: int
    """Whole number of the smallest unit"""
    balance_after: int
    """Whole number of the smallest unit"""
    would_replay: bool
    """This very request was made before: it would get that answer, and nothing would move"""


class TradeDryRun(TradeDryRunAlways, total=False):
    would_fail: "TradeDryRunWouldFail"
    """Present when the trade would be, or was, made as `failed`: nothing would move"""


class Price(TypedDict):
    pair: Union[Literal["USDT/BRL", "BTC/USDT", "BTC/BRL"], str]
    """Base asset / quote asset"""
    price: str
    """Quote asset for one base asset, as the market has it"""
    buy_price: str
    """What a quote that buys the base asset would lock"""
    sell_price: str
    """What a quote that sells the base asset would lock"""
    source: str
    """Where the price was seen"""
    observed_at: str
    """ISO 8601, UTC, milliseconds"""
    age_ms: int
    """How long ago that was"""
    fresh: bool
    """false: too old to quote from, a quote gets price_unavailable"""


class AccountFeesPix(TypedDict):
    fee: int
    """Whole number of the smallest unit"""
    asset: Union[Literal["BRL"], str]


class AccountFeesConversion(TypedDict):
    service_bps: int
    """The service’s fee, in basis points"""
    share_pct: int
    """How much of your own fee goes to the operator, in percent"""


class AccountFees(TypedDict):
    """What was agreed"""
    pix: "AccountFeesPix"
    conversion: "AccountFeesConversion"


class AccountPartnerFeesItem(TypedDict):
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    accrued: int
    """Earned by your fees on conversions and not yet paid out to you"""
    decimals: int


class Account(TypedDict):
    id: str
    """Starts with ptn_"""
    name: str
    environment: Union[Literal["production", "sandbox"], str]
    tier: Union[Literal["standard", "growth", "enterprise"], str]
    fees: "AccountFees"
    """What was agreed"""
    third_party_payouts: bool
    """Payouts may go to other documents than the customer’s"""
    partner_fees: List["AccountPartnerFeesItem"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class FeePayoutAlways(TypedDict):
    id: str
    """Starts with fp_"""
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    amount: int
    """Whole number of the smallest unit"""
    decimals: int
    reference: str
    """The operator’s reference"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class FeePayout(FeePayoutAlways, total=False):
    customer_id: str
    """Whose balance it was paid to; absent when it was paid outside"""


class DepositAddress(TypedDict):
    id: str
    """Starts with da_"""
    customer_id: str
    """Starts with cus_"""
    network: Union[Literal["polygon", "arbitrum", "optimism", "tron", "ethereum", "bitcoin"], str]
    asset: Union[Literal["USDT", "BTC"], str]
    """What may be sent to it; anything else is lost"""
    address: str
    minimum_amount: int
    """A smaller deposit is not credited by itself: whole number of the smallest unit"""
    decimals: int
    confirmations_needed: int
    """Blocks with and above a transaction before it is credited"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class RequestAlways(TypedDict):
    id: str
    """As in the header X-Request-Id"""
    key_id: str
    """Starts with key_"""
    method: str
    status: int
    """The HTTP status of the response"""
    duration_ms: int
    address: str
    """IP address of the caller"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class Request(RequestAlways, total=False):
    route: str
    """Route template; absent if no route matched"""
    error_code: str
    """error.code of the response, if it was refused"""
    object_id: str
    """Id of the object in the response, or else the last id in the path"""


class WebhookEndpointWithSecretAlways(TypedDict):
    id: str
    """Starts with whe_"""
    url: str
    """Where to POST: https (in the sandbox also http), a public address"""
    events: List[Union[Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled", "*"], str]]
    """Event types; * is every type, also those to come"""
    status: Union[Literal["enabled", "disabled"], str]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    secret: str
    """Signs what is sent; shown this once"""


class WebhookEndpointWithSecret(WebhookEndpointWithSecretAlways, total=False):
    description: str
    """For yourself"""
    disabled_reason: Union[Literal["by_request", "gone", "failing"], str]
    """gone: it returned 410; failing: nothing but failures for five days"""
    disabled_at: str
    """ISO 8601, UTC, milliseconds"""
    failing_since: str
    """Time of the first failure since the last success, change of URL or enabling"""
    previous_secret_until: str
    """Until then every request is signed with the secret before the last rotation too"""


class WebhookEndpointAlways(TypedDict):
    id: str
    """Starts with whe_"""
    url: str
    """Where to POST: https (in the sandbox also http), a public address"""
    events: List[Union[Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled", "*"], str]]
    """Event types; * is every type, also those to come"""
    status: Union[Literal["enabled", "disabled"], str]
    created_at: str
    """ISO 8601, UTC, milliseconds"""


class WebhookEndpoint(WebhookEndpointAlways, total=False):
    description: str
    """For yourself"""
    disabled_reason: Union[Literal["by_request", "gone", "failing"], str]
    """gone: it returned 410; failing: nothing but failures for five days"""
    disabled_at: str
    """ISO 8601, UTC, milliseconds"""
    failing_since: str
    """Time of the first failure since the last success, change of URL or enabling"""
    previous_secret_until: str
    """Until then every request is signed with the secret before the last rotation too"""


class WebhookDeliveryAttemptsItemRequest(TypedDict):
    url: str
    headers: Dict[str, str]


class WebhookDeliveryAttemptsItemAnswerAlways(TypedDict):
    status: int


class WebhookDeliveryAttemptsItemAnswer(WebhookDeliveryAttemptsItemAnswerAlways, total=False):
    headers: Dict[str, str]
    """Selected response headers, up to 256 characters each"""
    body: str
    """Its beginning: of a success 1 KiB, of a failure 4 KiB; in lists 1,024 characters. Kept of the last three attempts, and up to 32 MiB of responses a day; otherwise empty"""
    body_cut: Literal[True]
    """There is more of it in the single delivery"""


class WebhookDeliveryAttemptsItemAlways(TypedDict):
    attempt: int
    started_at: str
    """ISO 8601, UTC, milliseconds"""
    duration_ms: int
    request: "WebhookDeliveryAttemptsItemRequest"


class WebhookDeliveryAttemptsItem(WebhookDeliveryAttemptsItemAlways, total=False):
    answer: "WebhookDeliveryAttemptsItemAnswer"
    error: str
    """Why there was no complete response"""


class WebhookDeliveryAlways(TypedDict):
    event_id: str
    """Starts with evt_"""
    endpoint_id: str
    """Starts with whe_"""
    type: Union[Literal["customer.created", "customer.updated", "customer.blocked", "customer.unblocked", "deposit.pending", "deposit.completed", "deposit.dropped", "deposit.returned", "pix.payout.created", "pix.payout.processing", "pix.payout.completed", "pix.payout.failed", "pix.payout.returned", "pix.charge.open", "pix.charge.paid", "pix.charge.expired", "pix.charge.failed", "onchain.transfer.created", "onchain.transfer.processing", "onchain.transfer.confirmed", "onchain.transfer.failed", "trade.completed", "trade.failed", "fee_payout.completed", "api_key.created", "api_key.rotated", "api_key.revoked", "webhook_endpoint.disabled", "webhook_endpoint.test"], str]
    status: Union[Literal["pending", "delivered", "exhausted", "canceled"], str]
    """exhausted: every attempt of the schedule failed; canceled: the endpoint was disabled or deleted before it was delivered. Both can be redelivered. There may be more in the future"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    attempts: List["WebhookDeliveryAttemptsItem"]
    """The last 20"""


class WebhookDelivery(WebhookDeliveryAlways, total=False):
    next_attempt_at: str
    """While it is pending"""
    ended_at: str
    """ISO 8601, UTC, milliseconds"""
    body: str
    """What is sent, to the byte, the same in every attempt"""


class UsageMinute(TypedDict):
    limit: int
    used: int
    remaining: int
    resets_at: str
    """ISO 8601, UTC, milliseconds"""


class UsageDay(TypedDict):
    limit: int
    used: int
    remaining: int
    resets_at: str
    """ISO 8601, UTC, milliseconds"""


class UsageEndpointsItem(TypedDict):
    endpoint: str
    limit: int
    used: int
    remaining: int
    resets_at: str
    """ISO 8601, UTC, milliseconds"""


class UsageLookups(TypedDict):
    """Look-ups of Pix keys, per minute"""
    limit: int
    used: int
    remaining: int
    resets_at: str
    """ISO 8601, UTC, milliseconds"""


class Usage(TypedDict):
    minute: "UsageMinute"
    day: "UsageDay"
    endpoints: List["UsageEndpointsItem"]
    lookups: "UsageLookups"
    """Look-ups of Pix keys, per minute"""


class ApiKey(TypedDict):
    id: str
    """Starts with key_"""
    partner_id: str
    """Starts with ptn_"""
    environment: Union[Literal["production", "sandbox"], str]
    name: str
    last_four: str
    """The end of its value"""
    scopes: List[Union[Literal["read", "customers", "payouts", "transfers", "quotes", "webhooks"], str]]
    ip_allowlist: List[str]
    """Empty: any address"""
    expires_at: Optional[str]
    """When it stops working"""
    revoked_at: Optional[str]
    """When it was revoked"""
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    last_used_at: Optional[str]
    """When it was used last"""
    last_used_address: Optional[str]
    """From where"""


class InsufficientBalanceDetails(TypedDict):
    """`error.details` of `insufficient_balance`"""
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    needed: int
    """Whole number of the smallest unit"""
    available: int
    """Whole number of the smallest unit"""


class CustomerExistsDetails(TypedDict):
    """`error.details` of `customer_exists`"""
    customer_id: str
    """Starts with cus_"""


class LimitExceededDetails(TypedDict):
    """`error.details` of `limit_exceeded`"""
    limit: Union[Literal["payout_order", "payout_day", "payout_night", "transfer_order", "transfer_day"], str]
    asset: Union[Literal["BRL", "USDT", "BTC"], str]
    """BRL, USDT or BTC"""
    allowed: int
    """Whole number of the smallest unit"""
    used: int
    """Whole number of the smallest unit"""
    resets_at: Optional[str]
    """Null for the limit of a single order"""


class RateLimitExceededDetailsAlways(TypedDict):
    limit: int
    retry_after_seconds: int


class RateLimitExceededDetails(RateLimitExceededDetailsAlways, total=False):
    """`error.details` of `rate_limit_exceeded`"""
    window: Union[Literal["minute", "day", "endpoint", "lookups", "address", "waits"], str]
    """Absent where too many requests or connections were open at once"""


class CustomerCreatedEventData(TypedDict):
    object: "Customer"


class CustomerCreatedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["customer.created"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "CustomerCreatedEventData"


class CustomerUpdatedEventData(TypedDict):
    object: "Customer"


class CustomerUpdatedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["customer.updated"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "CustomerUpdatedEventData"


class CustomerBlockedEventData(TypedDict):
    object: "Customer"


class CustomerBlockedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["customer.blocked"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "CustomerBlockedEventData"


class CustomerUnblockedEventData(TypedDict):
    object: "Customer"


class CustomerUnblockedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["customer.unblocked"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "CustomerUnblockedEventData"


class DepositPendingEventData(TypedDict):
    object: "Deposit"


class DepositPendingEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["deposit.pending"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "DepositPendingEventData"


class DepositCompletedEventData(TypedDict):
    object: "Deposit"


class DepositCompletedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["deposit.completed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "DepositCompletedEventData"


class DepositDroppedEventData(TypedDict):
    object: "Deposit"


class DepositDroppedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["deposit.dropped"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "DepositDroppedEventData"


class DepositReturnedEventData(TypedDict):
    object: "Deposit"


class DepositReturnedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["deposit.returned"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "DepositReturnedEventData"


class PixPayoutCreatedEventData(TypedDict):
    object: "PixPayout"


class PixPayoutCreatedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.payout.created"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixPayoutCreatedEventData"


class PixPayoutProcessingEventData(TypedDict):
    object: "PixPayout"


class PixPayoutProcessingEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.payout.processing"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixPayoutProcessingEventData"


class PixPayoutCompletedEventData(TypedDict):
    object: "PixPayout"


class PixPayoutCompletedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.payout.completed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixPayoutCompletedEventData"


class PixPayoutFailedEventData(TypedDict):
    object: "PixPayout"


class PixPayoutFailedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.payout.failed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixPayoutFailedEventData"


class PixPayoutReturnedEventData(TypedDict):
    object: "PixPayout"


class PixPayoutReturnedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.payout.returned"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixPayoutReturnedEventData"


class PixChargeOpenEventData(TypedDict):
    object: "PixCharge"


class PixChargeOpenEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.charge.open"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixChargeOpenEventData"


class PixChargePaidEventData(TypedDict):
    object: "PixCharge"


class PixChargePaidEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.charge.paid"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixChargePaidEventData"


class PixChargeExpiredEventData(TypedDict):
    object: "PixCharge"


class PixChargeExpiredEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.charge.expired"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixChargeExpiredEventData"


class PixChargeFailedEventData(TypedDict):
    object: "PixCharge"


class PixChargeFailedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["pix.charge.failed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "PixChargeFailedEventData"


class OnchainTransferCreatedEventData(TypedDict):
    object: "OnchainTransfer"


class OnchainTransferCreatedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["onchain.transfer.created"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "OnchainTransferCreatedEventData"


class OnchainTransferProcessingEventData(TypedDict):
    object: "OnchainTransfer"


class OnchainTransferProcessingEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["onchain.transfer.processing"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "OnchainTransferProcessingEventData"


class OnchainTransferConfirmedEventData(TypedDict):
    object: "OnchainTransfer"


class OnchainTransferConfirmedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["onchain.transfer.confirmed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "OnchainTransferConfirmedEventData"


class OnchainTransferFailedEventData(TypedDict):
    object: "OnchainTransfer"


class OnchainTransferFailedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["onchain.transfer.failed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "OnchainTransferFailedEventData"


class TradeCompletedEventData(TypedDict):
    object: "Trade"


class TradeCompletedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["trade.completed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "TradeCompletedEventData"


class TradeFailedEventData(TypedDict):
    object: "Trade"


class TradeFailedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["trade.failed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "TradeFailedEventData"


class FeePayoutCompletedEventData(TypedDict):
    object: "FeePayout"


class FeePayoutCompletedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["fee_payout.completed"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "FeePayoutCompletedEventData"


class ApiKeyCreatedEventData(TypedDict):
    object: "ApiKey"


class ApiKeyCreatedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["api_key.created"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "ApiKeyCreatedEventData"


class ApiKeyRotatedEventData(TypedDict):
    object: "ApiKey"


class ApiKeyRotatedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["api_key.rotated"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "ApiKeyRotatedEventData"


class ApiKeyRevokedEventData(TypedDict):
    object: "ApiKey"


class ApiKeyRevokedEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["api_key.revoked"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "ApiKeyRevokedEventData"


class WebhookEndpointDisabledEventData(TypedDict):
    object: "WebhookEndpoint"


class WebhookEndpointDisabledEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["webhook_endpoint.disabled"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "WebhookEndpointDisabledEventData"


class WebhookEndpointTestEventData(TypedDict):
    object: "WebhookEndpoint"


class WebhookEndpointTestEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["webhook_endpoint.test"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "WebhookEndpointTestEventData"


class OtherEventData(TypedDict):
    object: Dict[str, Any]


class OtherEvent(TypedDict):
    id: str
    """Starts with evt_"""
    type: Literal["a type of a later version"]
    created_at: str
    """ISO 8601, UTC, milliseconds"""
    environment: Union[Literal["production", "sandbox"], str]
    sequence: int
    """Rises per object: drop what is lower than what you have"""
    data: "OtherEventData"


class SandboxPricesSetResult(TypedDict):
    data: List["Price"]


class EventsRedeliverResult(TypedDict):
    redelivered: int
    """To how many endpoints"""


class WebhookEndpointsRedeliverResultAlways(TypedDict):
    redelivered: int
    """How many deliveries begin anew"""


class WebhookEndpointsRedeliverResult(WebhookEndpointsRedeliverResultAlways, total=False):
    next_from: str
    """The range holds more than one call takes: call again with this as from"""


EventType = Literal[
    "customer.created",
    "customer.updated",
    "customer.blocked",
    "customer.unblocked",
    "deposit.pending",
    "deposit.completed",
    "deposit.dropped",
    "deposit.returned",
    "pix.payout.created",
    "pix.payout.processing",
    "pix.payout.completed",
    "pix.payout.failed",
    "pix.payout.returned",
    "pix.charge.open",
    "pix.charge.paid",
    "pix.charge.expired",
    "pix.charge.failed",
    "onchain.transfer.created",
    "onchain.transfer.processing",
    "onchain.transfer.confirmed",
    "onchain.transfer.failed",
    "trade.completed",
    "trade.failed",
    "fee_payout.completed",
    "api_key.created",
    "api_key.rotated",
    "api_key.revoked",
    "webhook_endpoint.disabled",
    "webhook_endpoint.test",
]

# The type of OtherEvent equals no text that is sent, so that comparing `type` narrows to one known event.
Event = Union[
    CustomerCreatedEvent,
    CustomerUpdatedEvent,
    CustomerBlockedEvent,
    CustomerUnblockedEvent,
    DepositPendingEvent,
    DepositCompletedEvent,
    DepositDroppedEvent,
    DepositReturnedEvent,
    PixPayoutCreatedEvent,
    PixPayoutProcessingEvent,
    PixPayoutCompletedEvent,
    PixPayoutFailedEvent,
    PixPayoutReturnedEvent,
    PixChargeOpenEvent,
    PixChargePaidEvent,
    PixChargeExpiredEvent,
    PixChargeFailedEvent,
    OnchainTransferCreatedEvent,
    OnchainTransferProcessingEvent,
    OnchainTransferConfirmedEvent,
    OnchainTransferFailedEvent,
    TradeCompletedEvent,
    TradeFailedEvent,
    FeePayoutCompletedEvent,
    ApiKeyCreatedEvent,
    ApiKeyRotatedEvent,
    ApiKeyRevokedEvent,
    WebhookEndpointDisabledEvent,
    WebhookEndpointTestEvent,
    OtherEvent,
]

ErrorType = Literal[
    "authentication_error",
    "permission_error",
    "invalid_request_error",
    "not_found_error",
    "conflict_error",
    "business_error",
    "rate_limit_error",
    "api_error",
]

ErrorCode = Literal[
    "missing_authorization",
    "invalid_api_key",
    "revoked_api_key",
    "expired_api_key",
    "ip_not_allowed",
    "insufficient_scope",
    "sandbox_only",
    "customer_blocked",
    "invalid_json",
    "invalid_request",
    "invalid_amount",
    "invalid_pix_key",
    "invalid_address",
    "unsupported_network",
    "route_not_found",
    "customer_not_found",
    "deposit_not_found",
    "payout_not_found",
    "charge_not_found",
    "transfer_not_found",
    "quote_not_found",
    "trade_not_found",
    "event_not_found",
    "webhook_endpoint_not_found",
    "request_not_found",
    "method_not_allowed",
    "quote_expired",
    "idempotency_conflict",
    "already_final",
    "receipt_not_available",
    "webhook_endpoint_disabled",
    "too_many_webhook_endpoints",
    "customer_exists",
    "body_too_large",
    "unsupported_media_type",
    "request_timeout",
    "headers_too_large",
    "insufficient_balance",
    "pix_key_not_found",
    "counterparty_not_allowed",
    "unsupported_pair",
    "amount_too_small",
    "amount_too_large",
    "limit_exceeded",
    "rate_limit_exceeded",
    "too_many_redeliveries",
    "internal_error",
    "rail_unavailable",
    "price_unavailable",
    "service_unavailable",
]
