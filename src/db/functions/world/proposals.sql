-- A proposal ends once. The database enforces it under the row's lock, whichever node asks.
CREATE OR REPLACE FUNCTION proposal_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.ended IS NOT NULL AND
     (OLD.ended, OLD.ended_by, OLD.ended_reason, OLD.ended_at, OLD.approved_by, OLD.approved_at, OLD.resource_id) IS DISTINCT FROM
     (NEW.ended, NEW.ended_by, NEW.ended_reason, NEW.ended_at, NEW.approved_by, NEW.approved_at, NEW.resource_id) THEN
    RAISE EXCEPTION 'proposal % has ended: it is %', OLD.id, OLD.ended;
  END IF;
  IF OLD.approved_by IS NOT NULL AND (OLD.approved_by, OLD.approved_at) IS DISTINCT FROM (NEW.approved_by, NEW.approved_at) THEN
    RAISE EXCEPTION 'proposal % was approved by %', OLD.id, OLD.approved_by;
  END IF;
  IF OLD.approved_by IS NULL AND NEW.approved_by IS NOT NULL AND OLD.expires_at <= clock_timestamp() THEN
    RAISE EXCEPTION 'proposal % has expired', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER proposals_end_once BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION proposal_ends_once();

-- What was proposed never changes, and neither does its time. The function is that of orders.sql.
CREATE OR REPLACE TRIGGER proposals_order_stays BEFORE UPDATE OF id, action, details, proposed_by, proposed_at, expires_at ON proposals
  FOR EACH ROW EXECUTE FUNCTION order_stays();
