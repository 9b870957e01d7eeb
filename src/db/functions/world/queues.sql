-- Whatever makes or changes a payout or a transfer, by whatever way, keeps the queue of those that are on their way, and what
-- the network calls each payment (decision 0013).
CREATE OR REPLACE FUNCTION queue_payouts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO open_payouts SELECT partner_id, attempts > 1, created_at, id, status, next_attempt_at FROM added
    WHERE status IN ('pending', 'processing');
  RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION requeue_payouts() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM open_payouts q USING before b
    WHERE (q.partner_id, q.followed, q.created_at, q.id) = (b.partner_id, b.attempts > 1, b.created_at, b.id);
  INSERT INTO open_payouts SELECT partner_id, attempts > 1, created_at, id, status, next_attempt_at FROM after
    WHERE status IN ('pending', 'processing');
  INSERT INTO end_to_end_ids SELECT end_to_end_id, id FROM after WHERE end_to_end_id IS NOT NULL
    EXCEPT ALL SELECT end_to_end_id, id FROM before WHERE end_to_end_id IS NOT NULL;
  RETURN NULL;
END $$;
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
CREATE OR REPLACE TRIGGER queue_payouts AFTER INSERT ON payouts REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_payouts();
CREATE OR REPLACE TRIGGER requeue_payouts AFTER UPDATE ON payouts REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION requeue_payouts();
CREATE OR REPLACE TRIGGER queue_transfers AFTER INSERT ON transfers REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_transfers();
CREATE OR REPLACE TRIGGER requeue_transfers AFTER UPDATE ON transfers REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION requeue_transfers();
