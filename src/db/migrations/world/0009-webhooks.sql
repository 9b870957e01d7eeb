-- The log of events and what leaves it. No foreign keys here either: an event must not wait for anything.

-- Functions below that run with the rights of the owner do so in this schema, whoever calls them. Temporary tables come
-- last for them, so that nobody can put one in the place of a real one.
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

-- Events that have no position yet. Whatever inserts an event, by whatever way, also leaves its id here; `n` keeps the
-- events of one object in their own order, for the next one is written only after the one before it was committed.
CREATE TABLE fresh_events (
  event_id text NOT NULL,
  partner_id text NOT NULL,
  type text NOT NULL,
  n bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY
);

CREATE FUNCTION note_fresh_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO fresh_events (event_id, partner_id, type) SELECT id, partner_id, type FROM added;
  RETURN NULL;
END $$;
CREATE TRIGGER note_fresh_events AFTER INSERT ON events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION note_fresh_events();

-- The order of the log. Positions are given after the commit, by one process at a time, so whoever has read up to a
-- position has read everything below it: what commits late gets a later one.
CREATE TABLE event_positions (
  event_id text NOT NULL UNIQUE,
  partner_id text NOT NULL,
  type text NOT NULL,
  position bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY
);
-- With the kind at hand, so that a filter by it reads nothing else.
CREATE INDEX event_positions_of_partner ON event_positions (partner_id, position) INCLUDE (type);

CREATE TABLE webhook_endpoints (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  url text NOT NULL,
  -- Kinds of events; * is every kind.
  events text[] NOT NULL,
  description text,
  status text NOT NULL DEFAULT 'enabled' CHECK (status IN ('enabled', 'disabled', 'deleted')),
  disabled_reason text,
  disabled_at timestamptz(3),
  -- Encrypted under SECRET_KEY; the one before it is valid until its time has come.
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamptz(3),
  -- The first failure after the last success.
  failing_since timestamptz(3),
  -- Counts its test events.
  tests integer NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL,
  CHECK ((status = 'disabled') = (disabled_reason IS NOT NULL)),
  CHECK ((status = 'disabled') = (disabled_at IS NOT NULL)),
  CHECK ((previous_secret IS NULL) = (previous_secret_until IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_endpoints_newest ON webhook_endpoints (partner_id, created_at DESC, id DESC) WHERE status <> 'deleted';

-- One event to one endpoint. Pending until it was delivered or the schedule is used up; due at next_attempt_at, which is
-- also the end of the lease of whoever is at it.
CREATE TABLE webhook_deliveries (
  event_id text NOT NULL,
  endpoint_id text NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'exhausted')),
  -- All attempts ever made, and those since it was last begun anew.
  attempts integer NOT NULL DEFAULT 0,
  tries integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  ended_at timestamptz(3),
  PRIMARY KEY (event_id, endpoint_id),
  CHECK ((status = 'pending') = (ended_at IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_newest ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC);
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE status <> 'pending';

-- What was sent and what came back. The body is that of the event, to the byte.
CREATE TABLE webhook_attempts (
  event_id text NOT NULL,
  endpoint_id text NOT NULL,
  attempt integer NOT NULL,
  url text NOT NULL,
  headers json NOT NULL,
  status smallint,
  answer_headers json,
  answer_body text,
  error text,
  started_at timestamptz(3) NOT NULL,
  duration_ms integer NOT NULL,
  PRIMARY KEY (event_id, endpoint_id, attempt),
  CHECK (status IS NOT NULL OR error IS NOT NULL)
);

-- Takes committed events, up to `most`, gives them their positions, and adds one delivery for every endpoint that wants
-- them. One at a time in each world, to the end of its transaction: so positions are seen in their own order. A function,
-- so that the lock and what is read after it are one round trip, and its plans are kept.
CREATE FUNCTION dispatch_fresh_events(most integer, OUT placed integer, OUT endpoints text[]) LANGUAGE plpgsql AS $$
BEGIN
  -- Not to be made asynchronous: a crash that forgot positions would give them again, perhaps in another order.
  PERFORM pg_advisory_xact_lock(hashtextextended('place events ' || current_schema(), 0));
  WITH taken AS (
    DELETE FROM fresh_events WHERE n IN (SELECT n FROM fresh_events ORDER BY n LIMIT most) RETURNING *
  ), positioned AS (
    INSERT INTO event_positions (event_id, partner_id, type)
    SELECT t.event_id, t.partner_id, t.type FROM taken t ORDER BY t.n RETURNING event_id, partner_id, type
  ), addressed AS (
    INSERT INTO webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
    SELECT p.event_id, w.id, clock_timestamp(), clock_timestamp() FROM positioned p
    JOIN webhook_endpoints w ON w.partner_id = p.partner_id AND w.status = 'enabled'
      AND (p.type = ANY(w.events) OR '*' = ANY(w.events)) AND p.type <> 'webhook_endpoint.test'
    ON CONFLICT DO NOTHING RETURNING endpoint_id
  )
  SELECT (SELECT count(*) FROM taken), ARRAY(SELECT DISTINCT endpoint_id FROM addressed) INTO placed, endpoints;
END $$;

-- History is only ever forgotten through these two, which keep what is still owed:
-- the service itself may not remove an event, a delivery or an attempt.

-- Ended deliveries, and whatever was meant for an endpoint that is no more. Returns how many went.
CREATE FUNCTION forget_deliveries(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  WITH old AS (
    (SELECT event_id, endpoint_id FROM webhook_deliveries
      WHERE status <> 'pending' AND ended_at < older_than ORDER BY ended_at LIMIT most)
    UNION
    (SELECT d.event_id, d.endpoint_id FROM webhook_endpoints w JOIN webhook_deliveries d ON d.endpoint_id = w.id
      WHERE w.status = 'deleted' AND d.status = 'pending' AND d.created_at < older_than LIMIT most)
  ), attempts AS (
    DELETE FROM webhook_attempts a USING old WHERE (a.event_id, a.endpoint_id) = (old.event_id, old.endpoint_id)
  ), deliveries AS (
    DELETE FROM webhook_deliveries d USING old WHERE (d.event_id, d.endpoint_id) = (old.event_id, old.endpoint_id) RETURNING 1
  )
  SELECT count(*) INTO gone FROM deliveries;
  RETURN gone;
END $$;

-- Old events that nobody waits for: those with a delivery that is kept are kept with it. Looks at `most` positions after
-- `after`; returns the last one it saw, or null when everything after it is younger.
CREATE FUNCTION forget_events(older_than timestamptz, after bigint, most integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE seen bigint;
BEGIN
  WITH looked AS MATERIALIZED (
    SELECT p.position, e.id, e.created_at FROM event_positions p JOIN events e ON e.id = p.event_id
    WHERE p.position > after ORDER BY p.position LIMIT most
  ), old AS MATERIALIZED (
    SELECT id FROM looked WHERE created_at < older_than
      AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = looked.id)
  ), positions AS (
    DELETE FROM event_positions p USING old WHERE p.event_id = old.id
  ), gone AS (
    DELETE FROM events e USING old WHERE e.id = old.id
  )
  SELECT max(position) FILTER (WHERE created_at < older_than) INTO seen FROM looked;
  RETURN seen;
END $$;
