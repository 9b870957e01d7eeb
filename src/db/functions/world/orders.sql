-- The final payouts, transfers and charges among these ids, with the sequence number of the event of their end. 0 for a charge: its create
-- response is stored with the claim and never taken from an event.
CREATE OR REPLACE FUNCTION ended_orders(ids text[]) RETURNS TABLE (id text, sequence integer) LANGUAGE sql STABLE AS $$
  SELECT p.id, p.sequence FROM payouts p WHERE p.id = ANY(ids) AND p.completed_at IS NOT NULL
  UNION ALL SELECT t.id, t.sequence FROM transfers t WHERE t.id = ANY(ids) AND t.completed_at IS NOT NULL
  UNION ALL SELECT c.id, 0 FROM pix_charges c WHERE c.id = ANY(ids) AND c.status IN ('paid', 'expired', 'failed')
$$;

-- A status only moves forward, a final status never changes, and what was ordered never changes. The conditions are in the WHEN clauses: a
-- legal update calls no function.
CREATE OR REPLACE FUNCTION forward_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'illegal transition of %: % to %', OLD.id, OLD.status, NEW.status;
END $$;
CREATE OR REPLACE TRIGGER payouts_forward_only BEFORE UPDATE OF status ON payouts
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN
    (('pending', 'processing'), ('pending', 'failed'), ('processing', 'completed'), ('processing', 'failed')))
  EXECUTE FUNCTION forward_only();
CREATE OR REPLACE TRIGGER transfers_forward_only BEFORE UPDATE OF status ON transfers
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN
    (('pending', 'processing'), ('pending', 'failed'), ('processing', 'confirmed'), ('processing', 'failed')))
  EXECUTE FUNCTION forward_only();

CREATE OR REPLACE FUNCTION order_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what % orders never changes', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER payouts_order_stays BEFORE UPDATE OF id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, counterparty,
  description, send_id, request_id, metadata, provider ON payouts
  FOR EACH ROW EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER transfers_order_stays BEFORE UPDATE OF id, partner_id, customer_id, api_key_id, idempotency_key, asset, network,
  amount_net, fee, destination_address, request_id, metadata, seal ON transfers
  FOR EACH ROW EXECUTE FUNCTION order_stays();

-- What a transfer spends is reserved once.
CREATE OR REPLACE TRIGGER transfers_reserved_once BEFORE UPDATE OF wallet_id, nonce ON transfers
  FOR EACH ROW WHEN (OLD.nonce IS NOT NULL AND (OLD.wallet_id, OLD.nonce) IS DISTINCT FROM (NEW.wallet_id, NEW.nonce))
  EXECUTE FUNCTION order_stays();
CREATE OR REPLACE FUNCTION nonces_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a nonce of wallet % is given once', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER wallets_nonces_grow BEFORE UPDATE ON wallets
  FOR EACH ROW WHEN (NEW.next_nonce < OLD.next_nonce OR (OLD.id, OLD.network, OLD.address, OLD.first_nonce, OLD.created_at)
    IS DISTINCT FROM (NEW.id, NEW.network, NEW.address, NEW.first_nonce, NEW.created_at))
  EXECUTE FUNCTION nonces_grow();

-- A signed transaction never changes. The block that it is in is written once, and another one only while the transfer is watched:
-- until the network has finalized the block, it may vanish, and the transaction is mined again, or a cancel in its place.
CREATE OR REPLACE FUNCTION transaction_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transaction % of % never changes', OLD.attempt, OLD.transfer_id;
END $$;
CREATE OR REPLACE TRIGGER transactions_stay BEFORE UPDATE OF transfer_id, attempt, network, purpose, tx_hash, signed, terms, created_at ON transactions
  FOR EACH ROW EXECUTE FUNCTION transaction_stays();
CREATE OR REPLACE FUNCTION block_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.block_hash IS NOT NULL OR EXISTS (SELECT FROM transactions x WHERE x.transfer_id = OLD.transfer_id
      AND x.attempt <> OLD.attempt AND 'cancel' IN (x.purpose, OLD.purpose))) AND EXISTS (SELECT FROM follow_ups f JOIN transfers t ON t.id = f.resource_id
      WHERE f.resource_id = OLD.transfer_id AND f.ask_at IS NOT NULL AND t.completed_at IS NOT NULL) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'transaction % of % never changes: its block is final', OLD.attempt, OLD.transfer_id;
END $$;
CREATE OR REPLACE TRIGGER transactions_mined_once BEFORE UPDATE OF block_height, block_hash ON transactions
  FOR EACH ROW WHEN (OLD.block_hash IS NOT NULL AND (OLD.block_height, OLD.block_hash) IS DISTINCT FROM (NEW.block_height, NEW.block_hash))
  EXECUTE FUNCTION block_stays();

-- What a transaction cost is told once, with its block.
CREATE OR REPLACE TRIGGER transactions_gas_once BEFORE UPDATE OF gas_paid_wei ON transactions
  FOR EACH ROW WHEN (OLD.block_hash = NEW.block_hash AND OLD.gas_paid_wei IS DISTINCT FROM NEW.gas_paid_wei)
  EXECUTE FUNCTION transaction_stays();

-- tx_hash must be that of one of the transfer's own payments. An AFTER trigger, because the same statement may insert the transaction.
CREATE OR REPLACE FUNCTION own_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM transactions x WHERE x.transfer_id = NEW.id AND x.tx_hash = NEW.tx_hash AND x.signed = NEW.signed_transaction
      AND x.purpose = 'pay') THEN
    RETURN NULL;
  END IF;
  RAISE EXCEPTION '% has no such transaction', NEW.id;
END $$;
CREATE OR REPLACE TRIGGER transfers_own_transaction AFTER UPDATE OF tx_hash, signed_transaction ON transfers
  FOR EACH ROW WHEN ((OLD.tx_hash, OLD.signed_transaction) IS DISTINCT FROM (NEW.tx_hash, NEW.signed_transaction))
  EXECUTE FUNCTION own_transaction();

-- Two operators cancel a transfer once, and from its first cancel on nothing is signed that pays.
CREATE OR REPLACE TRIGGER transfers_canceled_once BEFORE UPDATE OF cancel_requested_at ON transfers
  FOR EACH ROW WHEN (OLD.cancel_requested_at IS NOT NULL AND OLD.cancel_requested_at IS DISTINCT FROM NEW.cancel_requested_at)
  EXECUTE FUNCTION order_stays();
CREATE OR REPLACE FUNCTION canceled_is_not_paid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM transactions x WHERE x.transfer_id = NEW.transfer_id AND x.purpose = 'cancel') THEN
    RAISE EXCEPTION '% is being canceled: no other payment may be signed for it', NEW.transfer_id;
  END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER transactions_canceled BEFORE INSERT ON transactions
  FOR EACH ROW WHEN (NEW.purpose = 'pay' AND NEW.attempt > 1) EXECUTE FUNCTION canceled_is_not_paid();

-- The network's charge is written once.
CREATE OR REPLACE TRIGGER transfers_charged_once BEFORE UPDATE OF charged, charged_at ON transfers
  FOR EACH ROW WHEN (OLD.charged IS NOT NULL AND (OLD.charged, OLD.charged_at) IS DISTINCT FROM (NEW.charged, NEW.charged_at))
  EXECUTE FUNCTION order_stays();

-- A pending transfer with a nonce fails in two cases only: a cancel was signed and no payment ever was (the audit checks that the cancel is
-- in a block), or it is on Tron, was canceled and has no transaction: there the nonce is a number of the service, and no later transaction
-- waits for it.
CREATE OR REPLACE FUNCTION signed_is_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.tx_hash IS NULL AND NEW.tx_hash IS NULL AND OLD.cancel_requested_at IS NOT NULL AND NEW.failure_code = 'canceled'
      AND EXISTS (SELECT FROM transactions x WHERE x.transfer_id = OLD.id AND x.purpose = 'cancel') THEN
    RETURN NEW;
  END IF;
  IF OLD.network = 'tron' AND OLD.wallet_id <> 'tron:simulated' AND OLD.tx_hash IS NULL AND NEW.tx_hash IS NULL
      AND OLD.cancel_requested_at IS NOT NULL AND NEW.failure_code = 'canceled'
      AND NOT EXISTS (SELECT FROM transactions x WHERE x.transfer_id = OLD.id) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION '% has a nonce or was signed: it cannot fail before the chain says so', OLD.id;
END $$;
CREATE OR REPLACE TRIGGER transfers_signed_is_out BEFORE UPDATE OF status ON transfers
  FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status = 'failed'
    AND (OLD.nonce IS NOT NULL OR NEW.nonce IS NOT NULL OR OLD.tx_hash IS NOT NULL OR NEW.tx_hash IS NOT NULL))
  EXECUTE FUNCTION signed_is_out();

-- What a deposit was seen as never changes. After the credit only next_attempt_at and amount_returned change. A vanished block drops a
-- deposit only before its credit.
CREATE OR REPLACE TRIGGER deposits_order_stays BEFORE UPDATE OF id, partner_id, customer_id, asset, amount, rail, reason, reference, created_at,
  address, tx_hash, output_index, below_minimum, end_to_end_id, charge_id ON deposits
  FOR EACH ROW EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER deposits_forward_only BEFORE UPDATE OF status ON deposits
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status AND (OLD.status, NEW.status) NOT IN
    (('pending', 'completed'), ('pending', 'dropped'), ('dropped', 'pending'), ('dropped', 'completed')))
  EXECUTE FUNCTION forward_only();
CREATE OR REPLACE TRIGGER deposits_credited_stays BEFORE UPDATE OF sequence, completed_at, block_height, block_hash, depth ON deposits
  FOR EACH ROW WHEN (OLD.status = 'completed' AND (OLD.sequence, OLD.completed_at, OLD.block_height, OLD.block_hash, OLD.depth)
    IS DISTINCT FROM (NEW.sequence, NEW.completed_at, NEW.block_height, NEW.block_hash, NEW.depth))
  EXECUTE FUNCTION order_stays();
-- A customer's address is what was handed out: it stays.
CREATE OR REPLACE TRIGGER deposit_addresses_stay BEFORE UPDATE ON deposit_addresses
  FOR EACH ROW EXECUTE FUNCTION order_stays();

-- What was quoted never changes; it is executed once; and its time can only be cut short.
CREATE OR REPLACE TRIGGER quotes_order_stays BEFORE UPDATE OF id, partner_id, customer_id, api_key_id, from_asset, to_asset, side, market_price,
  price_source, from_amount, to_amount, partner_fee, partner_bps, service_fee, service_bps, worth_brl, created_at, request_id, metadata ON quotes
  FOR EACH ROW EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER quotes_executed_once BEFORE UPDATE OF trade_id, expires_at ON quotes
  FOR EACH ROW WHEN (OLD.trade_id IS NOT NULL OR NEW.expires_at > OLD.expires_at) EXECUTE FUNCTION order_stays();

-- What came back of a payout only grows. A return is what the network told, and is booked once.
CREATE OR REPLACE TRIGGER payouts_returned_grows BEFORE UPDATE OF amount_returned ON payouts
  FOR EACH ROW WHEN (NEW.amount_returned < OLD.amount_returned OR (NEW.amount_returned > OLD.amount_returned AND OLD.status <> 'completed'))
  EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER pix_returns_stay BEFORE UPDATE OF id, return_id, payout_id, deposit_id, partner_id, customer_id, amount, created_at ON pix_returns
  FOR EACH ROW EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER pix_returns_booked_once BEFORE UPDATE OF state, sequence, booked_at ON pix_returns
  FOR EACH ROW WHEN (OLD.state = 'booked') EXECUTE FUNCTION order_stays();
CREATE OR REPLACE TRIGGER deposits_returned_grows BEFORE UPDATE OF amount_returned ON deposits
  FOR EACH ROW WHEN (NEW.amount_returned < OLD.amount_returned OR (NEW.amount_returned > OLD.amount_returned AND OLD.rail <> 'pix'))
  EXECUTE FUNCTION order_stays();
