-- additive
-- Which key a secret is sealed under. NULL: it was sealed by a version that did not say. The sealed value itself keeps its
-- form, so that nodes of the version before can read what newer ones seal.
ALTER TABLE webhook_endpoints ADD COLUMN secret_key_id text;
ALTER TABLE webhook_endpoints ADD COLUMN previous_secret_key_id text;
