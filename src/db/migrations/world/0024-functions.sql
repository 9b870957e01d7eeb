-- additive
-- Which edition of the functions and triggers this schema has (see src/db/functions). One row, written by whoever states
-- them.
CREATE TABLE functions (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  edition integer NOT NULL,
  -- Of the files that were stated.
  digest text NOT NULL,
  -- Of what the database made of them: changed by hand, it is another.
  found text NOT NULL,
  stated_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
