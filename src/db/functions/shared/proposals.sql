-- What was proposed about an operator never changes, ends once, and is not done after its time.
CREATE OR REPLACE FUNCTION proposal_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.ended IS NOT NULL OR (OLD.id, OLD.action, OLD.details::text, OLD.proposed_by, OLD.proposed_at, OLD.expires_at)
     IS DISTINCT FROM (NEW.id, NEW.action, NEW.details::text, NEW.proposed_by, NEW.proposed_at, NEW.expires_at) THEN
    RAISE EXCEPTION 'proposal % cannot be changed', OLD.id;
  END IF;
  IF NEW.ended = 'done' AND OLD.expires_at <= clock_timestamp() THEN
    RAISE EXCEPTION 'proposal % has expired', OLD.id;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER proposals_end_once BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION proposal_ends_once();
