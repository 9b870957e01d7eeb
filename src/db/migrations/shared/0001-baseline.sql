-- The schema `shared`: what both worlds have in common. Partners, the people who sign in, the limits of calls, and what
-- operators do to other operators. Functions and triggers are in src/db/functions, rights in src/db/grants.ts.

-- Which edition of src/db/functions this schema has. One row, written by the start that installed the functions.
CREATE TABLE functions (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  edition integer NOT NULL,
  -- Digest of the files that were installed.
  digest text NOT NULL,
  -- Digest of the functions as the database prints them: differs after somebody changed one by hand.
  found text NOT NULL,
  stated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- Secrets ---------------------------------------------------------------------------------------------------------------

-- The key that secrets are sealed under, and one value sealed under it: a node that cannot open the value has another
-- SECRET_KEY, and refuses to start. One row.
CREATE TABLE sealing (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  key_id text NOT NULL,
  check_value bytea NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- Partners --------------------------------------------------------------------------------------------------------------

CREATE TABLE partners (
  id text PRIMARY KEY,
  name text NOT NULL,
  tier text NOT NULL DEFAULT 'standard' CHECK (tier IN ('standard', 'growth', 'enterprise')),
  -- Limits agreed with this partner. Null: the limit of the tier.
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

-- People ----------------------------------------------------------------------------------------------------------------
-- Whatever would let its reader sign in is stored hashed or sealed.

CREATE TABLE users (
  id text PRIMARY KEY,
  email text NOT NULL CHECK (email = lower(email)),
  name text NOT NULL,
  password_hash text NOT NULL,
  -- Null for an operator, who belongs to no partner.
  partner_id text REFERENCES partners,
  role text NOT NULL CHECK (role IN ('owner', 'member', 'operator')),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- Only for operators. An operator without a role counts as a reader.
  operator_role text CHECK (operator_role IN ('admin', 'resolver', 'reader')),
  -- SHA-256 of a code for one sign-in. Where two operators create a third, or give a new password, one of them knows the
  -- password and the other this code, so that neither of them can sign in as that person.
  activation_hash bytea CHECK (octet_length(activation_hash) = 32),
  -- Only for members of a partner's team. A member without a role counts as a viewer.
  partner_role text CHECK (partner_role IN ('developer', 'finance', 'viewer')),
  -- Null: the language of the browser.
  language text CHECK (language IN ('en', 'pt-BR')),
  -- The row of a removed person stays, because the log of acts names it.
  removed_at timestamptz(3),
  -- After a reset of the second factor by somebody else: until then the user may not touch production keys.
  keys_shut_until timestamptz(3),
  CHECK ((role = 'operator') = (partner_id IS NULL)),
  CHECK (operator_role IS NULL OR role = 'operator'),
  CHECK (partner_role IS NULL OR role = 'member')
);
CREATE UNIQUE INDEX users_email ON users (email);

CREATE TABLE sessions (
  -- Names the session in the log of acts. Only the token opens the session.
  id text PRIMARY KEY,
  -- SHA-256.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  user_id text NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  used_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- Where the session was opened.
  address text,
  agent text,
  -- When the user last showed a code, or the password, in this session.
  proved_at timestamptz(3)
);
CREATE INDEX sessions_user ON sessions (user_id);

-- Second factors: sealed TOTP seeds.
CREATE TABLE factors (
  -- The user's id: nobody has two factors.
  id text PRIMARY KEY REFERENCES users,
  seed bytea NOT NULL,
  seed_key_id text NOT NULL,
  -- The last time step whose code was used: that code and all before it are refused.
  step integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- When a first code showed that the user has the seed. Until then the factor does not count.
  confirmed_at timestamptz(3)
);

CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES factors ON DELETE CASCADE,
  code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
  PRIMARY KEY (user_id, code_hash)
);

-- Invitations, and links to choose a new password. Using a link removes it, so a link works once.
CREATE TABLE links (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('invitation', 'reset')),
  -- SHA-256 of the token in the address.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  partner_id text NOT NULL REFERENCES partners,
  email text NOT NULL,
  name text NOT NULL,
  -- The role that an invited person will have.
  role text CHECK (role IN ('owner', 'developer', 'finance', 'viewer')),
  -- The user whose password a reset is about.
  user_id text REFERENCES users,
  made_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz(3) NOT NULL,
  CHECK ((kind = 'invitation') = (role IS NOT NULL)),
  CHECK ((kind = 'reset') = (user_id IS NOT NULL))
);
-- Only the newest link counts: making one replaces the one before.
CREATE UNIQUE INDEX links_invitation ON links (partner_id, email) WHERE kind = 'invitation';
CREATE UNIQUE INDEX links_reset ON links (user_id) WHERE kind = 'reset';
CREATE INDEX links_expires ON links (expires_at);

CREATE TABLE sign_in_failures (
  -- SHA-256 of what was typed as e-mail, which may be a password by mistake; or of an address, session or link.
  subject bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
  -- The last five, the oldest first.
  failed_at timestamptz(3)[] NOT NULL,
  -- SHA-256 of the account that the failure counts for: a new password removes all of them. Null for addresses and sessions.
  account bytea CHECK (octet_length(account) = 32)
);
CREATE INDEX sign_in_failures_account ON sign_in_failures (account) WHERE account IS NOT NULL;

-- Where a user has signed in from. Failures elsewhere do not block a sign-in from such a place.
CREATE TABLE sign_in_places (
  -- SHA-256 of the e-mail and the address; an IPv6 address counts as its /64.
  subject bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sign_in_places_user ON sign_in_places (user_id, seen_at);
CREATE INDEX sign_in_places_seen ON sign_in_places (seen_at);

-- Limits of calls -------------------------------------------------------------------------------------------------------

-- Calls counted per window. A subject is the id of an API key or a client address.
CREATE TABLE windows (
  subject text NOT NULL,
  name text NOT NULL,
  starts_at timestamptz(3) NOT NULL,
  ends_at timestamptz(3) NOT NULL,
  count integer NOT NULL,
  PRIMARY KEY (subject, name, starts_at)
) WITH (fillfactor = 50);
CREATE INDEX windows_ends_at ON windows (ends_at);

-- The node that counts calls in its memory. The row stays when the node loses its lock, until the node has saved its counts.
CREATE TABLE lone_node (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  node text NOT NULL
);

-- What operators do to people and partners ------------------------------------------------------------------------------

-- The log of acts on rows of this schema; each world has its own log (see world/0001-baseline.sql).
CREATE TABLE acts (
  seq bigint PRIMARY KEY CHECK (seq > 0),
  at timestamptz(3) NOT NULL,
  actor_kind text NOT NULL CONSTRAINT acts_actor_kind_check CHECK (actor_kind IN ('operator', 'person', 'shell', 'service')),
  actor_id text,
  actor_email text,
  session_id text,
  action text NOT NULL,
  object_id text,
  -- JSON, kept as text: the hash covers every byte.
  before text,
  after text,
  proposal_id text,
  previous_hash text NOT NULL,
  hash text NOT NULL,
  partner_id text
);
CREATE INDEX acts_proposal ON acts (proposal_id) WHERE proposal_id IS NOT NULL;
CREATE INDEX acts_partner ON acts (partner_id, seq DESC) WHERE partner_id IS NOT NULL;
CREATE INDEX acts_about ON acts (object_id, seq DESC) WHERE object_id IS NOT NULL;
CREATE INDEX acts_of_action ON acts (action, seq);
CREATE INDEX acts_of_actor ON acts (actor_email, seq);
CREATE INDEX acts_of_actor_doing ON acts (actor_email, action, seq);

-- The newest line. A transaction that adds a line locks this row, as its last lock.
CREATE TABLE acts_head (
  id text PRIMARY KEY CHECK (id = 'head'),
  seq bigint NOT NULL,
  hash text NOT NULL
);
INSERT INTO acts_head (id, seq, hash) VALUES ('head', 0, '');

-- The key that chains the three logs of acts, sealed under SECRET_KEY. One row.
CREATE TABLE acts_keys (
  id text PRIMARY KEY CHECK (id = 'acts'),
  secret bytea NOT NULL,
  secret_key_id text NOT NULL
);

-- What one operator proposes to do to an operator, and a second operator must approve.
CREATE TABLE proposals (
  id text PRIMARY KEY,
  action text NOT NULL CHECK (action IN ('create_user', 'reset_password', 'set_role', 'reset_factor', 'remove_user')),
  details json NOT NULL,
  proposed_by text NOT NULL,
  proposed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz(3) NOT NULL DEFAULT clock_timestamp() + interval '7 days',
  approved_by text,
  approved_at timestamptz(3),
  resource_id text,
  ended text,
  ended_by text,
  ended_reason text,
  ended_at timestamptz(3),
  CONSTRAINT four_eyes CHECK (approved_by <> proposed_by),
  CONSTRAINT proposals_ended_check CHECK (ended IN ('done', 'rejected', 'withdrawn', 'expired')),
  CONSTRAINT proposals_end_fits CHECK (CASE ended
    WHEN 'done' THEN resource_id IS NOT NULL AND approved_by IS NOT NULL AND ended_at IS NOT NULL
    WHEN 'rejected' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
    WHEN 'withdrawn' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by = proposed_by
    WHEN 'expired' THEN resource_id IS NULL AND approved_by IS NULL AND ended_by IS NULL
      AND ended_at IS NOT NULL AND ended_at >= expires_at
    ELSE approved_by IS NULL AND resource_id IS NULL AND ended_by IS NULL AND ended_reason IS NULL AND ended_at IS NULL END)
);
CREATE INDEX proposals_open ON proposals (expires_at) WHERE ended IS NULL;

-- Forms of the console that were handled, by the id that the page gave them: a form that arrives twice creates one object.
CREATE TABLE forms (
  user_id text NOT NULL,
  id text NOT NULL,
  object_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, id)
);
CREATE INDEX forms_created ON forms (created_at);
