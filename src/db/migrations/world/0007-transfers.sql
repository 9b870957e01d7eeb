CREATE TABLE transfers (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  customer_id text NOT NULL,
  api_key_id text NOT NULL,
  idempotency_key text NOT NULL,
  asset text NOT NULL CHECK (asset IN ('USDT', 'BTC')),
  network text NOT NULL,
  amount_net bigint NOT NULL CHECK (amount_net > 0),
  fee bigint NOT NULL CHECK (fee >= 0),
  status text NOT NULL CHECK (status IN ('pending', 'processing', 'confirmed', 'failed')),
  destination_address text NOT NULL,
  -- Signed once and stored before it is broadcast; the same bytes are sent however often it takes.
  tx_hash text,
  signed_transaction text,
  failure_code text,
  rail_code text,
  attempts integer NOT NULL,
  next_attempt_at timestamptz(3) NOT NULL,
  sequence integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  CHECK ((tx_hash IS NULL) = (signed_transaction IS NULL)),
  CHECK (status IN ('pending', 'failed') OR tx_hash IS NOT NULL),
  CHECK ((status = 'failed') = (failure_code IS NOT NULL)),
  CHECK ((status IN ('confirmed', 'failed')) = (completed_at IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX transfers_newest ON transfers (partner_id, created_at DESC, id DESC);
CREATE INDEX transfers_of_customer ON transfers (customer_id, created_at DESC, id DESC);
CREATE INDEX transfers_due ON transfers (next_attempt_at) WHERE status IN ('pending', 'processing');

CREATE TRIGGER transfers_forward_only BEFORE UPDATE OF status ON transfers
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION forward_only('confirmed');
CREATE TRIGGER transfers_order_stays BEFORE UPDATE OF partner_id, customer_id, asset, network, amount_net, fee, destination_address ON transfers
  FOR EACH ROW EXECUTE FUNCTION order_stays();

-- A signed transaction is never replaced by another one.
CREATE TRIGGER transfers_signed_once BEFORE UPDATE OF tx_hash, signed_transaction ON transfers
  FOR EACH ROW WHEN (OLD.tx_hash IS NOT NULL AND (OLD.tx_hash, OLD.signed_transaction) IS DISTINCT FROM (NEW.tx_hash, NEW.signed_transaction))
  EXECUTE FUNCTION order_stays();
