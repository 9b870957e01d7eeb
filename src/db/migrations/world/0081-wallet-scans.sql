-- additive
-- How far the final blocks of a chain without nonces were read for transactions that pay from a wallet. A transaction that the database
-- does not know is a row of foreign_spends.
CREATE TABLE wallet_scans (
  wallet_id text PRIMARY KEY,
  height bigint NOT NULL CHECK (height >= 0),
  hash text NOT NULL,
  -- When the block was made, by its producer.
  block_at timestamptz(3) NOT NULL,
  -- Nothing is signed until a final block is younger than this: what was signed before a gap in the reading may still be mined.
  quiet_until timestamptz(3),
  -- Which incarnation of the database read last: its system identifier and its timeline. In another one, commits may be lost.
  read_in text NOT NULL
);
