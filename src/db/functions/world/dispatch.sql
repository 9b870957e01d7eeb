-- Whether an endpoint that asked for these kinds hears of an event of this one. The one place that says so: a test event
-- goes to the endpoint that it is about, and to nobody else.
CREATE OR REPLACE FUNCTION wants_event(kinds text[], type text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (type = ANY(kinds) OR '*' = ANY(kinds)) AND type <> 'webhook_endpoint.test'
$$;

-- Takes committed events, up to `most`, gives them their positions, and adds one delivery for every endpoint that wants
-- them. One at a time in each world, to the end of its transaction: so positions are seen in their own order. A function,
-- so that the lock and what is read after it are one round trip, and its plans are kept.
CREATE OR REPLACE FUNCTION dispatch_fresh_events(most integer, OUT placed integer, OUT endpoints text[]) LANGUAGE plpgsql AS $$
BEGIN
  -- Not to be made asynchronous: a crash that forgot positions would give them again, perhaps in another order.
  PERFORM pg_advisory_xact_lock(hashtextextended('place events ' || current_schema(), 0));
  WITH taken AS (
    DELETE FROM fresh_events WHERE n IN (SELECT n FROM fresh_events ORDER BY n LIMIT most)
    RETURNING event_id, partner_id, type, n
  ), positioned AS (
    INSERT INTO event_positions (event_id, partner_id, type)
    SELECT t.event_id, t.partner_id, t.type FROM taken t ORDER BY t.n RETURNING event_id, partner_id, type
  ), addressed AS (
    INSERT INTO webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
    SELECT p.event_id, w.id, clock_timestamp(), clock_timestamp() FROM positioned p
    JOIN webhook_endpoints w ON w.partner_id = p.partner_id AND w.status = 'enabled'
      AND wants_event(w.events, p.type)
    ON CONFLICT DO NOTHING RETURNING endpoint_id
  )
  SELECT (SELECT count(*) FROM taken), ARRAY(SELECT DISTINCT endpoint_id FROM addressed) INTO placed, endpoints;
END $$;
