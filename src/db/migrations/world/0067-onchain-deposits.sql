-- additive
-- Addresses to which customers pay in: one per customer and network, derived from a public key.
CREATE TABLE deposit_addresses (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  network text NOT NULL,
  -- Of the key m/0/address_index. A customer has one index on all networks; no index is given to a second customer.
  address_index integer NOT NULL CHECK (address_index >= 0),
  address text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT deposit_addresses_of_customer UNIQUE (customer_id, network),
  CONSTRAINT deposit_addresses_address UNIQUE (network, address),
  CONSTRAINT deposit_addresses_index UNIQUE (network, address_index)
);
-- The next index is one above the highest of all.
CREATE INDEX deposit_addresses_highest ON deposit_addresses (address_index);

-- A deposit on a chain has its network as rail, is written when it is first seen, and changes until it is credited. Test money and
-- an operator's credits are credited as they are written: their completed_at is null, and created_at is that time. So are all
-- rows of earlier versions.
ALTER TABLE deposits
  ADD COLUMN status text NOT NULL DEFAULT 'completed',
  ADD COLUMN sequence integer NOT NULL DEFAULT 1,
  ADD COLUMN completed_at timestamptz(3),
  -- What was seen: an output of a Bitcoin transaction, or a log entry of an EVM transaction.
  ADD COLUMN address text,
  ADD COLUMN tx_hash text,
  ADD COLUMN output_index integer,
  -- Too small to be credited by itself.
  ADD COLUMN below_minimum boolean NOT NULL DEFAULT false,
  -- The block, and how many blocks were seen on top of the transaction, its own included.
  ADD COLUMN block_height bigint,
  ADD COLUMN block_hash text,
  ADD COLUMN depth integer NOT NULL DEFAULT 0,
  -- When the worker that plays the sandbox's chains takes the deposit next; null: never.
  ADD COLUMN next_attempt_at timestamptz(3),
  -- Rows of before have the defaults: they need not be read again.
  ADD CONSTRAINT deposits_states CHECK (status IN ('pending', 'completed', 'dropped') AND output_index >= 0 AND depth >= 0) NOT VALID;
-- Credited once per output.
CREATE UNIQUE INDEX deposits_output ON deposits (rail, tx_hash, output_index) WHERE tx_hash IS NOT NULL;
CREATE INDEX deposits_open_of_partner ON deposits (partner_id, status, created_at DESC, id DESC) WHERE status <> 'completed';
CREATE INDEX deposits_open_of_customer ON deposits (customer_id, status, created_at DESC, id DESC) WHERE status <> 'completed';
CREATE INDEX deposits_due ON deposits (next_attempt_at) WHERE next_attempt_at IS NOT NULL;
