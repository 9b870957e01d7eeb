-- additive
-- Outputs that pay a deposit address of a customer are coins too.
ALTER TABLE coins
  -- Of the deposit address that the output pays: its key is m/0/address_index. Null: the output pays the wallet itself.
  ADD COLUMN address_index integer CHECK (address_index >= 0),
  -- Whether the deposit of the output is what follows from the block that the output is in, or from being in none. A block that makes the
  -- output, or is undone, sets it to false; whoever reports to deposits sets it to true when nothing more can follow.
  ADD COLUMN is_reported boolean NOT NULL DEFAULT true;
CREATE INDEX coins_unreported ON coins (network, id) WHERE NOT is_reported;

-- Whether outputs to deposit addresses were looked for in the block. The version before does not look for them, and may store no block
-- once an address of the network is handed out (functions/world/coins.sql).
ALTER TABLE blocks ADD COLUMN is_searched boolean NOT NULL DEFAULT false;
