-- additive
-- How much money may leave a customer, by the operator's word. A partner's figures are the default of its customers; a
-- customer's own figure replaces the partner's one by one. Null: none here. In the smallest unit, net of fees.
CREATE TABLE money_limits (
  -- A partner or a customer.
  subject_id text PRIMARY KEY,
  payout_order bigint CHECK (payout_order >= 0),
  payout_day bigint CHECK (payout_day >= 0),
  -- From 20:00 to 06:00 in São Paulo.
  payout_night bigint CHECK (payout_night >= 0),
  transfer_order_usdt bigint CHECK (transfer_order_usdt >= 0),
  transfer_order_btc bigint CHECK (transfer_order_btc >= 0),
  transfer_day_usdt bigint CHECK (transfer_day_usdt >= 0),
  transfer_day_btc bigint CHECK (transfer_day_btc >= 0),
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
