-- Written in the transaction that caused them. Their order is told by event_positions, once they are committed.
CREATE TABLE events (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  type text NOT NULL,
  object_id text NOT NULL,
  sequence integer NOT NULL,
  data json NOT NULL,
  created_at timestamptz(3) NOT NULL,
  UNIQUE (object_id, sequence)
);
CREATE INDEX events_of_partner ON events (partner_id, created_at, id);
