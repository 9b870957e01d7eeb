-- additive
-- An audit knows what its own version writes. A claim whose payout has ended looks wrong to that of the version before (decision
-- 0083), which takes a turn when `leased_until` is over: it never is any more. Later versions say which edition they are, and
-- an older one gets no turn behind a newer one.
ALTER TABLE audit_progress ADD COLUMN turn_until timestamptz(3) NOT NULL DEFAULT '-infinity';
ALTER TABLE audit_progress ADD COLUMN edition integer NOT NULL DEFAULT 1;
UPDATE audit_progress SET node = NULL, leased_until = 'infinity';
