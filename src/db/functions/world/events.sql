-- Whatever inserts an event, by whatever way, also leaves its id among the fresh ones.
CREATE OR REPLACE FUNCTION note_fresh_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO fresh_events (event_id, partner_id, type) SELECT id, partner_id, type FROM added;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_fresh_events AFTER INSERT ON events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION note_fresh_events();

-- Old events that nobody waits for: those with a delivery that is kept are kept with it. Looks at `most` positions after
-- `after`; returns the last one it saw, or null when everything after it is younger.
CREATE OR REPLACE FUNCTION forget_events(older_than timestamptz, after bigint, most integer) RETURNS bigint
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

-- Up to when events were forgotten by the function above. Removed in any other way, they are missed by the audit.
CREATE OR REPLACE FUNCTION note_forgotten_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE callers text;
BEGIN
  GET DIAGNOSTICS callers = PG_CONTEXT;
  IF callers LIKE '%forget_events(%' THEN
    UPDATE event_horizon SET forgotten_until = newest.at
    FROM (SELECT max(created_at) AS at FROM gone) AS newest WHERE newest.at > forgotten_until;
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_forgotten_events AFTER DELETE ON events REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION note_forgotten_events();
