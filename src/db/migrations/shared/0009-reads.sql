-- additive
-- As in each world: what people did is looked for by what they did and who did it.
CREATE INDEX acts_of_action ON acts (action, seq);
CREATE INDEX acts_of_actor ON acts (actor_email, seq);
CREATE INDEX acts_of_actor_doing ON acts (actor_email, action, seq);
