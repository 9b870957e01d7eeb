-- additive
-- Whose mark it is: null for the batch itself, otherwise the question of a node that lost the answer to COMMIT. A question
-- that was asked twice meets its own mark, which must not be taken for the batch's.
ALTER TABLE commits ADD COLUMN asked_by text;
