-- What a charge asks for never changes, and its state only moves forward: a payment that comes late may still make it paid.
CREATE OR REPLACE TRIGGER pix_charges_order_stays BEFORE UPDATE OF id, partner_id, customer_id, api_key_id, idempotency_key, amount,
  description, txid, created_at, request_id, metadata ON pix_charges
  FOR EACH ROW EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER pix_charges_forward_only BEFORE UPDATE OF status ON pix_charges
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN
    (('pending', 'open'), ('pending', 'paid'), ('pending', 'failed'), ('open', 'paid'), ('open', 'expired'), ('expired', 'paid')))
  EXECUTE FUNCTION forward_only();
-- The received amount never shrinks, the code that payers have never changes, and the time to pay can only be cut short.
CREATE OR REPLACE TRIGGER pix_charges_received_grows BEFORE UPDATE OF amount_received, br_code, expires_at, opened_at, expired_at, paid_at, failed_at
  ON pix_charges
  FOR EACH ROW WHEN (NEW.amount_received < OLD.amount_received OR NEW.expires_at > OLD.expires_at
    OR (OLD.br_code IS NOT NULL AND NEW.br_code IS DISTINCT FROM OLD.br_code)
    OR (OLD.opened_at IS NOT NULL AND NEW.opened_at IS DISTINCT FROM OLD.opened_at)
    OR (OLD.expired_at IS NOT NULL AND NEW.expired_at IS DISTINCT FROM OLD.expired_at)
    OR (OLD.paid_at IS NOT NULL AND NEW.paid_at IS DISTINCT FROM OLD.paid_at)
    OR (OLD.failed_at IS NOT NULL AND NEW.failed_at IS DISTINCT FROM OLD.failed_at))
  EXECUTE FUNCTION order_stays();

-- What came in never changes, and is credited once.
CREATE OR REPLACE FUNCTION received_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'payment % never changes', OLD.end_to_end_id;
END $$;
CREATE OR REPLACE TRIGGER pix_received_stays BEFORE UPDATE OF end_to_end_id, txid, amount, paid_at, payer_name, payer_document, charge_id, seen_at
  ON pix_received
  FOR EACH ROW EXECUTE FUNCTION received_stays();
CREATE OR REPLACE TRIGGER pix_received_credited_once BEFORE UPDATE OF deposit_id ON pix_received
  FOR EACH ROW WHEN (OLD.deposit_id IS NOT NULL AND NEW.deposit_id IS DISTINCT FROM OLD.deposit_id) EXECUTE FUNCTION received_stays();
