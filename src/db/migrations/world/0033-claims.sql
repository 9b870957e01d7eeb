-- additive
-- A claim is written when it is made, whole, and once more when what it made has come to its end (decision 0075). The
-- second time changes no indexed column and finds room in the same page: half of each page is left for it.
ALTER TABLE claims SET (fillfactor = 50);

-- Which event of what was made has the answer, to the byte. Null: the answer is in answer_body, or there is none yet.
ALTER TABLE claims ADD COLUMN answer_sequence integer;

-- Takes the place of claims_over, which a claim entered when it became final. On a very large table, make it beforehand
-- with CREATE INDEX CONCURRENTLY, under the same name. References of operators are never free, and not in it.
CREATE INDEX IF NOT EXISTS claims_expire ON claims (expires_at) WHERE expires_at IS NOT NULL;
DROP INDEX claims_over;
