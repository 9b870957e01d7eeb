-- Gives positions of the event log. The caller holds the lock on log_turn until its transaction ends, so positions become visible in
-- ascending order (decision 0015). Returns the position before the first one given. A position is a time in microseconds, or the previous
-- position plus one. More than 10,000 at once is no batch and could use up the log; a negative number would give positions twice.
CREATE OR REPLACE FUNCTION take_positions(how_many bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE last bigint;
BEGIN
  IF how_many BETWEEN 0 AND 10000 IS NOT TRUE THEN
    RAISE EXCEPTION 'a batch takes 0 to 10000 positions of the log, not %', how_many;
  END IF;
  LOCK TABLE log_turn IN SHARE ROW EXCLUSIVE MODE;
  SELECT greatest(last_value, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) INTO last FROM event_log;
  PERFORM setval('event_log', last + how_many);
  RETURN last;
END $$;

-- An event that was written without a position (customers, keys, endpoints: transactions of several round trips) gets its
-- position inside of COMMIT. The lock on the log is held for no longer than COMMIT takes, whatever the node does meanwhile,
-- and nothing is acknowledged before it has its position (decision 0015). A batch of the ledger may hold the log while it
-- flushes, so the lock is waited for a little longer than row locks are.
CREATE OR REPLACE FUNCTION place_event() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '4s' AS $$
DECLARE place bigint := take_positions(1) + 1;
BEGIN
  UPDATE events SET position = place, late = is_late(place, created_at) WHERE id = NEW.id AND position IS NULL;
  RETURN NULL;
END $$;
-- CREATE OR REPLACE does not know constraint triggers, and no other trigger can wait for COMMIT.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'events'::regclass AND tgname = 'place_event' AND tgenabled = 'O'
      AND tgdeferrable AND tginitdeferred AND tgfoid = 'place_event'::regproc AND pg_get_triggerdef(oid) LIKE '%WHEN ((new."position" IS NULL))%') THEN
    DROP TRIGGER IF EXISTS place_event ON events;
    CREATE CONSTRAINT TRIGGER place_event AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW WHEN (NEW.position IS NULL) EXECUTE FUNCTION place_event();
  END IF;
END $$;

-- True if the position and the event's own time differ so much (a clock stepped) that a search by time range would miss the event;
-- otherwise null.
CREATE OR REPLACE FUNCTION is_late(place bigint, created_at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN place - extract(epoch FROM created_at) * 1000000 NOT BETWEEN 0 AND 2000000 THEN true END
$$;

-- A range of time in the log: all of this time or later lies behind the first; all of before that time lies up to the
-- second, but for what came late.
CREATE OR REPLACE FUNCTION log_start(since timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT (extract(epoch FROM since) * 1000000)::bigint - 1
$$;
CREATE OR REPLACE FUNCTION log_end(before timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT (extract(epoch FROM before) * 1000000)::bigint + 2000000
$$;

-- The highest position of a committed event: usually just below the last position given. If those were rolled back, the newest position of
-- each partner is read.
CREATE OR REPLACE FUNCTION log_last() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT SET enable_seqscan = off AS $$
  SELECT coalesce(
    (SELECT max(position) FROM events WHERE position > (SELECT last_value FROM event_log) - 50000),
    (SELECT max(position) FROM events WHERE position > (SELECT last_value FROM event_log) - 1000000), (
    WITH RECURSIVE partners AS (
      (SELECT partner_id FROM events WHERE position IS NOT NULL ORDER BY partner_id LIMIT 1)
      UNION ALL
      SELECT (SELECT partner_id FROM events WHERE position IS NOT NULL AND partner_id > p.partner_id ORDER BY partner_id LIMIT 1)
      FROM partners p WHERE p.partner_id IS NOT NULL
    )
    SELECT max((SELECT max(position) FROM events e WHERE e.partner_id = p.partner_id AND position IS NOT NULL)) FROM partners p), 0)
$$;

-- The next events behind a position, of all partners, in the order of the log. Along an index of ranges of blocks, which leads to
-- all of a stretch of the log: so the stretch is made as long as it needs to be, and no longer.
CREATE OR REPLACE FUNCTION events_behind(after bigint, most integer) RETURNS TABLE (place bigint, object_id text, type text)
LANGUAGE plpgsql STABLE SET search_path FROM CURRENT SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  last bigint := log_last();
  reach bigint := 10000000;
  found bigint;
BEGIN
  LOOP
    SELECT count(*) INTO found FROM (SELECT FROM events WHERE position > after AND position <= after + reach LIMIT most) AS seen;
    EXIT WHEN found >= most OR after + reach >= last;
    reach := 4 * reach;
  END LOOP;
  RETURN QUERY SELECT e.position, e.object_id, e.type FROM events e
    WHERE e.position > after AND e.position <= after + reach ORDER BY e.position LIMIT most;
END $$;

-- Gives positions to events that have none; returns how many. The events of an object keep their own order. For the owner, after
-- events were written past the triggers, by hand or by a restore (docs/operate/incidents.md): the service leaves no such event.
CREATE OR REPLACE FUNCTION place_events() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  last bigint := take_positions(0);
  placed integer;
BEGIN
  WITH waiting AS MATERIALIZED (
    SELECT id, created_at, last + row_number() OVER (ORDER BY reached, object_id, sequence) AS position FROM (
      SELECT id, created_at, object_id, sequence, max(created_at) OVER (PARTITION BY object_id ORDER BY sequence) AS reached
      FROM events WHERE position IS NULL) AS unplaced
  )
  UPDATE events e SET position = w.position, late = is_late(w.position, w.created_at) FROM waiting w WHERE e.id = w.id;
  GET DIAGNOSTICS placed = ROW_COUNT;
  PERFORM setval('event_log', last + placed);
  RETURN placed;
END $$;

-- Removes old events that have no delivery. Looks at `most` ids behind `after`; returns the last old id that it saw, or null
-- when there was none: an id begins with its time. `older_than` counts up to what the retention of events allows. The
-- advisory lock keeps redeliveries out meanwhile, so that no delivery is added to an event that is being removed.
CREATE OR REPLACE FUNCTION forget_old_events(older_than timestamptz, after text, most integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  horizon timestamptz := removable_before('events', older_than);
  seen text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('redeliver ' || current_schema(), 0));
  WITH looked AS MATERIALIZED (
    SELECT id, created_at FROM events WHERE id > after ORDER BY id LIMIT most
  ), old AS MATERIALIZED (
    SELECT id FROM looked WHERE created_at < horizon
      AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.event_id = looked.id)
  ), gone AS (
    DELETE FROM events e USING old WHERE e.id = old.id
  )
  SELECT max(id) FILTER (WHERE created_at < horizon) INTO seen FROM looked;
  RETURN seen;
END $$;

-- Up to when events were forgotten by the function above. Removed in any other way, they are missed by the audit.
CREATE OR REPLACE FUNCTION note_forgotten_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE callers text;
BEGIN
  GET DIAGNOSTICS callers = PG_CONTEXT;
  IF callers LIKE '%forget_old_events(%' THEN
    UPDATE event_horizon SET forgotten_until = newest.at
    FROM (SELECT max(created_at) AS at FROM gone) AS newest WHERE newest.at > forgotten_until;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_forgotten_events AFTER DELETE ON events REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_forgotten_events();
