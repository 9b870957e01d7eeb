-- additive
-- What operators allow on each rail: whether it is paused, and how much may leave on it. A rail without a row has no limits.
CREATE TABLE rail_controls (
  -- pix, or the name of a network.
  rail text PRIMARY KEY,
  paused_at timestamptz(3),
  -- The e-mail of an operator, shell, or service.
  paused_by text,
  paused_reason text,
  -- The most of one order, and of all orders of a day (UTC) together, in smallest units and without fees.
  order_most bigint CHECK (order_most >= 0),
  day_most bigint CHECK (day_most >= 0),
  -- What must stay on the rail's account or wallet: of the asset, and of the coin that pays the network (in wei).
  floor bigint CHECK (floor >= 0),
  gas_floor numeric(78, 0) CHECK (gas_floor >= 0),
  CONSTRAINT rail_controls_pause CHECK ((paused_at IS NULL) = (paused_by IS NULL) AND (paused_at IS NULL) = (paused_reason IS NULL))
);

-- Every change of a row above, as it was before and after.
CREATE TABLE rail_changes (
  id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  rail text NOT NULL,
  changed_at timestamptz(3) NOT NULL,
  changed_by text NOT NULL,
  before json NOT NULL,
  after json NOT NULL,
  reason text NOT NULL,
  -- Of a resume that two operators decided.
  proposal_id text
);
CREATE INDEX rail_changes_of_rail ON rail_changes (rail, id);
CREATE UNIQUE INDEX rail_changes_proposal ON rail_changes (proposal_id) WHERE proposal_id IS NOT NULL;
