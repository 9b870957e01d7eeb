-- additive
-- What the network charged for a mined transaction, in the smallest unit of the coin that pays for gas (wei): not in the asset of the
-- transfer. NULL if no node told it.
ALTER TABLE transactions ADD COLUMN gas_paid_wei numeric(78, 0)
  CHECK (gas_paid_wei IS NULL OR (gas_paid_wei >= 0 AND block_hash IS NOT NULL));
-- For the metrics: what a network charged lately.
CREATE INDEX transactions_gas_paid ON transactions (network, created_at) INCLUDE (gas_paid_wei) WHERE gas_paid_wei IS NOT NULL;
