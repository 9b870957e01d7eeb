-- additive
-- What a partner's receivers may cost: deliveries that nobody waits for come to an end, and of what receivers say only so
-- much is kept.
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

-- canceled: the endpoint was disabled or deleted before it was delivered. NOT VALID spares a look at every old row, which
-- the constraint before it has seen.
ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_status_check;
ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_status_check
  CHECK (status IN ('pending', 'delivered', 'exhausted', 'canceled')) NOT VALID;

CREATE INDEX webhook_deliveries_canceled ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC) WHERE status = 'canceled';

-- How many bytes of answers came for a partner in a day.
CREATE TABLE webhook_answer_bytes (
  partner_id text NOT NULL,
  day date NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (partner_id, day)
) WITH (fillfactor = 50);

-- Of each of these deliveries the last 20 attempts stay, and what was answered to the last three. As in 0009, the service
-- itself may neither change nor remove an attempt.
CREATE FUNCTION trim_attempts(event_ids text[], endpoint_ids text[]) RETURNS void
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
