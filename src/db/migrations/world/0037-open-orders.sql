-- additive
-- What is on its way stands in a queue of its own, so that nothing that changes when an order ends is part of an index of the
-- orders: the end is written beside the row, and their indexes hold still (decision 0073). Triggers keep the queues, so the
-- version before does so too.
SELECT set_config('search_path', current_schema() || ', pg_temp', true);

-- `followed`: somebody has looked at it since it was accepted. Those that nobody has are due in the order of their making.
CREATE TABLE open_payouts (
  partner_id text NOT NULL,
  followed boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  id text NOT NULL,
  status text NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  PRIMARY KEY (partner_id, followed, created_at, id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX open_payouts_followed ON open_payouts (partner_id, next_attempt_at) WHERE followed;
CREATE TABLE open_transfers (
  partner_id text NOT NULL,
  followed boolean NOT NULL,
  created_at timestamptz(3) NOT NULL,
  id text NOT NULL,
  status text NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  PRIMARY KEY (partner_id, followed, created_at, id)
) WITH (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
CREATE INDEX open_transfers_followed ON open_transfers (partner_id, next_attempt_at) WHERE followed;

-- What the network calls a payment, and whose it is: no two payouts are one payment.
CREATE TABLE end_to_end_ids (
  end_to_end_id text NOT NULL,
  payout_id text NOT NULL
);

LOCK TABLE payouts, transfers IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO open_payouts SELECT partner_id, attempts > 1, created_at, id, status, next_attempt_at FROM payouts
  WHERE status IN ('pending', 'processing');
INSERT INTO open_transfers SELECT partner_id, status = 'processing', created_at, id, status, next_attempt_at FROM transfers
  WHERE status IN ('pending', 'processing');
INSERT INTO end_to_end_ids SELECT end_to_end_id, min(id) FROM payouts WHERE end_to_end_id IS NOT NULL GROUP BY end_to_end_id;

DROP INDEX payouts_due, payouts_left, payouts_asked, payouts_pending, payouts_processing;
DROP INDEX transfers_due, transfers_new, transfers_followed, transfers_pending, transfers_processing;
DROP INDEX IF EXISTS payouts_end_to_end_id;
-- The version before knows it by this name.
ALTER TABLE end_to_end_ids ADD CONSTRAINT payouts_end_to_end_id PRIMARY KEY (end_to_end_id);

-- An id that a payout is sent under follows from its own id; those that do not are of the version before.
ALTER TABLE payouts DROP CONSTRAINT payouts_send_id_key;
CREATE UNIQUE INDEX payouts_other_send_id ON payouts (send_id) WHERE send_id <> 'TRILHO' || substr(id, 4);

-- Read from their ends, these are the same as in descending order; but what is added at an end of its own leaves full pages
-- behind, and what is added at a beginning leaves halves.
DROP INDEX payouts_newest, payouts_of_customer;
CREATE INDEX payouts_newest ON payouts (partner_id, created_at, id);
CREATE INDEX payouts_of_customer ON payouts (customer_id, created_at, id);

-- Room for the end of each row beside it: payouts of a page are accepted together, and end together.
ALTER TABLE payouts SET (fillfactor = 50);

-- As in functions/: stated here too, so that nothing is missing from the queues in between.
CREATE FUNCTION queue_payouts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO open_payouts SELECT partner_id, attempts > 1, created_at, id, status, next_attempt_at FROM added
    WHERE status IN ('pending', 'processing');
  RETURN NULL;
END $$;
CREATE FUNCTION requeue_payouts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM open_payouts q USING before b
    WHERE (q.partner_id, q.followed, q.created_at, q.id) = (b.partner_id, b.attempts > 1, b.created_at, b.id);
  INSERT INTO open_payouts SELECT partner_id, attempts > 1, created_at, id, status, next_attempt_at FROM after
    WHERE status IN ('pending', 'processing');
  INSERT INTO end_to_end_ids SELECT a.end_to_end_id, a.id FROM after a JOIN before b USING (id)
    WHERE a.end_to_end_id IS DISTINCT FROM b.end_to_end_id AND a.end_to_end_id IS NOT NULL;
  RETURN NULL;
END $$;
CREATE FUNCTION queue_transfers() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO open_transfers SELECT partner_id, status = 'processing', created_at, id, status, next_attempt_at FROM added
    WHERE status IN ('pending', 'processing');
  RETURN NULL;
END $$;
CREATE FUNCTION requeue_transfers() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM open_transfers q USING before b
    WHERE (q.partner_id, q.followed, q.created_at, q.id) = (b.partner_id, b.status = 'processing', b.created_at, b.id);
  INSERT INTO open_transfers SELECT partner_id, status = 'processing', created_at, id, status, next_attempt_at FROM after
    WHERE status IN ('pending', 'processing');
  RETURN NULL;
END $$;
CREATE TRIGGER queue_payouts AFTER INSERT ON payouts REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_payouts();
CREATE TRIGGER requeue_payouts AFTER UPDATE ON payouts REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION requeue_payouts();
CREATE TRIGGER queue_transfers AFTER INSERT ON transfers REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION queue_transfers();
CREATE TRIGGER requeue_transfers AFTER UPDATE ON transfers REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION requeue_transfers();
