-- A price that holds for 30 seconds (contract §10). Nothing is reserved by it.
CREATE TABLE quotes (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  from_asset text NOT NULL,
  to_asset text NOT NULL,
  side text NOT NULL CHECK (side IN ('buy', 'sell')),
  -- Quote asset per base asset, in 10^-8.
  market_price numeric(40, 0) NOT NULL CHECK (market_price > 0),
  price_source text NOT NULL,
  from_amount bigint NOT NULL CHECK (from_amount > 0),
  to_amount bigint NOT NULL CHECK (to_amount > 0),
  partner_fee bigint NOT NULL CHECK (partner_fee >= 0),
  partner_bps integer NOT NULL CHECK (partner_bps >= 0),
  service_fee bigint NOT NULL CHECK (service_fee >= 0),
  service_bps integer NOT NULL CHECK (service_bps >= 0),
  -- What the converted part is worth, in centavos: for the books of the treasury.
  worth_brl numeric(40, 0) NOT NULL CHECK (worth_brl >= 0),
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  trade_id text,
  CHECK (from_asset <> to_asset),
  CHECK (partner_fee + service_fee < from_amount),
  CHECK (expires_at <= created_at + interval '30 seconds')
) WITH (fillfactor = 80);
CREATE INDEX quotes_newest ON quotes (partner_id, created_at DESC, id DESC);
CREATE INDEX quotes_of_customer ON quotes (customer_id, created_at DESC, id DESC);

-- What was quoted never changes; it is executed once; and its time can only be cut short.
CREATE TRIGGER quotes_order_stays BEFORE UPDATE OF partner_id, customer_id, from_asset, to_asset, side, market_price,
  from_amount, to_amount, partner_fee, service_fee, worth_brl, created_at ON quotes
  FOR EACH ROW EXECUTE FUNCTION order_stays();
CREATE TRIGGER quotes_executed_once BEFORE UPDATE OF trade_id, expires_at ON quotes
  FOR EACH ROW WHEN (OLD.trade_id IS NOT NULL OR NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION order_stays();

CREATE TABLE trades (
  id text PRIMARY KEY,
  quote_id text NOT NULL UNIQUE,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('completed', 'failed')),
  failure_code text,
  from_asset text NOT NULL,
  to_asset text NOT NULL,
  side text NOT NULL,
  market_price numeric(40, 0) NOT NULL,
  from_amount bigint NOT NULL,
  to_amount bigint NOT NULL,
  partner_fee bigint NOT NULL,
  partner_bps integer NOT NULL,
  service_fee bigint NOT NULL,
  service_bps integer NOT NULL,
  worth_brl numeric(40, 0) NOT NULL,
  quote_expires_at timestamptz(3) NOT NULL,
  -- When it was decided, by this database's clock, with every lock held.
  created_at timestamptz(3) NOT NULL,
  CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT decided_in_time CHECK (created_at < quote_expires_at)
);
CREATE INDEX trades_newest ON trades (partner_id, created_at DESC, id DESC);
CREATE INDEX trades_of_customer ON trades (customer_id, created_at DESC, id DESC);

-- Sums of the house's own accounts, so that nobody has to add up all entries. A trade is noted in `unfolded` when it
-- happens, and folded into the sums within a second; the two together are exact at any moment.
CREATE TABLE positions (
  id text PRIMARY KEY,
  account text NOT NULL,
  owner text NOT NULL,
  asset text NOT NULL,
  amount numeric(40, 0) NOT NULL DEFAULT 0,
  -- What the position was bought for, and what was gained or lost by closing parts of it, in centavos.
  cost numeric(40, 0) NOT NULL DEFAULT 0,
  realised numeric(40, 0) NOT NULL DEFAULT 0,
  CONSTRAINT partner_fees_never_negative CHECK (account <> 'partner_fees' OR amount >= 0)
) WITH (fillfactor = 50);
CREATE TABLE unfolded (trade_id text PRIMARY KEY);

-- How far the treasury may go in an asset; null: as far as it takes.
CREATE TABLE treasury_limits (
  asset text PRIMARY KEY,
  lowest numeric(40, 0),
  highest numeric(40, 0),
  CHECK (lowest <= highest)
);

-- Fees that partners earned, paid out to a customer or outside.
CREATE TABLE fee_payouts (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  -- Null: paid outside, under the reference.
  customer_id text,
  reason text NOT NULL,
  reference text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE INDEX fee_payouts_of_partner ON fee_payouts (partner_id, created_at);

ALTER TABLE proposals DROP CONSTRAINT proposals_action_check,
  ADD CONSTRAINT proposals_action_check CHECK (action IN ('credit', 'resolve_payout', 'resolve_transfer', 'pay_fees'));

-- Prices that a partner set for its own sandbox. Without a time of its own a price is always fresh.
CREATE TABLE sandbox_prices (
  id text PRIMARY KEY,
  price numeric(40, 0) NOT NULL CHECK (price > 0),
  observed_at timestamptz(3)
);
