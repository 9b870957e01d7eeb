-- additive
-- A proposal about a payout or transfer that has another end by the time it is approved, or the same end under another id or
-- hash, ends as superseded: nothing was approved, and an exception tells of it.
ALTER TABLE proposals
  DROP CONSTRAINT proposals_ended_check,
  ADD CONSTRAINT proposals_ended_check CHECK (ended IN ('done', 'rejected', 'withdrawn', 'expired', 'superseded')),
  DROP CONSTRAINT proposals_end_fits,
  ADD CONSTRAINT proposals_end_fits CHECK (CASE ended
    WHEN 'done' THEN resource_id IS NOT NULL AND approved_by IS NOT NULL AND ended_at IS NOT NULL
    WHEN 'rejected' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
    WHEN 'withdrawn' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by = proposed_by
    WHEN 'expired' THEN resource_id IS NULL AND approved_by IS NULL AND ended_by IS NULL
      AND ended_at IS NOT NULL AND ended_at >= expires_at
    WHEN 'superseded' THEN resource_id IS NULL AND approved_by IS NULL AND ended_at IS NOT NULL
      AND ended_by IS NOT NULL AND ended_by <> proposed_by AND ended_reason IS NOT NULL
      AND action IN ('resolve_payout', 'resolve_transfer')
    ELSE resource_id IS NULL AND ended_by IS NULL AND ended_reason IS NULL AND ended_at IS NULL END);
