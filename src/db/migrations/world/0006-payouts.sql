CREATE TABLE payouts (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  idempotency_key text NOT NULL,
  amount bigint NOT NULL CHECK (amount > 0),
  fee bigint NOT NULL CHECK (fee >= 0),
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  counterparty json NOT NULL,
  description text,
  -- Fixed before anything is sent: guards against a second payment, and is what the rail is asked by.
  send_id text NOT NULL UNIQUE,
  end_to_end_id text,
  failure_code text,
  rail_code text,
  attempts integer NOT NULL,
  -- Until then somebody is at work on it; after that it is due.
  next_attempt_at timestamptz(3) NOT NULL,
  -- Counts its events.
  sequence integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  CHECK ((status = 'completed') = (end_to_end_id IS NOT NULL)),
  CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CHECK ((status IN ('completed', 'failed')) = (completed_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX payouts_newest ON payouts (partner_id, created_at DESC, id DESC);
CREATE INDEX payouts_of_customer ON payouts (customer_id, created_at DESC, id DESC);
CREATE INDEX payouts_due ON payouts (next_attempt_at) WHERE status IN ('pending', 'processing');

-- A state only moves forward, and a final one never moves.
CREATE FUNCTION forward_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.status, NEW.status) NOT IN (('pending', 'processing'), ('pending', 'failed'), ('processing', TG_ARGV[0]), ('processing', 'failed')) THEN
    RAISE EXCEPTION 'illegal transition of %: % to %', OLD.id, OLD.status, NEW.status;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER payouts_forward_only BEFORE UPDATE OF status ON payouts
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION forward_only('completed');

-- What was ordered never changes.
CREATE FUNCTION order_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % orders never changes', OLD.id;
END $$;
CREATE TRIGGER payouts_order_stays BEFORE UPDATE OF partner_id, customer_id, amount, fee, counterparty, send_id ON payouts
  FOR EACH ROW EXECUTE FUNCTION order_stays();

-- Payouts to other documents than the customer's, by arrangement with the operator.
ALTER TABLE customers ADD COLUMN third_party_payouts boolean NOT NULL DEFAULT false;
