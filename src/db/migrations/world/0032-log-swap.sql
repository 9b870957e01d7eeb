-- additive
-- From here on there is one place for the order of events. The version before finds the same under the names that it knows.
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

-- Nobody adds an event until this is done. All that waited get their positions and deliveries in the old way.
LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;
SELECT dispatch_fresh_events(2147483647);
UPDATE events e SET position = p.position, late = nullif(e.created_at > clock_timestamp() OR e.created_at < clock_timestamp() - interval '2 seconds', false)
FROM event_positions p WHERE p.event_id = e.id AND e.position IS NULL;

INSERT INTO log_times (position, reached)
SELECT max(position), max(reached) FROM (
  SELECT position, max(least(created_at, clock_timestamp())) OVER (ORDER BY position) AS reached FROM events WHERE position IS NOT NULL) AS log
GROUP BY date_trunc('second', reached);
SELECT setval('event_log', greatest((SELECT max(position) FROM events), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint));

CREATE UNIQUE INDEX events_log ON events (partner_id, position) WHERE position IS NOT NULL;
-- The three kinds that every payout tells are most of the log anyway.
CREATE INDEX events_log_of_type ON events (partner_id, type, position) WHERE position IS NOT NULL
  AND type NOT IN ('pix.payout.created', 'pix.payout.processing', 'pix.payout.completed');
-- For whoever follows all partners: events lie in the table nearly as they do in the log.
CREATE INDEX events_position ON events USING brin (position) WITH (pages_per_range = 32, autosummarize = on);
CREATE INDEX events_unplaced ON events (id) WHERE position IS NULL;
-- A range of time is a range of positions, but for these.
CREATE INDEX events_late ON events (partner_id, created_at, id) WHERE late;
DROP INDEX events_of_partner;

DROP TRIGGER note_fresh_events ON events;
DROP FUNCTION note_fresh_events();
DROP TABLE event_positions;
DROP TABLE fresh_events;
CREATE VIEW event_positions AS SELECT id AS event_id, partner_id, type, position FROM events WHERE position IS NOT NULL;
CREATE VIEW fresh_events AS SELECT id AS event_id, partner_id, type, 0::bigint AS n FROM events WHERE position IS NULL;
-- All rights are stated at the end of a start, and indexes may be built until then: the version before reads these meanwhile.
DO $$
DECLARE reader regrole;
BEGIN
  FOR reader IN SELECT grantee FROM pg_class, aclexplode(relacl)
    WHERE pg_class.oid = 'events'::regclass AND privilege_type = 'SELECT' AND grantee <> 0
  LOOP
    EXECUTE format('GRANT SELECT ON event_positions, fresh_events TO %s', reader);
  END LOOP;
END $$;

-- As in functions/: stated here too, so that no event is left without its deliveries in between.
CREATE FUNCTION address_events() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO webhook_deliveries (event_id, endpoint_id, next_attempt_at, created_at)
  SELECT a.id, w.id, clock_timestamp(), clock_timestamp() FROM added a
  JOIN webhook_endpoints w ON w.partner_id = a.partner_id AND w.status = 'enabled' AND wants_event(w.events, a.type)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER address_events AFTER INSERT ON events REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION address_events();
