-- additive
-- People of the console: the language they read, whether they are still there, and links by which they choose a password.

-- Null: as their browser says.
ALTER TABLE users ADD COLUMN language text CHECK (language IN ('en', 'pt-BR'));
-- The row stays, for the log names it; nothing opens it any more.
ALTER TABLE users ADD COLUMN removed_at timestamptz(3);
-- Since somebody else took the second factor away: until then this person makes and changes no key of production.
ALTER TABLE users ADD COLUMN keys_shut_until timestamptz(3);

-- An invitation, or leave to choose a new password. Whoever uses one removes it, so it works once.
CREATE TABLE links (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('invitation', 'reset')),
  -- SHA-256 of what stands in the address.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  partner_id text NOT NULL REFERENCES partners,
  email text NOT NULL,
  name text NOT NULL,
  -- What somebody who is invited will be.
  role text CHECK (role IN ('owner', 'developer', 'finance', 'viewer')),
  -- Whose password it is about.
  user_id text REFERENCES users,
  made_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz(3) NOT NULL,
  CHECK ((kind = 'invitation') = (role IS NOT NULL)),
  CHECK ((kind = 'reset') = (user_id IS NOT NULL))
);
-- The newest one counts, and no other.
CREATE UNIQUE INDEX links_invitation ON links (partner_id, email) WHERE kind = 'invitation';
CREATE UNIQUE INDEX links_reset ON links (user_id) WHERE kind = 'reset';
CREATE INDEX links_expires ON links (expires_at);

-- Whatever was done about a person, also by an operator: owners see it for a week.
CREATE INDEX acts_about ON acts (object_id, seq DESC) WHERE object_id IS NOT NULL;

ALTER TABLE proposals DROP CONSTRAINT proposals_action_check;
ALTER TABLE proposals ADD CONSTRAINT proposals_action_check
  CHECK (action IN ('create_user', 'reset_password', 'set_role', 'reset_factor', 'remove_user'));
