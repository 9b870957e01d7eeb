-- The tenants and the people behind them: the one part that both worlds have in common.

CREATE TABLE partners (
  id text PRIMARY KEY,
  name text NOT NULL,
  tier text NOT NULL DEFAULT 'standard' CHECK (tier IN ('standard', 'growth', 'enterprise')),
  -- Custom figures; null means what the tier says.
  per_minute integer CHECK (per_minute > 0),
  per_day integer CHECK (per_day > 0),
  endpoint_per_minute integer CHECK (endpoint_per_minute > 0),
  lookup_per_minute integer CHECK (lookup_per_minute > 0),
  pix_fee integer NOT NULL DEFAULT 0 CHECK (pix_fee BETWEEN 0 AND 100000),
  service_fee_bps integer NOT NULL DEFAULT 50 CHECK (service_fee_bps BETWEEN 0 AND 1000),
  partner_fee_share_pct integer NOT NULL DEFAULT 0 CHECK (partner_fee_share_pct BETWEEN 0 AND 100),
  third_party_payouts boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE users (
  id text PRIMARY KEY,
  email text NOT NULL CHECK (email = lower(email)),
  name text NOT NULL,
  password_hash text NOT NULL,
  -- An operator's user belongs to no partner.
  partner_id text REFERENCES partners,
  role text NOT NULL CHECK (role IN ('owner', 'member', 'operator')),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CHECK ((role = 'operator') = (partner_id IS NULL))
);
CREATE UNIQUE INDEX users_email ON users (email);
