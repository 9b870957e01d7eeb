-- additive
-- The partner's own texts on an order. A trade repeats those of its quote.
ALTER TABLE payouts ADD COLUMN metadata json NOT NULL DEFAULT '{}';
ALTER TABLE transfers ADD COLUMN metadata json NOT NULL DEFAULT '{}';
ALTER TABLE quotes ADD COLUMN metadata json NOT NULL DEFAULT '{}';
ALTER TABLE trades ADD COLUMN metadata json NOT NULL DEFAULT '{}';

-- Neither this version nor the previous release reads these tables.
DROP TABLE fold_base, fold_start;
