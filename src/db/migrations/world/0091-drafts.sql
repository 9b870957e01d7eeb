-- additive
-- Payments of a chain whose transactions expire, as the signer was asked to sign them. A draft is stored before the signer sees it, so that an
-- answer of the signer that got lost is asked for again with the same bytes, and every payment that the signer may have signed is known.
CREATE TABLE drafts (
  transfer_id text NOT NULL,
  number integer NOT NULL CHECK (number > 0),
  tx_hash text NOT NULL UNIQUE CHECK (tx_hash ~ '^[0-9a-f]{64}$'),
  -- The bytes, as hex.
  unsigned text NOT NULL CHECK (unsigned ~ '^(?:[0-9a-f]{2})+$'),
  terms jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (transfer_id, number)
);
