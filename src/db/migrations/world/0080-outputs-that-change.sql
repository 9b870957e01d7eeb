-- additive
-- After a reorganisation the same transaction may pay another amount or address at the same place: then the deposit that was seen before
-- is dropped, and the other payment is a deposit of its own. One at the most is not dropped, so an output is credited once.
CREATE UNIQUE INDEX deposits_output_once ON deposits (rail, tx_hash, output_index) WHERE tx_hash IS NOT NULL AND status <> 'dropped';
DROP INDEX deposits_output;
CREATE INDEX deposits_output ON deposits (rail, tx_hash, output_index) WHERE tx_hash IS NOT NULL;
