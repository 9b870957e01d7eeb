-- additive
-- The log of requests is written with every call, so an entry in an index is worth its while or goes. What went well is
-- nearly everything: it is found by walking the list, and only refusals have an index by status. A key is one partner's, so
-- an index by key needs no partner before it.
CREATE INDEX requests_of_key ON requests (api_key_id, created_at DESC, id DESC);
CREATE INDEX requests_refused_with ON requests (partner_id, status, created_at DESC, id DESC) WHERE status >= 400;
DROP INDEX requests_by_key;
DROP INDEX requests_by_status;

-- What people did is looked for by what they did, who did it and to what. They are people: a few entries more cost nothing.
CREATE INDEX acts_of_action ON acts (action, seq);
CREATE INDEX acts_of_actor ON acts (actor_email, seq);
CREATE INDEX acts_of_actor_doing ON acts (actor_email, action, seq);
CREATE INDEX acts_about ON acts (object_id, seq DESC) WHERE object_id IS NOT NULL;
