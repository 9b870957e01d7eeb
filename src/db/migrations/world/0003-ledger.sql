-- Double entry, append-only (contract §11). No foreign keys here: a reference check would lock the referenced row.

-- One row per committed batch. A node that lost its connection at COMMIT inserts the same id again: a conflict means that
-- the batch did commit, success means that it never can.
CREATE TABLE commits (
  id text PRIMARY KEY,
  committed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
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
-- The primary key is also the guard that nothing is booked, or returned, twice.
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

CREATE FUNCTION entries_sum_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added GROUP BY cause_id, movement, asset HAVING sum(amount) <> 0) THEN
    RAISE EXCEPTION 'the lines of a movement do not sum to zero';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER entries_sum_to_zero AFTER INSERT ON entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION entries_sum_to_zero();

-- An operation that may happen once under a name the caller chose, and what the first caller was told.
CREATE TABLE claims (
  scope text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  resource_id text,
  claimed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- The name is free again at this time if what it made has come to its end by then; null: never.
  expires_at timestamptz(3),
  final boolean NOT NULL DEFAULT false,
  answer_status smallint,
  answer_body text,
  PRIMARY KEY (scope, operation, key)
);

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

-- Called with the number of rows that a statement changed: COMMIT is already on the wire, so SQL itself must object.
CREATE FUNCTION expect_rows(what text, changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> expected THEN
    RAISE EXCEPTION 'expected % rows of %, found %', expected, what, changed;
  END IF;
END $$;
