-- additive
-- The log of requests: what a partner asked for, and how it was answered. No bodies, no queries, no paths: a route is the
-- declared one. Rows are added after the answer, a batch at a time, and forgotten after some weeks.
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

CREATE TABLE requests (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  api_key_id text NOT NULL,
  method text NOT NULL,
  -- Null: no route took it.
  route text,
  status smallint NOT NULL,
  error_code text,
  duration_ms integer NOT NULL,
  address text NOT NULL,
  -- What was asked for by its id, or made.
  object_id text,
  created_at timestamptz(3) NOT NULL,
  -- Given under a lock that is held to the end of the transaction: so positions are seen in their own order.
  position bigint NOT NULL GENERATED ALWAYS AS IDENTITY
);
CREATE INDEX requests_newest ON requests (partner_id, created_at DESC, id DESC);
CREATE INDEX requests_by_status ON requests (partner_id, status, created_at DESC, id DESC);
CREATE INDEX requests_by_key ON requests (partner_id, api_key_id, created_at DESC, id DESC);
CREATE INDEX requests_by_position ON requests (partner_id, position);

-- Forgets requests whose id is lower than this one, up to `most`; returns how many. An id begins with its time.
CREATE FUNCTION forget_requests(below text, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE gone integer;
BEGIN
  DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE id < below ORDER BY id LIMIT most);
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;
