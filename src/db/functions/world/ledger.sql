-- Double entry, held by the database itself: whatever writes a movement, its lines sum to zero per asset.
CREATE OR REPLACE FUNCTION entries_sum_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM added GROUP BY cause_id, movement, asset HAVING sum(amount) <> 0) THEN
    RAISE EXCEPTION 'the lines of a movement do not sum to zero';
  END IF;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER entries_sum_to_zero AFTER INSERT ON entries REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION entries_sum_to_zero();

-- Called with the number of rows that a statement changed: COMMIT is already on the wire, so SQL itself must object.
CREATE OR REPLACE FUNCTION expect_rows(what text, changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> expected THEN
    RAISE EXCEPTION 'expected % rows of %, found %', expected, what, changed;
  END IF;
END $$;

-- The same for names that are inserted once: the error code makes the batch run again.
CREATE OR REPLACE FUNCTION expect_first(what text, changed bigint, expected bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> expected THEN
    RAISE EXCEPTION 'another transaction inserted % of % rows of % first', expected - changed, expected, what USING ERRCODE = 'serialization_failure';
  END IF;
END $$;
