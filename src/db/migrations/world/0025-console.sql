-- additive
-- People of partners act too, in the console. Whose person it was is a column, so that a partner can read what its own did;
-- the chained text says it as well.
ALTER TABLE acts DROP CONSTRAINT acts_actor_kind_check;
ALTER TABLE acts ADD CONSTRAINT acts_actor_kind_check CHECK (actor_kind IN ('operator', 'person', 'shell', 'service'));
ALTER TABLE acts ADD COLUMN partner_id text;
CREATE INDEX acts_partner ON acts (partner_id, seq DESC) WHERE partner_id IS NOT NULL;

-- A form that was sent twice makes one thing: what it made is kept under the id that the page gave it.
CREATE TABLE forms (
  user_id text NOT NULL,
  id text NOT NULL,
  object_id text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, id)
);
CREATE INDEX forms_created ON forms (created_at);
