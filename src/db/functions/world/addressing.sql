-- Whether an endpoint that subscribed to these kinds gets an event of this type. A test event matches no subscription: the service adds its
-- one delivery.
CREATE OR REPLACE FUNCTION wants_event(kinds text[], type text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (type = ANY(kinds) OR '*' = ANY(kinds)) AND type <> 'webhook_endpoint.test'
$$;

-- Whatever writes an event, by whatever way, also writes its deliveries: one for every endpoint that wants it now.
CREATE OR REPLACE FUNCTION address_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  -- A position that is not the end of the log would be one that readers have passed: they would never see the event. The service
  -- takes positions in the statement that inserts, so they are the last ones that were given, and it holds the log. The owner
  -- may insert what it likes.
  IF session_user <> current_user AND EXISTS (SELECT FROM added WHERE position IS NOT NULL) THEN
    LOCK TABLE log_turn IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM added a, event_log l
        WHERE a.position NOT BETWEEN l.last_value - (SELECT count(*) FROM added) + 1 AND l.last_value) THEN
      RAISE EXCEPTION 'an event can only be added at the end of the log';
    END IF;
  END IF;
  INSERT INTO webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
  SELECT a.id, w.id, clock_timestamp(), clock_timestamp() FROM added a
  JOIN webhook_endpoints w ON w.partner_id = a.partner_id AND w.status = 'enabled' AND wants_event(w.events, a.type)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER address_events AFTER INSERT ON events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION address_events();
