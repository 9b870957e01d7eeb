-- additive
-- Workers take transfers per network, by the time at which they are due (decision 0094).
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

LOCK TABLE transfers IN SHARE ROW EXCLUSIVE MODE;
ALTER TABLE open_transfers ADD COLUMN network text NOT NULL DEFAULT '';
UPDATE open_transfers q SET network = t.network FROM transfers t WHERE t.id = q.id;
CREATE INDEX open_transfers_due ON open_transfers (followed, network, partner_id, next_attempt_at);
DROP INDEX open_transfers_followed;

-- As in functions/: stated here too, so that no row of the queue is without its network in between.
CREATE OR REPLACE FUNCTION queue_transfers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO open_transfers (partner_id, followed, created_at, id, status, next_attempt_at, network)
    SELECT partner_id, status = 'processing', created_at, id, status, next_attempt_at, network FROM added
    WHERE status IN ('pending', 'processing');
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION requeue_transfers() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM open_transfers q USING before b
    WHERE (q.partner_id, q.followed, q.created_at, q.id) = (b.partner_id, b.status = 'processing', b.created_at, b.id);
  INSERT INTO open_transfers (partner_id, followed, created_at, id, status, next_attempt_at, network)
    SELECT partner_id, status = 'processing', created_at, id, status, next_attempt_at, network FROM after
    WHERE status IN ('pending', 'processing');
  RETURN NULL;
END $$;
