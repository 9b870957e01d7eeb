-- additive
-- The rule by which deposits are swept into the wallet: from which balance of an address on, and what one sweep may cost in wei.
ALTER TABLE rail_controls
  ADD COLUMN sweep_from bigint CHECK (sweep_from >= 0),
  ADD COLUMN sweep_fee_max numeric(78, 0) CHECK (sweep_fee_max >= 0);

-- Tokens that are moved from a deposit address into the wallet of the service. The ledger does not change: they were ours before.
CREATE TABLE sweeps (
  id text PRIMARY KEY,
  network text NOT NULL,
  address text NOT NULL,
  -- Of the key m/0/address_index.
  address_index integer NOT NULL CHECK (address_index >= 0),
  -- What the address held at a final block.
  amount bigint NOT NULL CHECK (amount > 0),
  wallet text NOT NULL,
  gas_account text NOT NULL,
  -- What both transactions together may cost, in wei: the rule when the sweep began.
  cost_most numeric(78, 0) NOT NULL CHECK (cost_most >= 0),
  -- What is spent is reserved once, before anything is signed: the nonce of the gas account and what it sends; the nonce of the address.
  fund_nonce bigint CHECK (fund_nonce >= 0),
  fund_wei numeric(78, 0) CHECK (fund_wei > 0),
  nonce bigint CHECK (nonce >= 0),
  -- mined: the sweep was once deep enough in the chain. swept: the network has finalized its block.
  state text NOT NULL CHECK (state IN ('funding', 'sweeping', 'mined', 'swept', 'failed')),
  failure text,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  CONSTRAINT sweeps_fund CHECK ((fund_nonce IS NULL) = (fund_wei IS NULL)),
  CONSTRAINT sweeps_end CHECK ((state IN ('swept', 'failed')) = (ended_at IS NOT NULL) AND (state = 'failed') = (failure IS NOT NULL))
);
-- One sweep of an address at a time, and one sweep for each nonce.
CREATE UNIQUE INDEX sweeps_open ON sweeps (network, address) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX sweeps_fund_nonce ON sweeps (network, gas_account, fund_nonce) WHERE fund_nonce IS NOT NULL;
CREATE INDEX sweeps_of_address ON sweeps (network, address, ended_at);
CREATE INDEX sweeps_newest ON sweeps (created_at DESC, id DESC);

-- What was signed for sweeps, stored before it is broadcast. All attempts of one purpose have one sender and one nonce.
CREATE TABLE sweep_transactions (
  sweep_id text NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('fund', 'sweep')),
  attempt integer NOT NULL CHECK (attempt >= 1),
  network text NOT NULL,
  sender text NOT NULL,
  nonce bigint NOT NULL,
  tx_hash text NOT NULL,
  signed text NOT NULL,
  terms json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  -- The block in which the transaction is deep enough, or finalized for a sweep; and what it cost, if nodes told it.
  block_height bigint,
  block_hash text,
  gas_paid_wei numeric(78, 0),
  PRIMARY KEY (sweep_id, purpose, attempt),
  CONSTRAINT sweep_transactions_block CHECK ((block_height IS NULL) = (block_hash IS NULL))
);
CREATE UNIQUE INDEX sweep_transactions_tx_hash ON sweep_transactions (network, tx_hash);
CREATE INDEX sweep_transactions_by_time ON sweep_transactions (created_at);

-- What lies at the deposit addresses of a network by the books, and what the gas account has, when a worker last looked.
CREATE TABLE sweep_figures (
  network text PRIMARY KEY,
  gas_account text NOT NULL,
  gas_wei numeric(78, 0) NOT NULL,
  unswept bigint NOT NULL,
  addresses integer NOT NULL,
  read_at timestamptz(3) NOT NULL
);

-- What was credited at each address.
CREATE INDEX deposits_at_addresses ON deposits (rail, address) INCLUDE (amount) WHERE status = 'completed' AND address IS NOT NULL;
