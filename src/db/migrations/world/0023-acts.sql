-- additive
-- Every act of a person is a line here, written in the transaction that does it. Each carries the hash of the line before
-- it and its own, made with a key that the database has only sealed: a line that is changed, removed or added by hand is
-- none of ours.
CREATE TABLE acts (
  seq bigint PRIMARY KEY CHECK (seq > 0),
  at timestamptz(3) NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('operator', 'shell', 'service')),
  actor_id text,
  actor_email text,
  session_id text,
  action text NOT NULL,
  object_id text,
  -- JSON, to the byte: the hash is made over it.
  before text,
  after text,
  proposal_id text,
  previous_hash text NOT NULL,
  hash text NOT NULL
);
CREATE INDEX acts_proposal ON acts (proposal_id) WHERE proposal_id IS NOT NULL;

-- The newest line. Whoever adds one holds this row, and takes it last of all.
CREATE TABLE acts_head (
  id text PRIMARY KEY CHECK (id = 'head'),
  seq bigint NOT NULL,
  hash text NOT NULL
);
INSERT INTO acts_head (id, seq, hash) VALUES ('head', 0, '');
