-- additive
-- A claim is written once: the end of what it made is asked of what it made (decision 0083). Only an answer that is given
-- before the end is still written beside it, which is rare: there need not be room for a second version of every row.
ALTER TABLE claims SET (fillfactor = 90);

-- The payouts of one idempotency key are found by a digest, in the order of their times; those of one time are sorted when they
-- are read. On a very large table, make it beforehand with CREATE INDEX CONCURRENTLY, under the same name.
CREATE INDEX IF NOT EXISTS payouts_of_key ON payouts (hashtextextended(partner_id || ' ' || idempotency_key, 0), created_at);
DROP INDEX payouts_idempotency_key;
