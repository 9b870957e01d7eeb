-- Requests counted per window. A subject is an API key's id or a client address.
CREATE TABLE windows (
  subject text NOT NULL,
  name text NOT NULL,
  starts_at timestamptz(3) NOT NULL,
  ends_at timestamptz(3) NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (subject, name, starts_at)
) WITH (fillfactor = 50);
CREATE INDEX windows_ends_at ON windows (ends_at);
