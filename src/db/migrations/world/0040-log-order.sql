-- additive
-- Events that are written without a position get one inside of COMMIT. See decision 0084.
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

-- As in functions/, which are stated after all migrations: from here on whoever writes an event, nodes of the version before
-- included, needs them.
CREATE OR REPLACE FUNCTION take_positions(how_many bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE last bigint;
BEGIN
  LOCK TABLE log_turn IN SHARE ROW EXCLUSIVE MODE;
  SELECT greatest(last_value, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) INTO last FROM event_log;
  PERFORM setval('event_log', last + how_many);
  RETURN last;
END $$;
CREATE OR REPLACE FUNCTION is_late(place bigint, created_at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN place - extract(epoch FROM created_at) * 1000000 NOT BETWEEN 0 AND 2000000 THEN true END
$$;
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
CREATE OR REPLACE FUNCTION place_event() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '4s' AS $$
DECLARE place bigint := take_positions(1) + 1;
BEGIN
  UPDATE events SET position = place, late = is_late(place, created_at) WHERE id = NEW.id AND position IS NULL;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER place_event AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.position IS NULL) EXECUTE FUNCTION place_event();
