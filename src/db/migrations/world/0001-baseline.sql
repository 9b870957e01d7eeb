-- The schema of a world: `live` (production) and `sandbox` have the same tables. Functions and triggers are in
-- src/db/functions, rights in src/db/grants.ts, the columns that statements may name in src/db/columns.ts.
--
-- Tables of money have no foreign keys: checking a reference locks the row that is referred to, and payments would queue up
-- behind each other. The audit checks the references instead.
--
-- Every filter of a list has an index in the list's own order, so that no page reads rows that it does not show. Payouts are
-- settled a thousand times a second, so their indexes hold only columns that never change, and rare states: a failed payout
-- is found by its failure_code.

-- Which edition of src/db/functions this schema has. One row, written by the start that installed the functions.
CREATE TABLE functions (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  edition integer NOT NULL,
  -- Digest of the files that were installed.
  digest text NOT NULL,
  -- Digest of the functions as the database prints them: differs after somebody changed one by hand.
  found text NOT NULL,
  stated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- API keys --------------------------------------------------------------------------------------------------------------
-- Limits, scopes, idempotency and revocation belong to the id of a key; a rotation only adds a value.

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  -- Null: the limit of the partner.
  per_minute integer CHECK (per_minute > 0),
  per_day integer CHECK (per_day > 0),
  endpoint_per_minute integer CHECK (endpoint_per_minute > 0),
  lookup_per_minute integer CHECK (lookup_per_minute > 0),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- Number of the last event about the key.
  sequence integer NOT NULL DEFAULT 1,
  -- The console's playground acts under a key of its own, whose value nobody has.
  made_for text CHECK (made_for IN ('playground'))
);
CREATE INDEX api_keys_partner ON api_keys (partner_id, created_at, id);
CREATE UNIQUE INDEX api_keys_playground ON api_keys (partner_id) WHERE made_for = 'playground' AND revoked_at IS NULL;

CREATE TABLE api_key_values (
  hash bytea PRIMARY KEY,
  api_key_id text NOT NULL REFERENCES api_keys,
  last_four text NOT NULL,
  -- Set by a rotation: the replaced value works until then.
  valid_until timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX api_key_values_key ON api_key_values (api_key_id, created_at);

-- A table of its own, so that noting a use never waits for a revocation, or holds one up.
CREATE TABLE api_key_uses (
  api_key_id text PRIMARY KEY,
  last_used_at timestamptz(3) NOT NULL,
  last_used_address text NOT NULL
);

-- Customers -------------------------------------------------------------------------------------------------------------

CREATE TABLE customers (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  name text NOT NULL,
  document text NOT NULL,
  document_type text NOT NULL CHECK (document_type IN ('cpf', 'cnpj')),
  email text,
  external_id text,
  metadata json NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
  created_at timestamptz(3) NOT NULL,
  -- Payouts to other documents than the customer's, by arrangement with the operator.
  third_party_payouts boolean NOT NULL DEFAULT false,
  -- Number of the last event about the customer.
  sequence integer NOT NULL DEFAULT 1,
  CONSTRAINT customers_document UNIQUE (partner_id, document),
  CONSTRAINT customers_external_id UNIQUE (partner_id, external_id)
);
CREATE INDEX customers_newest ON customers (partner_id, created_at DESC, id DESC);
CREATE INDEX customers_of_status ON customers (partner_id, status, created_at DESC, id DESC);
-- The console finds a customer by the beginning of the name, in any case.
CREATE INDEX customers_by_name ON customers (partner_id, lower(name) text_pattern_ops);

-- How much money may leave a customer, set by the operator. The figures of a partner are the default of its customers; each
-- figure of a customer replaces the partner's. Null: no limit. In the smallest unit, net of fees.
CREATE TABLE money_limits (
  -- A partner or a customer.
  subject_id text PRIMARY KEY,
  payout_order bigint CHECK (payout_order >= 0),
  payout_day bigint CHECK (payout_day >= 0),
  -- From 20:00 to 06:00 in São Paulo.
  payout_night bigint CHECK (payout_night >= 0),
  transfer_order_usdt bigint CHECK (transfer_order_usdt >= 0),
  transfer_order_btc bigint CHECK (transfer_order_btc >= 0),
  transfer_day_usdt bigint CHECK (transfer_day_usdt >= 0),
  transfer_day_btc bigint CHECK (transfer_day_btc >= 0),
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- The ledger ------------------------------------------------------------------------------------------------------------
-- Double entry, append-only (contract §11).

-- One row per committed batch. A node that lost its connection at COMMIT inserts the same id again: a conflict means that
-- the batch did commit, success means that it never can.
CREATE TABLE commits (
  id text PRIMARY KEY,
  committed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- Null: the batch itself. Otherwise the question of a node that lost the reply to COMMIT; a question that is asked twice
  -- finds its own row, which must not be taken for the batch.
  asked_by text
);
CREATE INDEX commits_committed_at ON commits (committed_at);

-- A customer's account in one asset. `seq` counts its entries and orders the statement.
CREATE TABLE balances (
  customer_id text NOT NULL,
  asset text NOT NULL CHECK (asset IN ('BRL', 'USDT', 'BTC')),
  partner_id text NOT NULL,
  balance bigint NOT NULL DEFAULT 0,
  in_transit bigint NOT NULL DEFAULT 0,
  seq bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (customer_id, asset),
  CONSTRAINT balance_never_negative CHECK (balance >= 0),
  CONSTRAINT in_transit_never_negative CHECK (in_transit >= 0),
  CONSTRAINT balance_capped CHECK (balance::numeric + in_transit <= 999999999999999999)
) WITH (fillfactor = 50);

-- A movement is what one cause did at one moment (a payout accepted, a payout returned): its lines sum to zero per asset.
-- The primary key also prevents that anything is booked, or returned, twice.
CREATE TABLE entries (
  cause_id text NOT NULL,
  movement text NOT NULL,
  line smallint NOT NULL,
  partner_id text NOT NULL,
  account text NOT NULL,
  owner text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL CHECK (amount <> 0),
  seq bigint,
  balance_after bigint CHECK (balance_after >= 0),
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (cause_id, movement, line),
  CONSTRAINT customer_lines_are_numbered
    CHECK ((account = 'customer') = (seq IS NOT NULL) AND (account = 'customer') = (balance_after IS NOT NULL))
);
CREATE UNIQUE INDEX entries_statement ON entries (owner, asset, seq) WHERE seq IS NOT NULL;

-- An operation that happens once under an idempotency key, and the response to its first caller. A claim is written once:
-- the end of the payout or transfer is read from its own row (decision 0008). Only a response that is given before the end
-- is written later, so a page has little room for second versions.
CREATE TABLE claims (
  scope text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  resource_id text,
  claimed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- From this time on the key is free again, if the resource has reached its end. Null: never.
  expires_at timestamptz(3),
  final boolean NOT NULL DEFAULT false,
  answer_status smallint,
  answer_body text,
  -- Sequence number of the event that stores the response, when answer_body does not.
  answer_sequence integer,
  PRIMARY KEY (scope, operation, key)
) WITH (fillfactor = 90);
-- For the removal of old claims. References of operators never expire.
CREATE INDEX claims_expire ON claims (expires_at) WHERE expires_at IS NOT NULL;

-- A refusal (422) counts for 24 hours and leaves a claim and nothing else: without the claim, the same key could make a
-- payment. A trigger writes the refusal here too, where the roles of the service can only read, and the audit compares
-- (decision 0029).
CREATE TABLE refusals (
  scope text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  -- Of the request's fingerprint and of the response.
  digest bytea NOT NULL,
  PRIMARY KEY (scope, operation, key)
);
CREATE INDEX refusals_expire ON refusals (expires_at);

-- Deposits and corrections ----------------------------------------------------------------------------------------------

CREATE TABLE deposits (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  rail text NOT NULL,
  reason text,
  reference text,
  created_at timestamptz(3) NOT NULL
);
-- A list of all deposits merges those of the three assets.
CREATE INDEX deposits_of_partner ON deposits (partner_id, asset, created_at DESC, id DESC);
CREATE INDEX deposits_of_customer ON deposits (customer_id, asset, created_at DESC, id DESC);
CREATE UNIQUE INDEX deposits_reference ON deposits (rail, reference) WHERE reference IS NOT NULL;

-- An operator's corrections: never a changed entry, always a new movement. A debit takes from a balance; a reversal takes
-- back exactly what one deposit gave, out through the rail that the deposit came in by.
CREATE TABLE adjustments (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('debit', 'reversal')),
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  -- The deposit that is reversed.
  deposit_id text,
  -- The outside account that the other side of the entry is booked to.
  rail text NOT NULL,
  reason text NOT NULL,
  reference text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT adjustments_reference UNIQUE (reference),
  CONSTRAINT adjustments_deposit UNIQUE (deposit_id),
  CHECK ((kind = 'reversal') = (deposit_id IS NOT NULL)),
  CHECK (kind = 'reversal' OR rail = 'operator')
);
CREATE INDEX adjustments_of_customer ON adjustments (customer_id, created_at DESC, id DESC);

-- Pix payouts -----------------------------------------------------------------------------------------------------------

-- Half of each page is free: payouts of a page are accepted together and end together, and the new version of each row
-- finds room beside the old one.
CREATE TABLE payouts (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  idempotency_key text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  fee bigint NOT NULL CHECK (fee >= 0),
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  counterparty json NOT NULL,
  description text,
  -- Fixed before anything is sent: prevents a second payment, and the rail is asked by it.
  send_id text NOT NULL,
  end_to_end_id text,
  failure_code text,
  rail_code text,
  attempts integer NOT NULL,
  -- The end of a worker's lease; then the payout is due.
  next_attempt_at timestamptz(3) NOT NULL,
  -- Number of the last event about the payout.
  sequence integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  -- The API call that made the payout.
  request_id text,
  -- When the rail accepted the payout.
  accepted_at timestamptz,
  CHECK ((status = 'completed') = (end_to_end_id IS NOT NULL)),
  CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CHECK ((status IN ('completed', 'failed')) = (completed_at IS NOT NULL))
) WITH (fillfactor = 50);
-- Ascending, and read backwards: rows that are added at the end of an index leave full pages behind.
CREATE INDEX payouts_newest ON payouts (partner_id, created_at, id);
CREATE INDEX payouts_of_customer ON payouts (customer_id, created_at, id);
CREATE INDEX payouts_failed ON payouts (partner_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
CREATE INDEX payouts_failed_of_customer ON payouts (customer_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
-- By a digest, which is shorter than the key.
CREATE INDEX payouts_of_key ON payouts (hashtextextended(partner_id || ' ' || idempotency_key, 0), created_at);
-- The service derives a send_id from the payout's id, which is unique. Any other send_id must be unique too.
CREATE UNIQUE INDEX payouts_other_send_id ON payouts (send_id) WHERE send_id <> 'TRILHO' || substr(id, 4);

-- Open payouts, kept by triggers: so that nothing that changes when a payout ends is part of an index of payouts (decision
-- 0013). `followed`: a worker has looked at the payout since it was accepted. The others are due in the order of their making.
CREATE TABLE open_payouts (
  partner_id text NOT NULL,
  followed boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  id text NOT NULL,
  status text NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  PRIMARY KEY (partner_id, followed, created_at, id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX open_payouts_followed ON open_payouts (partner_id, next_attempt_at) WHERE followed;

-- The Pix network's id of each payment, by a trigger: no two payouts are one payment.
CREATE TABLE end_to_end_ids (
  end_to_end_id text NOT NULL CONSTRAINT payouts_end_to_end_id PRIMARY KEY,
  payout_id text NOT NULL
);

-- Written before a payout is sent again: until then the worker of this attempt may be sending. The first send needs no row,
-- because the payout itself says so.
CREATE TABLE sends (
  resource_id text NOT NULL,
  attempt integer NOT NULL,
  sent_at timestamptz(3) NOT NULL,
  until timestamptz(3) NOT NULL,
  PRIMARY KEY (resource_id, attempt)
);

-- On-chain transfers ----------------------------------------------------------------------------------------------------

CREATE TABLE transfers (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  idempotency_key text NOT NULL,
  asset text NOT NULL CHECK (asset IN ('USDT', 'BTC')),
  network text NOT NULL,
  amount_net bigint NOT NULL CHECK (amount_net > 0),
  fee bigint NOT NULL CHECK (fee >= 0),
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'confirmed', 'failed')),
  destination_address text NOT NULL,
  -- Signed once and stored before the broadcast; every broadcast sends the same bytes.
  tx_hash text,
  signed_transaction text,
  failure_code text,
  rail_code text,
  attempts integer NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  sequence integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  -- What the network took, in the smallest unit of the asset, and when it was booked. Null: not known, or paid in a coin
  -- that is no asset here.
  charged bigint,
  charged_at timestamptz(3),
  request_id text,
  CHECK ((tx_hash IS NULL) = (signed_transaction IS NULL)),
  CHECK (status IN ('pending', 'failed') OR tx_hash IS NOT NULL),
  CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CHECK ((status IN ('confirmed', 'failed')) = (completed_at IS NOT NULL)),
  CONSTRAINT transfers_charged
    CHECK ((charged IS NULL) = (charged_at IS NULL) AND (charged IS NULL OR (charged >= 0 AND completed_at IS NOT NULL)))
) WITH (fillfactor = 80);
CREATE INDEX transfers_newest ON transfers (partner_id, created_at DESC, id DESC);
CREATE INDEX transfers_of_customer ON transfers (customer_id, created_at DESC, id DESC);
CREATE INDEX transfers_failed ON transfers (partner_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
CREATE INDEX transfers_failed_of_customer ON transfers (customer_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
-- A network carries one asset, so an asset is a few networks.
CREATE INDEX transfers_of_network ON transfers (partner_id, network, created_at DESC, id DESC);
CREATE INDEX transfers_idempotency_key ON transfers (partner_id, idempotency_key, created_at DESC, id DESC);
CREATE UNIQUE INDEX transfers_tx_hash ON transfers (network, tx_hash) WHERE tx_hash IS NOT NULL;
-- A hash is hexadecimal: the same hash in other letters is the same transaction. The audit looks for two along this index.
CREATE INDEX transfers_tx_hash_lower ON transfers (network, lower(tx_hash)) WHERE tx_hash IS NOT NULL;

-- Open transfers, kept by triggers like open_payouts. Workers take them per network (decision 0013).
CREATE TABLE open_transfers (
  partner_id text NOT NULL,
  followed boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  id text NOT NULL,
  status text NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  network text NOT NULL DEFAULT '',
  PRIMARY KEY (partner_id, followed, created_at, id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX open_transfers_due ON open_transfers (followed, network, partner_id, next_attempt_at);

-- Operators decide a payout or a transfer -------------------------------------------------------------------------------

-- Payouts and transfers with an open proposal. Workers go on asking the rail about them, but send, sign and broadcast nothing.
CREATE TABLE holds (
  resource_id text PRIMARY KEY,
  proposal_id text NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX holds_of_proposal ON holds (proposal_id);

-- What an operator established about a payout or transfer, with the evidence. Never changes.
CREATE TABLE resolutions (
  resource_id text PRIMARY KEY,
  outcome text NOT NULL CHECK (outcome IN ('completed', 'confirmed', 'failed')),
  evidence text NOT NULL,
  -- Null in the sandbox, where nothing is proposed.
  proposal_id text,
  resolved_by text NOT NULL,
  resolved_at timestamptz(3) NOT NULL
);

-- After a resolution the rail is asked a few more times. ask_at null: no more questions.
CREATE TABLE follow_ups (
  resource_id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('payout', 'transfer')),
  asked integer NOT NULL,
  ask_at timestamptz(3)
);
CREATE INDEX follow_ups_due ON follow_ups (kind, ask_at) WHERE ask_at IS NOT NULL;

-- Conversions -----------------------------------------------------------------------------------------------------------

-- A price that holds for 30 seconds (contract §10). A quote reserves nothing.
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
  request_id text,
  CHECK (from_asset <> to_asset),
  CHECK (partner_fee + service_fee < from_amount),
  CHECK (expires_at <= created_at + interval '30 seconds')
) WITH (fillfactor = 80);
CREATE INDEX quotes_newest ON quotes (partner_id, created_at DESC, id DESC);
CREATE INDEX quotes_of_customer ON quotes (customer_id, created_at DESC, id DESC);
-- A filter by one asset merges its pairs.
CREATE INDEX quotes_of_pair ON quotes (partner_id, from_asset, to_asset, created_at DESC, id DESC);
CREATE INDEX quotes_executed ON quotes (partner_id, created_at DESC, id DESC) WHERE trade_id IS NOT NULL;

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
  -- When the trade was decided, by the clock of this database, with every lock held.
  created_at timestamptz(3) NOT NULL,
  request_id text,
  CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT decided_in_time CHECK (created_at < quote_expires_at)
);
CREATE INDEX trades_newest ON trades (partner_id, created_at DESC, id DESC);
CREATE INDEX trades_of_customer ON trades (customer_id, created_at DESC, id DESC);
CREATE INDEX trades_of_pair ON trades (partner_id, from_asset, to_asset, created_at DESC, id DESC);
CREATE INDEX trades_failed ON trades (partner_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;

-- Prices that a partner set for its own sandbox. Without a time of its own a price is always fresh.
CREATE TABLE sandbox_prices (
  id text PRIMARY KEY,
  price numeric(40, 0) NOT NULL CHECK (price > 0),
  observed_at timestamptz(3)
);

-- The treasury ----------------------------------------------------------------------------------------------------------

-- Sums of the house accounts, so that no reader adds up all entries. A trade is inserted into `unfolded` when it happens and
-- folded into the sums within a second; the two together are exact at any moment.
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

-- Average cost depends on the order of trades. A trigger notes which trades were folded together, in the order of their ids.
CREATE TABLE folds (
  n bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  trade_ids text[] NOT NULL,
  folded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
-- By trade. With fastupdate, every look-up would also read the list of entries that are still to be indexed.
CREATE INDEX folds_of_trade ON folds USING gin (trade_ids) WITH (fastupdate = off);

-- Not used by this version. The audit of the release before reads these two, so they stay for as long as its nodes may run
-- beside this version's; the next release drops them.
CREATE TABLE fold_start (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  at timestamptz(3) NOT NULL
);
INSERT INTO fold_start (at) VALUES (clock_timestamp());
CREATE TABLE fold_base (
  id text PRIMARY KEY,
  account text,
  owner text,
  asset text,
  amount numeric(40, 0) NOT NULL,
  cost numeric(40, 0) NOT NULL,
  realised numeric(40, 0) NOT NULL,
  paid numeric(40, 0) NOT NULL
);

-- How far the treasury may go in an asset. Null: no limit.
CREATE TABLE treasury_limits (
  asset text PRIMARY KEY,
  lowest numeric(40, 0),
  highest numeric(40, 0),
  CHECK (lowest <= highest)
);

-- Fees that partners earned, paid to a customer or outside.
CREATE TABLE fee_payouts (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  -- Null: paid outside, under the reference.
  customer_id text,
  reason text NOT NULL,
  reference text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- Number of the last event about the payment.
  sequence integer NOT NULL DEFAULT 0
);
CREATE INDEX fee_payouts_of_partner ON fee_payouts (partner_id, created_at);
CREATE INDEX fee_payouts_newest ON fee_payouts (partner_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX fee_payouts_reference ON fee_payouts (reference);

-- Events ----------------------------------------------------------------------------------------------------------------

-- Written in the transaction that caused them. `position` is the place in the log: given in that transaction, or by a
-- deferred trigger inside of its COMMIT, so no reader sees an event without one (decisions 0015 and 0015).
CREATE TABLE events (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  sequence integer NOT NULL,
  data json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  position bigint,
  -- True: the position differs from created_at by so much that a range of positions does not lead to the event.
  late boolean,
  UNIQUE (object_id, sequence)
);
CREATE UNIQUE INDEX events_log ON events (partner_id, position) WHERE position IS NOT NULL;
-- Without the three kinds that every payout has: they are most of the log, and are found by walking it.
CREATE INDEX events_log_of_type ON events (partner_id, type, position) WHERE position IS NOT NULL
  AND type NOT IN ('pix.payout.created', 'pix.payout.processing', 'pix.payout.completed');
-- For readers of all partners: events lie in the table nearly in the order of the log.
CREATE INDEX events_position ON events USING brin (position) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX events_unplaced ON events (id) WHERE position IS NULL;
CREATE INDEX events_late ON events (partner_id, created_at, id) WHERE late;

-- The last position that was given: microseconds since 1970, or one more than the position before where that is higher.
CREATE SEQUENCE event_log;
SELECT setval('event_log', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);

-- Always empty: a transaction that gives positions locks this table. An advisory lock could be taken by other schemas too.
CREATE TABLE log_turn (nothing boolean);

-- Events up to this time may have been removed by forget_old_events. The audit expects younger ones.
CREATE TABLE event_horizon (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  forgotten_until timestamptz(3) NOT NULL
);
INSERT INTO event_horizon (forgotten_until) VALUES ('-infinity');

-- Webhooks --------------------------------------------------------------------------------------------------------------

CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  url text NOT NULL,
  -- Types of events; * is every type.
  events text[] NOT NULL,
  description text,
  status text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled', 'deleted')),
  disabled_reason text,
  disabled_at timestamptz(3),
  -- Sealed under SECRET_KEY. The previous secret also signs until its time has come.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- The first failure after the last success.
  failing_since timestamptz(3),
  -- Counts test events.
  tests integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL,
  -- Which key each secret is sealed under.
  secret_key_id text,
  previous_secret_key_id text,
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL)),
  CHECK ((status = 'disabled') = (disabled_at IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (partner_id, created_at DESC, id DESC) WHERE status <> 'deleted';

-- One event to one endpoint. Due at next_attempt_at, which is also the end of a worker's lease. `canceled`: the endpoint was
-- disabled or deleted before the delivery.
CREATE TABLE webhook_deliveries (
  event_id text NOT NULL,
  endpoint_id text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'exhausted', 'canceled')),
  -- All attempts ever made, and those since the delivery was last started again.
  attempts integer NOT NULL DEFAULT 0,
  tries integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  PRIMARY KEY (event_id, endpoint_id),
  CHECK ((status = 'pending') = (ended_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC);
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE status <> 'pending';
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_exhausted ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC) WHERE status = 'exhausted';
CREATE INDEX webhook_deliveries_canceled ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC) WHERE status = 'canceled';

-- What was sent and what came back. The body that was sent is that of the event, to the byte.
CREATE TABLE webhook_attempts (
  event_id text NOT NULL,
  endpoint_id text NOT NULL,
  attempt integer NOT NULL,
  url text NOT NULL,
  headers json NOT NULL,
  status smallint,
  answer_headers json,
  answer_body text,
  error text,
  started_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  PRIMARY KEY (event_id, endpoint_id, attempt),
  CHECK (status IS NOT NULL OR error IS NOT NULL)
);

-- How many bytes the receivers of a partner answered in a day: only so much is kept.
CREATE TABLE webhook_answer_bytes (
  partner_id text NOT NULL,
  day date NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (partner_id, day)
) WITH (fillfactor = 50);

-- Operators -------------------------------------------------------------------------------------------------------------

-- What one operator proposes and another one must approve. A proposal is approved in the transaction that moves its money,
-- and ends once: done, rejected by another operator, withdrawn by its author, expired, or superseded: the payout or transfer
-- had another end, or another id or hash, by the time of the approval.
CREATE TABLE proposals (
  id text PRIMARY KEY,
  action text NOT NULL CHECK
    (action IN ('credit', 'debit', 'reverse_credit', 'resolve_payout', 'resolve_transfer', 'pay_fees')),
  details json NOT NULL,
  proposed_by text NOT NULL,
  proposed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  approved_by text,
  approved_at timestamptz(3),
  resource_id text,
  expires_at timestamptz(3) NOT NULL DEFAULT clock_timestamp() + interval '7 days',
  ended text,
  ended_by text,
  ended_reason text,
  ended_at timestamptz(3),
  CONSTRAINT four_eyes CHECK (approved_by <> proposed_by),
  CONSTRAINT proposals_ended_check CHECK (ended IN ('done', 'rejected', 'withdrawn', 'expired', 'superseded')),
  CONSTRAINT proposals_end_fits CHECK (CASE ended
    WHEN 'done' THEN resource_id IS NOT NULL AND approved_by IS NOT NULL AND ended_at IS NOT NULL
    WHEN 'rejected' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
    WHEN 'withdrawn' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by = proposed_by
    WHEN 'expired' THEN resource_id IS NULL AND approved_by IS NULL AND ended_by IS NULL
      AND ended_at IS NOT NULL AND ended_at >= expires_at
    WHEN 'superseded' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
      AND action IN ('resolve_payout', 'resolve_transfer')
    ELSE resource_id IS NULL AND ended_by IS NULL AND ended_reason IS NULL AND ended_at IS NULL END)
);
CREATE INDEX proposals_open ON proposals (expires_at) WHERE ended IS NULL;
CREATE INDEX proposals_reference ON proposals ((details ->> 'reference'));

-- Whatever may be wrong with money and needs a person. One row while it is open, however often it is seen; closed by an
-- operator with a reason, or by the service once the payout or transfer has reached its end.
CREATE TABLE exceptions (
  id text PRIMARY KEY,
  kind text NOT NULL,
  -- pix, a network, or empty when no rail plays a part.
  rail text NOT NULL,
  object_id text NOT NULL,
  -- Null when the exception belongs to no partner.
  partner_id text,
  details json NOT NULL,
  opened_at timestamptz(3) NOT NULL,
  closed_at timestamptz(3),
  closed_by text,
  closed_reason text,
  CHECK ((closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (closed_reason IS NULL))
);
CREATE UNIQUE INDEX exceptions_open ON exceptions (kind, object_id) WHERE closed_at IS NULL;
CREATE INDEX exceptions_newest ON exceptions (opened_at DESC, id DESC);
CREATE INDEX exceptions_of_object ON exceptions (object_id, kind);

-- Every act of a person is a line, written in the transaction that does it. Each line carries the hash of the line before
-- and its own, made with a key that the database has only sealed: a line that is changed, removed or added by hand is found.
CREATE TABLE acts (
  seq bigint PRIMARY KEY CHECK (seq > 0),
  at timestamptz(3) NOT NULL,
  actor_kind text NOT NULL CONSTRAINT acts_actor_kind_check CHECK (actor_kind IN ('operator', 'person', 'shell', 'service')),
  actor_id text,
  actor_email text,
  session_id text,
  action text NOT NULL,
  object_id text,
  -- JSON, kept as text: the hash covers every byte.
  before text,
  after text,
  proposal_id text,
  previous_hash text NOT NULL,
  hash text NOT NULL,
  -- The partner of the person, so that a partner can read what its own people did. The hashed text says it too.
  partner_id text
);
CREATE INDEX acts_proposal ON acts (proposal_id) WHERE proposal_id IS NOT NULL;
CREATE INDEX acts_partner ON acts (partner_id, seq DESC) WHERE partner_id IS NOT NULL;
CREATE INDEX acts_about ON acts (object_id, seq DESC) WHERE object_id IS NOT NULL;
CREATE INDEX acts_of_action ON acts (action, seq);
CREATE INDEX acts_of_actor ON acts (actor_email, seq);
CREATE INDEX acts_of_actor_doing ON acts (actor_email, action, seq);

-- The newest line. A transaction that adds a line locks this row, as its last lock.
CREATE TABLE acts_head (
  id text PRIMARY KEY CHECK (id = 'head'),
  seq bigint NOT NULL,
  hash text NOT NULL
);
INSERT INTO acts_head (id, seq, hash) VALUES ('head', 0, '');

-- Forms of the console that were handled, by the id that the page gave them: a form that arrives twice creates one object.
CREATE TABLE forms (
  user_id text NOT NULL,
  id text NOT NULL,
  object_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, id)
);
CREATE INDEX forms_created ON forms (created_at);

-- What the console shows ------------------------------------------------------------------------------------------------
-- None of it is part of the books, and no money transaction reads it. Sums could be made again from the books.

-- API calls and their responses. No bodies, no query strings: `route` is the declared path. Rows are added after the
-- response, in batches, and removed after some weeks. Every index costs each call, so only refusals have an index by status.
CREATE TABLE requests (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  api_key_id text NOT NULL,
  method text NOT NULL,
  -- Null: no route matched.
  route text,
  status smallint NOT NULL,
  error_code text,
  duration_ms integer NOT NULL,
  address text NOT NULL,
  -- The object that was asked for by its id, or made.
  object_id text,
  created_at timestamptz(3) NOT NULL,
  -- Given under a lock that is held to the end of the transaction: so positions become visible in their own order.
  position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  -- Which value of the key was used: after a rotation this shows whether the old value is still in use.
  key_last_four text
);
CREATE INDEX requests_newest ON requests (partner_id, created_at DESC, id DESC);
CREATE INDEX requests_by_position ON requests (partner_id, position);
-- A key belongs to one partner.
CREATE INDEX requests_of_key ON requests (api_key_id, created_at DESC, id DESC);
CREATE INDEX requests_refused ON requests (partner_id, created_at DESC, id DESC) WHERE error_code IS NOT NULL;
CREATE INDEX requests_by_error ON requests (partner_id, error_code, created_at DESC, id DESC) WHERE error_code IS NOT NULL;
CREATE INDEX requests_refused_with ON requests (partner_id, status, created_at DESC, id DESC) WHERE status >= 400;

-- Exchanges between the service and a rail about one payout or transfer. The same question with the same answer, repeated,
-- is one row that counts.
CREATE TABLE steps (
  object_id text NOT NULL,
  n bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
  did text NOT NULL CHECK (did IN ('sent', 'asked')),
  at timestamptz(3) NOT NULL,
  -- unknown: no answer, or none that can be read. waiting: the rail is still at work.
  heard text NOT NULL CHECK (heard IN ('unknown', 'waiting', 'answered')),
  said text CHECK (length(said) <= 200),
  last_at timestamptz(3) NOT NULL,
  times integer NOT NULL DEFAULT 1,
  PRIMARY KEY (object_id, n)
);

-- What ended on a day in São Paulo: Pix payouts, transfers of a network, conversions from one asset to another.
CREATE TABLE daily (
  partner_id text NOT NULL,
  day date NOT NULL,
  kind text NOT NULL,
  -- Of the sums; of a conversion, the asset that was given.
  asset text NOT NULL,
  -- Of a conversion, the asset that was received; empty otherwise.
  to_asset text NOT NULL,
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  completed_sum numeric(40, 0) NOT NULL,
  failed_sum numeric(40, 0) NOT NULL,
  fee_sum numeric(40, 0) NOT NULL,
  -- Histogram of the durations of completed ones, in buckets of a quarter octave of milliseconds.
  times bigint[] NOT NULL,
  PRIMARY KEY (partner_id, day, kind, asset, to_asset)
) WITH (fillfactor = 70);

-- The same per hour, for the last days.
CREATE TABLE hourly (
  partner_id text NOT NULL,
  hour timestamptz(0) NOT NULL,
  kind text NOT NULL,
  asset text NOT NULL,
  to_asset text NOT NULL,
  completed bigint NOT NULL,
  failed bigint NOT NULL,
  completed_sum numeric(40, 0) NOT NULL,
  failed_sum numeric(40, 0) NOT NULL,
  fee_sum numeric(40, 0) NOT NULL,
  times bigint[] NOT NULL,
  PRIMARY KEY (partner_id, hour, kind, asset, to_asset)
) WITH (fillfactor = 70);

-- What the customers of a partner held at the end of a day; for today, a moment ago.
CREATE TABLE daily_balances (
  partner_id text NOT NULL,
  day date NOT NULL,
  asset text NOT NULL,
  available numeric(40, 0) NOT NULL,
  in_transit numeric(40, 0) NOT NULL,
  -- Customers with a balance, or with money in transit.
  customers bigint NOT NULL,
  PRIMARY KEY (partner_id, day, asset)
) WITH (fillfactor = 70);

-- The position in the log of events up to which the sums go. One row.
CREATE TABLE daily_progress (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  position bigint NOT NULL DEFAULT 0
);
INSERT INTO daily_progress DEFAULT VALUES;

-- The audit -------------------------------------------------------------------------------------------------------------

-- Where the audit in the background is, which node runs it, and how the last pass ended. One row.
CREATE TABLE audit_progress (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  node text,
  -- Null between two passes.
  started_at timestamptz(3),
  stage text,
  position json,
  findings integer NOT NULL DEFAULT 0,
  last_started_at timestamptz(3),
  last_finished_at timestamptz(3),
  last_findings integer,
  -- The position in the log of events up to which changes were checked. Null: begin at the end of the log.
  proved_upto bigint,
  -- How many pieces a pass has, so that the next pass can be spread over its time.
  pieces integer NOT NULL DEFAULT 0,
  last_pieces integer,
  turn_until timestamptz(3) NOT NULL DEFAULT '-infinity',
  -- The edition of the checks (src/control/audit/progress.ts): a node with an older edition gets no turn, because its checks
  -- may take what a newer version writes for a fault.
  edition integer NOT NULL DEFAULT 1,
  CHECK ((started_at IS NULL) = (stage IS NULL)),
  CHECK ((last_finished_at IS NULL) = (last_started_at IS NULL) AND (last_finished_at IS NULL) = (last_findings IS NULL))
);
INSERT INTO audit_progress DEFAULT VALUES;

-- Each whole pass of the audit: when, by whom, over what, and what it found.
CREATE TABLE proofs (
  n bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
  -- The audit in the background, or the person who asked for the pass.
  by text NOT NULL,
  started_at timestamptz(3) NOT NULL,
  finished_at timestamptz(3) NOT NULL,
  entries bigint NOT NULL,
  customers bigint NOT NULL,
  checks text[] NOT NULL,
  -- Per asset and account; each asset sums to zero.
  sums json NOT NULL,
  found integer NOT NULL,
  findings json NOT NULL
);

-- Retention -------------------------------------------------------------------------------------------------------------

-- For how many days rows are kept, as the owner of the database stated it at the last start. The functions that remove old
-- rows go by these figures; the roles of the service can only read them (decision 0030).
CREATE TABLE retention (
  what text PRIMARY KEY CHECK (what IN ('events', 'deliveries', 'quotes', 'requests')),
  -- Null: not stated yet.
  days integer CHECK (days > 0),
  -- Rows up to this time may have been removed under an earlier, shorter figure.
  reached timestamptz(3) NOT NULL DEFAULT '-infinity'
);
INSERT INTO retention (what) VALUES ('events');

-- Up to which id a table was searched for rows to remove. Rows below it that were kept are kept for ever.
CREATE TABLE forgotten (
  what text PRIMARY KEY,
  up_to text NOT NULL
);
