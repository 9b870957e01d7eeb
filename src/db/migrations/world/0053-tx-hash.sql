-- additive
-- Hashes of transactions are hexadecimal: the same hash in other letters is the same transaction. The audit looks for two
-- transfers with one hash along this index. On a very large table, make it beforehand with CREATE INDEX CONCURRENTLY, under the
-- same name.
CREATE INDEX IF NOT EXISTS transfers_tx_hash_lower ON transfers (network, lower(tx_hash)) WHERE tx_hash IS NOT NULL;
