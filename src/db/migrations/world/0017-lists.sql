-- additive
-- Every filter of a list has an index that leads to its rows in the list's own order, so that no page walks over what it
-- does not show. What is settled a thousand times a second gets as few entries as possible: columns that never change,
-- rare states only, and never `status` where another column says the same and stays as it is when a payout completes.

-- A name is used again after a day, and by other keys of the partner.
CREATE INDEX payouts_idempotency_key ON payouts (partner_id, idempotency_key, created_at DESC, id DESC);
CREATE INDEX payouts_pending ON payouts (partner_id, created_at DESC, id DESC) WHERE status = 'pending';
CREATE INDEX payouts_processing ON payouts (partner_id, created_at DESC, id DESC) WHERE status = 'processing';
-- A payout that failed is one that has a failure.
CREATE INDEX payouts_failed ON payouts (partner_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
CREATE INDEX payouts_failed_of_customer ON payouts (customer_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;

CREATE INDEX transfers_idempotency_key ON transfers (partner_id, idempotency_key, created_at DESC, id DESC);
CREATE INDEX transfers_pending ON transfers (partner_id, created_at DESC, id DESC) WHERE status = 'pending';
CREATE INDEX transfers_processing ON transfers (partner_id, created_at DESC, id DESC) WHERE status = 'processing';
CREATE INDEX transfers_failed ON transfers (partner_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
CREATE INDEX transfers_failed_of_customer ON transfers (customer_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;
-- A network carries one asset, so an asset is a few networks.
CREATE INDEX transfers_of_network ON transfers (partner_id, network, created_at DESC, id DESC);

-- One asset alone is two pairs.
CREATE INDEX quotes_of_pair ON quotes (partner_id, from_asset, to_asset, created_at DESC, id DESC);
CREATE INDEX quotes_executed ON quotes (partner_id, created_at DESC, id DESC) WHERE trade_id IS NOT NULL;
CREATE INDEX trades_of_pair ON trades (partner_id, from_asset, to_asset, created_at DESC, id DESC);
CREATE INDEX trades_failed ON trades (partner_id, created_at DESC, id DESC) WHERE failure_code IS NOT NULL;

CREATE INDEX customers_of_status ON customers (partner_id, status, created_at DESC, id DESC);

-- All deposits are those of the three assets.
CREATE INDEX deposits_of_partner ON deposits (partner_id, asset, created_at DESC, id DESC);
CREATE INDEX deposits_of_customer ON deposits (customer_id, asset, created_at DESC, id DESC);
CREATE INDEX fee_payouts_newest ON fee_payouts (partner_id, created_at DESC, id DESC);

-- The three kinds that every payout tells are most of the log anyway.
CREATE INDEX event_positions_of_type ON event_positions (partner_id, type, position)
  WHERE type NOT IN ('pix.payout.created', 'pix.payout.processing', 'pix.payout.completed');

CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC) WHERE status = 'pending';
CREATE INDEX webhook_deliveries_exhausted ON webhook_deliveries (endpoint_id, created_at DESC, event_id DESC) WHERE status = 'exhausted';
