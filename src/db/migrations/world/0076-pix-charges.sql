-- additive
-- Charges: amounts that customers want to be paid by Pix. What a payer sends is in pix_received, and its credit in deposits.
CREATE TABLE pix_charges (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  idempotency_key text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  description text,
  -- The reference that payments of the charge carry, and the provider's idempotency key.
  txid text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'open', 'paid', 'expired', 'failed')),
  -- The sum of the deposits of the charge.
  amount_received bigint NOT NULL DEFAULT 0 CHECK (amount_received >= 0),
  -- What payers copy or scan. Null until the provider has registered the charge.
  br_code text,
  failure_code text,
  rail_code text,
  attempts integer NOT NULL,
  -- When a worker registers the charge next, while it is pending.
  next_attempt_at timestamptz(3) NOT NULL,
  -- Of the charge's last event; 0 before the first.
  sequence integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  opened_at timestamptz(3),
  expired_at timestamptz(3),
  -- When the payment was made that completed the sum, as the provider says.
  paid_at timestamptz(3),
  failed_at timestamptz(3),
  request_id text,
  metadata json NOT NULL DEFAULT '{}'
);
CREATE INDEX pix_charges_newest ON pix_charges (partner_id, created_at, id);
CREATE INDEX pix_charges_of_customer ON pix_charges (customer_id, created_at, id);
CREATE INDEX pix_charges_in_state ON pix_charges (partner_id, status, created_at, id);
CREATE INDEX pix_charges_of_customer_in_state ON pix_charges (customer_id, status, created_at, id);
CREATE INDEX pix_charges_of_key ON pix_charges (hashtextextended(partner_id || ' ' || idempotency_key, 0), created_at);
CREATE INDEX pix_charges_due ON pix_charges (next_attempt_at) WHERE status = 'pending';
CREATE INDEX pix_charges_ending ON pix_charges (expires_at) WHERE status IN ('pending', 'open');

-- Every Pix payment that came into the provider's account.
CREATE TABLE pix_received (
  end_to_end_id text PRIMARY KEY,
  txid text,
  amount bigint NOT NULL CHECK (amount > 0),
  paid_at timestamptz(3) NOT NULL,
  -- Masked; null if the provider does not tell.
  payer_name text,
  payer_document text,
  -- Null: the payment names no charge of this service, and nothing is credited for it.
  charge_id text,
  -- Its credit. Null with a charge: the payment waits for room in the balance.
  deposit_id text,
  seen_at timestamptz(3) NOT NULL
);
CREATE INDEX pix_received_waiting ON pix_received (seen_at) WHERE charge_id IS NOT NULL AND deposit_id IS NULL;
CREATE INDEX pix_received_of_charge ON pix_received (charge_id) WHERE charge_id IS NOT NULL;

-- Up to when the payments of an account at a provider were read. Of what came in before begun_at, only payments of charges count.
CREATE TABLE pix_received_scan (
  provider text PRIMARY KEY,
  begun_at timestamptz(3) NOT NULL,
  read_until timestamptz(3) NOT NULL
);

-- A deposit with the rail pix is one payment, and it is credited once.
ALTER TABLE deposits ADD COLUMN end_to_end_id text, ADD COLUMN charge_id text;
CREATE UNIQUE INDEX deposits_end_to_end_id ON deposits (end_to_end_id) WHERE end_to_end_id IS NOT NULL;
CREATE INDEX deposits_of_charge ON deposits (charge_id) WHERE charge_id IS NOT NULL;
