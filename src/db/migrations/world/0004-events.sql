-- Written in the transaction that caused them. (xid, id) below the oldest running transaction is an order in which no
-- event that commits late is ever skipped.
CREATE TABLE events (
  id text PRIMARY KEY,
  xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
  partner_id text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  sequence integer NOT NULL,
  data json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  UNIQUE (object_id, sequence)
);
CREATE INDEX events_log ON events (partner_id, xid, id);
