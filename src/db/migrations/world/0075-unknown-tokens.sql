-- additive
-- Transfers of other tokens than USDT to deposit addresses. They are shown to operators, and never credited.
CREATE TABLE unknown_tokens (
  network text NOT NULL,
  -- Name and symbol of the token are a stranger's text, and never read.
  contract text NOT NULL,
  tx_hash text NOT NULL,
  -- The place of the log in its block.
  log_index integer NOT NULL CHECK (log_index >= 0),
  -- In lower case, as nodes tell it.
  address text NOT NULL,
  -- In the smallest unit of the token: up to 2^256 - 1.
  amount numeric(78, 0) NOT NULL CHECK (amount > 0),
  block_height bigint NOT NULL CHECK (block_height >= 0),
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (network, tx_hash, log_index)
);
CREATE INDEX unknown_tokens_newest ON unknown_tokens (network, block_height DESC, tx_hash DESC, log_index DESC);

-- How far the blocks of a network were read for such transfers. The blocks after `height` up to `upto` were read for the addresses up to
-- `after_index`.
CREATE TABLE unknown_token_scans (
  network text PRIMARY KEY,
  height bigint NOT NULL CHECK (height >= 0),
  upto bigint NOT NULL CHECK (upto >= height),
  after_index integer NOT NULL CHECK (after_index >= -1)
);
