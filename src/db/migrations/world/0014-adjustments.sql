-- additive
-- An operator's corrections of what was booked: never a changed entry, always a new movement.

-- A debit takes from a balance; a reversal takes back exactly what one deposit gave, out through the rail it came in by.
-- No foreign keys here either; the audit compares a reversal with its deposit.
CREATE TABLE adjustments (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('debit', 'reversal')),
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  asset text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  -- What is reversed.
  deposit_id text,
  -- The outside account that the other side of the entry is booked to.
  rail text NOT NULL,
  reason text NOT NULL,
  reference text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT adjustments_reference UNIQUE (reference),
  CONSTRAINT adjustments_deposit UNIQUE (deposit_id),
  CHECK ((kind = 'reversal') = (deposit_id IS NOT NULL)),
  CHECK (kind = 'reversal' OR rail = 'operator')
);
CREATE INDEX adjustments_of_customer ON adjustments (customer_id, created_at DESC, id DESC);

ALTER TABLE proposals DROP CONSTRAINT proposals_action_check,
  ADD CONSTRAINT proposals_action_check CHECK
    (action IN ('credit', 'debit', 'reverse_credit', 'resolve_payout', 'resolve_transfer', 'pay_fees'));

-- The life of a proposal. It is open until it is approved, and it ends once: done, rejected by another operator,
-- withdrawn by its author, or expired. It is approved in the transaction that moves its money.
ALTER TABLE proposals
  ADD COLUMN expires_at timestamptz(3) NOT NULL DEFAULT clock_timestamp() + interval '7 days',
  ADD COLUMN ended text,
  ADD COLUMN ended_by text,
  ADD COLUMN ended_reason text,
  ADD COLUMN ended_at timestamptz(3);
UPDATE proposals SET ended = 'done', ended_by = approved_by, ended_at = coalesce(approved_at, proposed_at) WHERE resource_id IS NOT NULL;
ALTER TABLE proposals
  ADD CONSTRAINT proposals_ended_check CHECK (ended IN ('done', 'rejected', 'withdrawn', 'expired')),
  ADD CONSTRAINT proposals_end_fits CHECK (CASE ended
    WHEN 'done' THEN resource_id IS NOT NULL AND approved_by IS NOT NULL AND ended_at IS NOT NULL
    WHEN 'rejected' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
    WHEN 'withdrawn' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by = proposed_by
    WHEN 'expired' THEN resource_id IS NULL AND approved_by IS NULL AND ended_by IS NULL
      AND ended_at IS NOT NULL AND ended_at >= expires_at
    ELSE resource_id IS NULL AND ended_by IS NULL AND ended_reason IS NULL AND ended_at IS NULL END);
CREATE INDEX proposals_open ON proposals (expires_at) WHERE ended IS NULL;

-- The database decides between those who approve, reject, withdraw and wait, whichever version of the service they use.
CREATE FUNCTION proposal_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
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
  -- A version that knows nothing of ends only notes what was made.
  IF NEW.resource_id IS NOT NULL AND NEW.ended IS NULL THEN
    NEW.ended := 'done';
    NEW.ended_by := NEW.approved_by;
    NEW.ended_at := clock_timestamp();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER proposals_end_once BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION proposal_ends_once();

-- What was proposed never changes, and neither does its time.
CREATE TRIGGER proposals_order_stays BEFORE UPDATE OF id, action, details, proposed_by, proposed_at, expires_at ON proposals
  FOR EACH ROW EXECUTE FUNCTION order_stays();
