-- additive
-- The newest blocks of a chain that the service follows block by block: each one is the child of the one below.
CREATE TABLE blocks (
  network text NOT NULL,
  height bigint NOT NULL CHECK (height >= 0),
  hash text NOT NULL,
  parent_hash text NOT NULL,
  PRIMARY KEY (network, height)
);

-- Outputs that pay a wallet of the service. A row never goes: after a reorganisation its output may be in no block.
CREATE TABLE coins (
  -- Transaction and number of the output: txid:vout.
  id text PRIMARY KEY,
  network text NOT NULL,
  wallet_id text NOT NULL,
  script text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  is_coinbase boolean NOT NULL,
  -- The transfer whose transaction made the output as its change.
  made_by text,
  -- The block that made the output. Null: change that is not mined yet, or a block that a reorganisation removed.
  block_height bigint,
  block_hash text,
  -- The transfer that spends the output: all its transactions do. Set once.
  reserved_by text,
  -- The transaction in a block that spends the output, and the height of that block.
  spent_by text,
  spent_height bigint,
  CONSTRAINT coins_block CHECK ((block_height IS NULL) = (block_hash IS NULL)),
  CONSTRAINT coins_spent CHECK ((spent_by IS NULL) = (spent_height IS NULL))
);
CREATE INDEX coins_unspent ON coins (network, wallet_id) WHERE spent_by IS NULL;
CREATE INDEX coins_made_in ON coins (network, block_height) WHERE block_height IS NOT NULL;
CREATE INDEX coins_spent_in ON coins (network, spent_height) WHERE spent_height IS NOT NULL;
CREATE INDEX coins_reserved_by ON coins (reserved_by) WHERE reserved_by IS NOT NULL;
CREATE INDEX coins_made_by ON coins (made_by) WHERE made_by IS NOT NULL;

-- Mined transactions that spend coins of a wallet and that this database did not sign. A row stays although a reorganisation
-- may remove the transaction: operators accept as many as there are rows.
CREATE TABLE foreign_spends (
  wallet_id text NOT NULL,
  txid text NOT NULL,
  -- Of the block in which the transaction was first seen.
  height bigint NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (wallet_id, txid)
);
