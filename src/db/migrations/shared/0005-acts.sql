-- additive
-- The log of acts on what both worlds share, as each world has its own; and the key that all three are chained with.
CREATE TABLE acts (
  seq bigint PRIMARY KEY CHECK (seq > 0),
  at timestamptz(3) NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('operator', 'shell', 'service')),
  actor_id text,
  actor_email text,
  session_id text,
  action text NOT NULL,
  object_id text,
  before text,
  after text,
  proposal_id text,
  previous_hash text NOT NULL,
  hash text NOT NULL
);
CREATE INDEX acts_proposal ON acts (proposal_id) WHERE proposal_id IS NOT NULL;
CREATE TABLE acts_head (
  id text PRIMARY KEY CHECK (id = 'head'),
  seq bigint NOT NULL,
  hash text NOT NULL
);
INSERT INTO acts_head (id, seq, hash) VALUES ('head', 0, '');

-- Sealed under SECRET_KEY. One row.
CREATE TABLE acts_keys (
  id text PRIMARY KEY CHECK (id = 'acts'),
  secret bytea NOT NULL,
  secret_key_id text NOT NULL
);

-- What one operator proposes to do to another, and a second one must approve; as the proposals about money of a world.
CREATE TABLE proposals (
  id text PRIMARY KEY,
  action text NOT NULL CHECK (action IN ('create_user', 'reset_password', 'set_role', 'reset_factor')),
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
