-- What one operator proposes and another one must approve before it happens.
CREATE TABLE proposals (
  id text PRIMARY KEY,
  action text NOT NULL CHECK (action IN ('credit', 'resolve_payout', 'resolve_transfer')),
  details json NOT NULL,
  proposed_by text NOT NULL,
  proposed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  approved_by text,
  approved_at timestamptz(3),
  resource_id text,
  CONSTRAINT four_eyes CHECK (approved_by <> proposed_by)
);
