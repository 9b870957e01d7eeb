-- additive
-- Which value of the key was used: after a rotation people want to know whether anybody still calls with the old one.
ALTER TABLE requests ADD COLUMN key_last_four text;

-- People look for what went wrong: that leads to its rows along an index. What was refused is the smaller part, so these stay
-- small. A route is looked for among the newest, some thousand at a time: an index of it would be written with every call.
CREATE INDEX requests_refused ON requests (partner_id, created_at DESC, id DESC) WHERE error_code IS NOT NULL;
CREATE INDEX requests_by_error ON requests (partner_id, error_code, created_at DESC, id DESC) WHERE error_code IS NOT NULL;
