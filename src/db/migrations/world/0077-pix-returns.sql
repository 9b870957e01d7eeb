-- additive
-- Money of a Pix payment that went back (*devolução*). Of a payout: its customer is credited. Of a deposit: its customer is debited, as soon
-- as the balance covers it.
CREATE TABLE pix_returns (
  id text PRIMARY KEY,
  -- The return's own id in the Pix network.
  return_id text NOT NULL,
  payout_id text,
  deposit_id text,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  state text NOT NULL CHECK (state IN ('uncovered', 'booked')),
  -- Of the event that told it.
  sequence integer,
  created_at timestamptz(3) NOT NULL,
  booked_at timestamptz(3),
  CONSTRAINT pix_returns_of_one CHECK ((payout_id IS NULL) <> (deposit_id IS NULL)),
  CONSTRAINT pix_returns_booked CHECK ((state = 'booked') = (booked_at IS NOT NULL) AND (state = 'booked') = (sequence IS NOT NULL)),
  -- A credit is always covered.
  CONSTRAINT pix_returns_credited CHECK (payout_id IS NULL OR state = 'booked')
);
CREATE UNIQUE INDEX pix_returns_return_id ON pix_returns (return_id);
CREATE INDEX pix_returns_of_payout ON pix_returns (payout_id, sequence) WHERE payout_id IS NOT NULL;
CREATE INDEX pix_returns_of_deposit ON pix_returns (deposit_id, sequence) WHERE deposit_id IS NOT NULL;
CREATE INDEX pix_returns_uncovered ON pix_returns (created_at, id) WHERE state = 'uncovered';

-- The sum of the payout's returns. The constraint needs no validation: in every existing row the sum is zero.
ALTER TABLE payouts ADD COLUMN amount_returned bigint NOT NULL DEFAULT 0;
ALTER TABLE payouts ADD CONSTRAINT payouts_amount_returned CHECK (amount_returned BETWEEN 0 AND amount) NOT VALID;

-- What the rail answered to a repeated send that it refused: believed once a status query finds nothing of the sends before.
ALTER TABLE payouts ADD COLUMN refusal json;

-- Payments whose returns the provider is asked about, because a notice named them.
CREATE TABLE pix_return_checks (
  end_to_end_id text PRIMARY KEY,
  due_at timestamptz(3) NOT NULL,
  tries integer NOT NULL DEFAULT 0
);
CREATE INDEX pix_return_checks_due ON pix_return_checks (due_at);

-- How far the provider's list of the last 90 days was read for returns: one pass a day.
CREATE TABLE pix_return_scans (
  list text PRIMARY KEY,
  began_at timestamptz(3) NOT NULL,
  read_until timestamptz(3) NOT NULL
);
