-- additive
-- How far the blocks of a network were read for payments to deposit addresses.
CREATE TABLE deposit_scans (
  network text PRIMARY KEY,
  -- The newest block that was read, by at least one endpoint.
  height bigint NOT NULL CHECK (height >= 0),
  hash text NOT NULL,
  -- The newest block that was read again when it was deep enough to be final, by as many endpoints as must agree.
  final_height bigint NOT NULL CHECK (final_height >= 0),
  final_hash text NOT NULL,
  -- When both had last reached their end, and the newest block then.
  head_height bigint NOT NULL CHECK (head_height >= 0),
  at_head_at timestamptz(3) NOT NULL
);

-- Nodes tell addresses in lower case.
CREATE INDEX deposit_addresses_lower ON deposit_addresses (network, lower(address));
-- For reconciliations and sums of what the deposit addresses hold.
CREATE INDEX deposits_blocks ON deposits (rail, block_height) WHERE block_height IS NOT NULL;
