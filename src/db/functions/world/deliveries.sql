-- The service itself may not change or remove a delivery or an attempt; these keep what is still owed.

-- Removes ended deliveries, and pending ones of deleted endpoints. Returns how many. Ended ones are locked, or passed over: a
-- delivery that is begun anew meanwhile must stay. `older_than` counts up to what the retention of deliveries allows. The
-- service may change the times of a delivery, but not those of its event: the event must be as old.
CREATE OR REPLACE FUNCTION forget_deliveries(older_than timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  horizon timestamptz := removable_before('deliveries', older_than);
  gone integer;
BEGIN
  WITH ended AS (
    SELECT event_id, endpoint_id FROM webhook_deliveries d
      WHERE status <> 'pending' AND ended_at < horizon
        AND NOT EXISTS (SELECT FROM events e WHERE e.id = d.event_id AND e.created_at >= horizon) ORDER BY ended_at LIMIT most FOR UPDATE SKIP LOCKED
  ), old AS (
    SELECT event_id, endpoint_id FROM ended
    UNION
    (SELECT d.event_id, d.endpoint_id FROM webhook_endpoints w JOIN webhook_deliveries d ON d.endpoint_id = w.id
      WHERE w.status = 'deleted' AND d.status = 'pending' AND d.created_at < horizon
        AND NOT EXISTS (SELECT FROM events e WHERE e.id = d.event_id AND e.created_at >= horizon) LIMIT most)
  ), attempts AS (
    DELETE FROM webhook_attempts a USING old WHERE (a.event_id, a.endpoint_id) = (old.event_id, old.endpoint_id)
  ), deliveries AS (
    DELETE FROM webhook_deliveries d USING old WHERE (d.event_id, d.endpoint_id) = (old.event_id, old.endpoint_id) RETURNING 1
  )
  SELECT count(*) INTO gone FROM deliveries;
  RETURN gone;
END $$;

-- Of each of these deliveries the last 20 attempts stay, and what was answered to the last three.
CREATE OR REPLACE FUNCTION trim_attempts(event_ids text[], endpoint_ids text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  WITH of_delivery AS (
    SELECT t.event_id, t.endpoint_id, row_kept.attempt AS first_row, body_kept.attempt AS first_body
    FROM unnest(event_ids, endpoint_ids) AS t (event_id, endpoint_id)
    JOIN LATERAL (SELECT attempt FROM webhook_attempts a WHERE (a.event_id, a.endpoint_id) = (t.event_id, t.endpoint_id)
      ORDER BY attempt DESC OFFSET 2 LIMIT 1) AS body_kept ON true
    LEFT JOIN LATERAL (SELECT attempt FROM webhook_attempts a WHERE (a.event_id, a.endpoint_id) = (t.event_id, t.endpoint_id)
      ORDER BY attempt DESC OFFSET 19 LIMIT 1) AS row_kept ON true
  ), gone AS (
    DELETE FROM webhook_attempts a USING of_delivery d
    WHERE (a.event_id, a.endpoint_id) = (d.event_id, d.endpoint_id) AND a.attempt < d.first_row
  )
  UPDATE webhook_attempts a SET answer_body = NULL FROM of_delivery d
  WHERE (a.event_id, a.endpoint_id) = (d.event_id, d.endpoint_id) AND a.answer_body IS NOT NULL
    AND a.attempt < d.first_body AND a.attempt >= coalesce(d.first_row, 0);
END $$;
