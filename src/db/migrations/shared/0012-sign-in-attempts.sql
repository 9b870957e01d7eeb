-- additive: nodes of the version before count failures under other subjects of the same table, and know no places.

-- SHA-256 of the account that a failure was counted for: a new password forgets all of them. Null for addresses and sessions.
ALTER TABLE sign_in_failures ADD COLUMN account bytea CHECK (octet_length(account) = 32);
CREATE INDEX sign_in_failures_account ON sign_in_failures (account) WHERE account IS NOT NULL;

-- Where a person has signed in from. Failures elsewhere do not block a sign-in from such a place.
CREATE TABLE sign_in_places (
  -- SHA-256 of the e-mail and the address, an IPv6 address as its /64.
  subject bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sign_in_places_user ON sign_in_places (user_id, seen_at);
CREATE INDEX sign_in_places_seen ON sign_in_places (seen_at);
