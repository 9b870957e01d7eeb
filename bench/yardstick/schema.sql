-- FROZEN: the hot tables of a world as they stood at commit be694bb, with every index, constraint and trigger that a write
-- meets. Leaner rows of the service do not move the yardstick; test/yardstick.test.ts holds a digest of this folder.
-- Triggers on DELETE are left out, for nothing is deleted here. Nobody places the events: fresh_events only grows, and
-- event_positions stays empty, so the yardstick writes less than the service did at that commit.

CREATE SCHEMA yardstick;
SET search_path = yardstick;

-- Ids as the service makes them: a prefix, the time, then chance.
CREATE FUNCTION new_id(prefix text) RETURNS text LANGUAGE sql VOLATILE AS $$
  SELECT prefix || '_' || lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
    || right(translate(gen_random_uuid()::text, '-', ''), 14)
$$;

CREATE FUNCTION entries_sum_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added GROUP BY cause_id, movement, asset HAVING sum(amount) <> 0) THEN
    RAISE EXCEPTION 'the lines of a movement do not sum to zero';
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION note_fresh_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO fresh_events (event_id, partner_id, type) SELECT id, partner_id, type FROM added;
  RETURN NULL;
END $$;

CREATE FUNCTION forward_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.status, NEW.status) NOT IN (('pending', 'processing'), ('pending', 'failed'), ('processing', TG_ARGV[0]), ('processing', 'failed')) THEN
    RAISE EXCEPTION 'illegal transition of %: % to %', OLD.id, OLD.status, NEW.status;
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION order_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % orders never changes', OLD.id;
END $$;

CREATE TABLE api_keys (
  id text NOT NULL,
  partner_id text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  per_minute integer,
  per_day integer,
  endpoint_per_minute integer,
  lookup_per_minute integer,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  sequence integer NOT NULL DEFAULT 1,
  made_for text,
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_endpoint_per_minute_check CHECK (endpoint_per_minute > 0),
  CONSTRAINT api_keys_lookup_per_minute_check CHECK (lookup_per_minute > 0),
  CONSTRAINT api_keys_made_for_check CHECK (made_for = 'playground'),
  CONSTRAINT api_keys_per_day_check CHECK (per_day > 0),
  CONSTRAINT api_keys_per_minute_check CHECK (per_minute > 0)
);
CREATE INDEX api_keys_partner ON api_keys (partner_id, created_at, id);
CREATE UNIQUE INDEX api_keys_playground ON api_keys (partner_id) WHERE ((made_for = 'playground') AND (revoked_at IS NULL));

CREATE TABLE customers (
  id text NOT NULL,
  partner_id text NOT NULL,
  name text NOT NULL,
  document text NOT NULL,
  document_type text NOT NULL,
  email text,
  external_id text,
  metadata json NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active',
  created_at timestamptz(3) NOT NULL,
  third_party_payouts boolean NOT NULL DEFAULT false,
  sequence integer NOT NULL DEFAULT 1,
  CONSTRAINT customers_document UNIQUE (partner_id, document),
  CONSTRAINT customers_external_id UNIQUE (partner_id, external_id),
  CONSTRAINT customers_pkey PRIMARY KEY (id),
  CONSTRAINT customers_document_type_check CHECK (document_type = ANY (ARRAY['cpf', 'cnpj'])),
  CONSTRAINT customers_status_check CHECK (status = ANY (ARRAY['active', 'blocked']))
);
CREATE INDEX customers_by_name ON customers (partner_id, lower(name) text_pattern_ops);
CREATE INDEX customers_newest ON customers (partner_id, created_at DESC, id DESC);
CREATE INDEX customers_of_status ON customers (partner_id, status, created_at DESC, id DESC);

CREATE TABLE commits (
  id text NOT NULL,
  committed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  asked_by text,
  CONSTRAINT commits_pkey PRIMARY KEY (id)
);
CREATE INDEX commits_committed_at ON commits (committed_at);

CREATE TABLE balances (
  customer_id text NOT NULL,
  asset text NOT NULL,
  partner_id text NOT NULL,
  balance bigint NOT NULL DEFAULT 0,
  in_transit bigint NOT NULL DEFAULT 0,
  seq bigint NOT NULL DEFAULT 0,
  CONSTRAINT balances_pkey PRIMARY KEY (customer_id, asset),
  CONSTRAINT balance_capped CHECK (((balance)::numeric + (in_transit)::numeric) <= ('999999999999999999'::bigint)::numeric),
  CONSTRAINT balance_never_negative CHECK (balance >= 0),
  CONSTRAINT balances_asset_check CHECK (asset = ANY (ARRAY['BRL', 'USDT', 'BTC'])),
  CONSTRAINT in_transit_never_negative CHECK (in_transit >= 0)
) WITH (fillfactor=50);

CREATE TABLE entries (
  cause_id text NOT NULL,
  movement text NOT NULL,
  line smallint NOT NULL,
  partner_id text NOT NULL,
  account text NOT NULL,
  owner text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL,
  seq bigint,
  balance_after bigint,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT entries_pkey PRIMARY KEY (cause_id, movement, line),
  CONSTRAINT customer_lines_are_numbered CHECK (((account = 'customer') = (seq IS NOT NULL)) AND ((account = 'customer') = (balance_after IS NOT NULL))),
  CONSTRAINT entries_amount_check CHECK (amount <> 0),
  CONSTRAINT entries_balance_after_check CHECK (balance_after >= 0)
);
CREATE UNIQUE INDEX entries_statement ON entries (owner, asset, seq) WHERE (seq IS NOT NULL);
CREATE TRIGGER entries_sum_to_zero AFTER INSERT ON entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION entries_sum_to_zero();

CREATE TABLE claims (
  scope text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  resource_id text,
  claimed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz(3),
  final boolean NOT NULL DEFAULT false,
  answer_status smallint,
  answer_body text,
  CONSTRAINT claims_pkey PRIMARY KEY (scope, operation, key)
);
CREATE INDEX claims_over ON claims (expires_at) WHERE (final AND (expires_at IS NOT NULL));

CREATE TABLE deposits (
  id text NOT NULL,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL,
  rail text NOT NULL,
  reason text,
  reference text,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT deposits_pkey PRIMARY KEY (id),
  CONSTRAINT deposits_amount_check CHECK (amount > 0)
);
CREATE INDEX deposits_of_customer ON deposits (customer_id, asset, created_at DESC, id DESC);
CREATE INDEX deposits_of_partner ON deposits (partner_id, asset, created_at DESC, id DESC);
CREATE UNIQUE INDEX deposits_reference ON deposits (rail, reference) WHERE (reference IS NOT NULL);

CREATE TABLE events (
  id text NOT NULL,
  partner_id text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  sequence integer NOT NULL,
  data json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT events_object_id_sequence_key UNIQUE (object_id, sequence),
  CONSTRAINT events_pkey PRIMARY KEY (id)
);
CREATE INDEX events_of_partner ON events (partner_id, created_at, id);
CREATE TRIGGER note_fresh_events AFTER INSERT ON events REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_fresh_events();

CREATE TABLE fresh_events (
  event_id text NOT NULL,
  partner_id text NOT NULL,
  type text NOT NULL,
  n bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  CONSTRAINT fresh_events_pkey PRIMARY KEY (n)
);

CREATE TABLE event_positions (
  event_id text NOT NULL,
  partner_id text NOT NULL,
  type text NOT NULL,
  position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  CONSTRAINT event_positions_event_id_key UNIQUE (event_id),
  CONSTRAINT event_positions_pkey PRIMARY KEY ("position")
);
CREATE INDEX event_positions_of_partner ON event_positions (partner_id, "position") INCLUDE (type);
CREATE INDEX event_positions_of_type ON event_positions (partner_id, type, "position") WHERE (type <> ALL (ARRAY['pix.payout.created', 'pix.payout.processing', 'pix.payout.completed']));

CREATE TABLE payouts (
  id text NOT NULL,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  idempotency_key text NOT NULL,
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  status text NOT NULL,
  counterparty json NOT NULL,
  description text,
  send_id text NOT NULL,
  end_to_end_id text,
  failure_code text,
  rail_code text,
  attempts integer NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  sequence integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  request_id text,
  CONSTRAINT payouts_send_id_key UNIQUE (send_id),
  CONSTRAINT payouts_pkey PRIMARY KEY (id),
  CONSTRAINT payouts_amount_check CHECK (amount > 0),
  CONSTRAINT payouts_check CHECK ((status = 'completed') = (end_to_end_id IS NOT NULL)),
  CONSTRAINT payouts_check1 CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT payouts_check2 CHECK ((status = ANY (ARRAY['completed', 'failed'])) = (completed_at IS NOT NULL)),
  CONSTRAINT payouts_fee_check CHECK (fee >= 0),
  CONSTRAINT payouts_status_check CHECK (status = ANY (ARRAY['pending', 'processing', 'completed', 'failed']))
) WITH (fillfactor=80);
CREATE INDEX payouts_asked ON payouts (partner_id, next_attempt_at) WHERE ((status = ANY (ARRAY['pending', 'processing'])) AND (attempts > 1));
CREATE INDEX payouts_due ON payouts (next_attempt_at) WHERE (status = ANY (ARRAY['pending', 'processing']));
CREATE INDEX payouts_failed ON payouts (partner_id, created_at DESC, id DESC) WHERE (failure_code IS NOT NULL);
CREATE INDEX payouts_failed_of_customer ON payouts (customer_id, created_at DESC, id DESC) WHERE (failure_code IS NOT NULL);
CREATE INDEX payouts_idempotency_key ON payouts (partner_id, idempotency_key, created_at DESC, id DESC);
CREATE INDEX payouts_left ON payouts (partner_id, next_attempt_at) WHERE ((status = ANY (ARRAY['pending', 'processing'])) AND (attempts <= 1));
CREATE INDEX payouts_newest ON payouts (partner_id, created_at DESC, id DESC);
CREATE INDEX payouts_of_customer ON payouts (customer_id, created_at DESC, id DESC);
CREATE INDEX payouts_pending ON payouts (partner_id, created_at DESC, id DESC) WHERE (status = 'pending');
CREATE INDEX payouts_processing ON payouts (partner_id, created_at DESC, id DESC) WHERE (status = 'processing');
CREATE UNIQUE INDEX payouts_end_to_end_id ON payouts (end_to_end_id) WHERE (end_to_end_id IS NOT NULL);
CREATE TRIGGER payouts_forward_only BEFORE UPDATE OF status ON payouts FOR EACH ROW WHEN ((old.status IS DISTINCT FROM new.status)) EXECUTE FUNCTION forward_only('completed');
CREATE TRIGGER payouts_order_stays BEFORE UPDATE OF partner_id, customer_id, amount, fee, counterparty, send_id ON payouts FOR EACH ROW EXECUTE FUNCTION order_stays();

CREATE TABLE quotes (
  id text NOT NULL,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  from_asset text NOT NULL,
  to_asset text NOT NULL,
  side text NOT NULL,
  market_price numeric(40,0) NOT NULL,
  price_source text NOT NULL,
  from_amount bigint NOT NULL,
  to_amount bigint NOT NULL,
  partner_fee bigint NOT NULL,
  partner_bps integer NOT NULL,
  service_fee bigint NOT NULL,
  service_bps integer NOT NULL,
  worth_brl numeric(40,0) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  trade_id text,
  request_id text,
  CONSTRAINT quotes_pkey PRIMARY KEY (id),
  CONSTRAINT quotes_check CHECK (from_asset <> to_asset),
  CONSTRAINT quotes_check1 CHECK ((partner_fee + service_fee) < from_amount),
  CONSTRAINT quotes_check2 CHECK (expires_at <= (created_at + '00:00:30'::interval)),
  CONSTRAINT quotes_from_amount_check CHECK (from_amount > 0),
  CONSTRAINT quotes_market_price_check CHECK (market_price > (0)::numeric),
  CONSTRAINT quotes_partner_bps_check CHECK (partner_bps >= 0),
  CONSTRAINT quotes_partner_fee_check CHECK (partner_fee >= 0),
  CONSTRAINT quotes_service_bps_check CHECK (service_bps >= 0),
  CONSTRAINT quotes_service_fee_check CHECK (service_fee >= 0),
  CONSTRAINT quotes_side_check CHECK (side = ANY (ARRAY['buy', 'sell'])),
  CONSTRAINT quotes_to_amount_check CHECK (to_amount > 0),
  CONSTRAINT quotes_worth_brl_check CHECK (worth_brl >= (0)::numeric)
) WITH (fillfactor=80);
CREATE INDEX quotes_executed ON quotes (partner_id, created_at DESC, id DESC) WHERE (trade_id IS NOT NULL);
CREATE INDEX quotes_newest ON quotes (partner_id, created_at DESC, id DESC);
CREATE INDEX quotes_of_customer ON quotes (customer_id, created_at DESC, id DESC);
CREATE INDEX quotes_of_pair ON quotes (partner_id, from_asset, to_asset, created_at DESC, id DESC);
CREATE TRIGGER quotes_executed_once BEFORE UPDATE OF trade_id, expires_at ON quotes FOR EACH ROW WHEN (((old.trade_id IS NOT NULL) OR (new.expires_at > old.expires_at))) EXECUTE FUNCTION order_stays();
CREATE TRIGGER quotes_order_stays BEFORE UPDATE OF partner_id, customer_id, from_asset, to_asset, side, market_price, from_amount, to_amount, partner_fee, service_fee, worth_brl, created_at ON quotes FOR EACH ROW EXECUTE FUNCTION order_stays();

CREATE TABLE trades (
  id text NOT NULL,
  quote_id text NOT NULL,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  status text NOT NULL,
  failure_code text,
  from_asset text NOT NULL,
  to_asset text NOT NULL,
  side text NOT NULL,
  market_price numeric(40,0) NOT NULL,
  from_amount bigint NOT NULL,
  to_amount bigint NOT NULL,
  partner_fee bigint NOT NULL,
  partner_bps integer NOT NULL,
  service_fee bigint NOT NULL,
  service_bps integer NOT NULL,
  worth_brl numeric(40,0) NOT NULL,
  quote_expires_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  request_id text,
  CONSTRAINT trades_quote_id_key UNIQUE (quote_id),
  CONSTRAINT trades_pkey PRIMARY KEY (id),
  CONSTRAINT decided_in_time CHECK (created_at < quote_expires_at),
  CONSTRAINT trades_check CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CONSTRAINT trades_status_check CHECK (status = ANY (ARRAY['completed', 'failed']))
);
CREATE INDEX trades_failed ON trades (partner_id, created_at DESC, id DESC) WHERE (failure_code IS NOT NULL);
CREATE INDEX trades_newest ON trades (partner_id, created_at DESC, id DESC);
CREATE INDEX trades_of_customer ON trades (customer_id, created_at DESC, id DESC);
CREATE INDEX trades_of_pair ON trades (partner_id, from_asset, to_asset, created_at DESC, id DESC);

CREATE TABLE unfolded (
  trade_id text NOT NULL,
  CONSTRAINT unfolded_pkey PRIMARY KEY (trade_id)
);

-- Quotes are executed in the order in which they were made.
CREATE SEQUENCE next_quote;
