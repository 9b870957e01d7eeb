-- additive
-- Under which key secrets are sealed, and one value sealed under it: whoever cannot open that has another SECRET_KEY. One row.
CREATE TABLE sealing (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  key_id text NOT NULL,
  check_value bytea NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
