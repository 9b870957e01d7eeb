-- API keys. Limits, scopes, idempotency and revocation belong to the id; a rotation only adds a value to it.

CREATE TABLE api_keys (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  name text NOT NULL,
  scopes text[] NOT NULL,
  ip_allowlist text[] NOT NULL DEFAULT '{}',
  per_minute integer CHECK (per_minute > 0),
  per_day integer CHECK (per_day > 0),
  endpoint_per_minute integer CHECK (endpoint_per_minute > 0),
  lookup_per_minute integer CHECK (lookup_per_minute > 0),
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX api_keys_partner ON api_keys (partner_id, created_at, id);

CREATE TABLE api_key_values (
  hash bytea PRIMARY KEY,
  api_key_id text NOT NULL REFERENCES api_keys,
  last_four text NOT NULL,
  -- Set when a rotation replaced this value: it works until then.
  valid_until timestamptz(3),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX api_key_values_key ON api_key_values (api_key_id, created_at);

-- Kept apart, so that noting a use never waits for, or holds up, a revocation.
CREATE TABLE api_key_uses (
  api_key_id text PRIMARY KEY,
  last_used_at timestamptz(3) NOT NULL,
  last_used_address text NOT NULL
);
