-- additive
-- Money that operators moved between their own account and a rail.
CREATE TABLE custody_moves (
  id text PRIMARY KEY,
  rail text NOT NULL,
  asset text NOT NULL,
  direction text NOT NULL CHECK (direction IN ('to_rail', 'from_rail')),
  amount bigint NOT NULL CHECK (amount > 0),
  reason text NOT NULL,
  reference text NOT NULL,
  created_at timestamptz(3) NOT NULL
);
CREATE UNIQUE INDEX custody_moves_reference ON custody_moves (reference);

-- What the wallet of a rail held when it was last asked, at a final block. Read when a transfer is accepted.
CREATE TABLE holdings (
  rail text PRIMARY KEY,
  wallet text NOT NULL,
  block_height bigint NOT NULL,
  block_hash text NOT NULL,
  asset_amount bigint NOT NULL,
  native_amount numeric NOT NULL,
  read_at timestamptz(3) NOT NULL
);

-- Comparisons of the books with the chain. `booked` is what the ledger has on the rail; `on_its_way` is mined by the block and
-- not booked yet, less what is booked already and mined after the block.
CREATE TABLE reconciliations (
  id text PRIMARY KEY,
  rail text NOT NULL,
  asset text NOT NULL,
  wallet text NOT NULL,
  block_height bigint NOT NULL,
  block_hash text NOT NULL,
  outside bigint NOT NULL,
  booked bigint NOT NULL,
  on_its_way bigint NOT NULL,
  difference bigint NOT NULL CHECK (difference = outside - booked + on_its_way),
  parts json NOT NULL,
  at timestamptz(3) NOT NULL
);
CREATE INDEX reconciliations_newest ON reconciliations (rail, at DESC, id DESC);

-- Nonces of a wallet that transactions from elsewhere have spent, as two operators accepted: no transfer of this database has them.
CREATE TABLE wallet_gaps (
  wallet_id text NOT NULL,
  first_nonce bigint NOT NULL CHECK (first_nonce >= 0),
  -- The nonce after the last one of the gap.
  next_nonce bigint NOT NULL CHECK (next_nonce > first_nonce),
  reason text NOT NULL,
  proposal_id text,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (wallet_id, first_nonce)
);

-- For reconciliations: the sum of what is outside on a chain, and the transfers that were mined after a block.
CREATE INDEX entries_on_chains ON entries (account, asset) INCLUDE (amount) WHERE account IN ('external:polygon', 'external:arbitrum',
  'external:optimism', 'external:tron', 'external:ethereum', 'external:bitcoin');
CREATE INDEX transactions_blocks ON transactions (network, block_height) WHERE block_height IS NOT NULL;
