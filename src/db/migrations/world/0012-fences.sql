-- additive
-- Nothing that was signed fails on anybody's word but the chain's, and the chain speaks of what was broadcast. So what is
-- pending fails only while nothing was signed; whatever was signed passes through processing first.
CREATE FUNCTION signed_is_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% was signed: it cannot fail before the chain says so', OLD.id;
END $$;
CREATE TRIGGER transfers_signed_is_out BEFORE UPDATE OF status ON transfers
  FOR EACH ROW WHEN (OLD.status = 'pending' AND NEW.status = 'failed' AND (OLD.tx_hash IS NOT NULL OR NEW.tx_hash IS NOT NULL))
  EXECUTE FUNCTION signed_is_out();

-- What an open proposal speaks of. While it is held, workers ask about it and may settle it by what the rail says, but
-- send, sign and broadcast nothing.
CREATE TABLE holds (
  resource_id text PRIMARY KEY,
  proposal_id text NOT NULL,
  since timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX holds_of_proposal ON holds (proposal_id);

-- Said before a payout is sent again: who has it at its try number `attempt` may be sending it until then. The first send
-- needs no row: the payout itself says so.
CREATE TABLE sends (
  resource_id text NOT NULL,
  attempt integer NOT NULL,
  sent_at timestamptz(3) NOT NULL,
  until timestamptz(3) NOT NULL,
  PRIMARY KEY (resource_id, attempt)
);

-- What an operator established, and how. Never changes.
CREATE TABLE resolutions (
  resource_id text PRIMARY KEY,
  outcome text NOT NULL CHECK (outcome IN ('completed', 'confirmed', 'failed')),
  evidence text NOT NULL,
  -- Null in the sandbox, where nothing is proposed.
  proposal_id text,
  resolved_by text NOT NULL,
  resolved_at timestamptz(3) NOT NULL
);

-- The rail is asked some more about what an operator decided. Null: no more questions.
CREATE TABLE follow_ups (
  resource_id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('payout', 'transfer')),
  asked integer NOT NULL,
  ask_at timestamptz(3)
);
CREATE INDEX follow_ups_due ON follow_ups (kind, ask_at) WHERE ask_at IS NOT NULL;

-- Work is taken in turns between partners, and what nobody has looked at yet does not wait behind what is only followed.
CREATE INDEX payouts_left ON payouts (partner_id, next_attempt_at) WHERE status IN ('pending', 'processing') AND attempts <= 1;
CREATE INDEX payouts_asked ON payouts (partner_id, next_attempt_at) WHERE status IN ('pending', 'processing') AND attempts > 1;
CREATE INDEX transfers_new ON transfers (partner_id, next_attempt_at) WHERE status = 'pending';
CREATE INDEX transfers_followed ON transfers (partner_id, next_attempt_at) WHERE status = 'processing';

CREATE INDEX exceptions_of_object ON exceptions (object_id, kind);
