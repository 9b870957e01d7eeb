-- additive
-- How people sign in. What could be used by whoever reads it is hashed or sealed.

-- What a person of the operator may do. Null for everybody else; also for an operator whom the version before makes from now on, who is a reader.
ALTER TABLE users ADD COLUMN operator_role text CHECK (operator_role IN ('admin', 'resolver', 'reader'));
UPDATE users SET operator_role = 'admin' WHERE role = 'operator';
ALTER TABLE users ADD CHECK (operator_role IS NULL OR role = 'operator');

-- SHA-256 of a code for one sign-in. Where two people made somebody, or gave them a new password, one of them knows the password
-- and the other this code, so that neither can sign in as that person alone.
ALTER TABLE users ADD COLUMN activation_hash bytea CHECK (octet_length(activation_hash) = 32);

CREATE TABLE sessions (
  -- Names it where it must be told which one it was; only the token opens it.
  id text PRIMARY KEY,
  -- SHA-256.
  token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
  user_id text NOT NULL REFERENCES users,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  used_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sessions_user ON sessions (user_id);

-- The second factor of a person: a seed, sealed, that codes are made from.
CREATE TABLE factors (
  -- The person's id: nobody has two.
  id text PRIMARY KEY REFERENCES users,
  seed bytea NOT NULL,
  seed_key_id text NOT NULL,
  -- The last step whose code was used: a code works once, and none before it works any more.
  step integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  -- When a first code showed that the person has the seed. Until then the factor does not count.
  confirmed_at timestamptz(3)
);

CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES factors ON DELETE CASCADE,
  code_hash bytea NOT NULL CHECK (octet_length(code_hash) = 32),
  PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE sign_in_failures (
  -- SHA-256 of the e-mail that was typed, which may be a password by mistake.
  subject bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
  -- The last five, the oldest first.
  failed_at timestamptz(3)[] NOT NULL
);
