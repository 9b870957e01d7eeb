-- additive

-- Filters of a list of the console that a person saved under a name. The environment is empty for a list of no environment.
CREATE TABLE saved_views (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  environment text NOT NULL CHECK (environment IN ('production', 'sandbox', '')),
  page text NOT NULL,
  name text NOT NULL,
  -- The query of the page's address, as JSON.
  filters text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT saved_views_name UNIQUE (user_id, environment, page, name)
);
