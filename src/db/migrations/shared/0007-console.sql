-- additive
-- As in each world: acts of partners' people, and forms that were sent twice.
ALTER TABLE acts DROP CONSTRAINT acts_actor_kind_check;
ALTER TABLE acts ADD CONSTRAINT acts_actor_kind_check CHECK (actor_kind IN ('operator', 'person', 'shell', 'service'));
ALTER TABLE acts ADD COLUMN partner_id text;
CREATE INDEX acts_partner ON acts (partner_id, seq DESC) WHERE partner_id IS NOT NULL;

CREATE TABLE forms (
  user_id text NOT NULL,
  id text NOT NULL,
  object_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, id)
);
CREATE INDEX forms_created ON forms (created_at);

-- What a member of a partner's team may do. Null: a viewer, and so is whoever the version before makes.
ALTER TABLE users ADD COLUMN partner_role text CHECK (partner_role IN ('developer', 'finance', 'viewer'));
ALTER TABLE users ADD CHECK (partner_role IS NULL OR role = 'member');

-- Where a session was opened, and when its person last showed a code, or the password, in it.
ALTER TABLE sessions ADD COLUMN address text;
ALTER TABLE sessions ADD COLUMN agent text;
ALTER TABLE sessions ADD COLUMN proved_at timestamptz(3);
