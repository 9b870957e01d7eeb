-- additive
-- An HMAC over what the customer asked for, made when the transfer is accepted. The signer checks it, so that whoever can write
-- to the database cannot have another address or amount paid.
ALTER TABLE transfers ADD COLUMN seal text;
-- When two operators asked for a transaction that spends the nonce without paying.
ALTER TABLE transfers ADD COLUMN cancel_requested_at timestamptz(3);

ALTER TABLE proposals DROP CONSTRAINT proposals_action_check;
ALTER TABLE proposals ADD CONSTRAINT proposals_action_check CHECK (action IN ('credit', 'debit', 'reverse_credit', 'resolve_payout',
  'resolve_transfer', 'cancel_transfer', 'pay_fees', 'move_custody', 'resume_rail'));
ALTER TABLE proposals DROP CONSTRAINT proposals_end_fits;
ALTER TABLE proposals ADD CONSTRAINT proposals_end_fits CHECK (CASE ended
  WHEN 'done' THEN resource_id IS NOT NULL AND approved_by IS NOT NULL AND ended_at IS NOT NULL
  WHEN 'rejected' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
    AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
  WHEN 'withdrawn' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
    AND ended_by IS NOT NULL AND ended_by = proposed_by
  WHEN 'expired' THEN resource_id IS NULL AND approved_by IS NULL AND ended_by IS NULL
    AND ended_at IS NOT NULL AND ended_at >= expires_at
  WHEN 'superseded' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
    AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
    AND action IN ('resolve_payout', 'resolve_transfer', 'cancel_transfer')
  ELSE resource_id IS NULL AND ended_by IS NULL AND ended_reason IS NULL AND ended_at IS NULL END);
