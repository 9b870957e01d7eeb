-- A deposit, in one transaction, statement by statement.
\set n random(1, :customers)
BEGIN;
SELECT id AS api_key, partner_id AS partner, new_id('dep') AS id, 'cus_' || lpad((:n)::text, 26, '0') AS customer, clock_timestamp()::timestamptz(3) AS at FROM api_keys WHERE partner_id = 'ptn_yardstick' LIMIT 1 \gset
SELECT status FROM customers WHERE id = (:customer)::text;
SELECT balance AS balance, seq AS seq FROM balances WHERE customer_id = (:customer)::text AND asset = 'BRL' FOR NO KEY UPDATE \gset
INSERT INTO deposits (id, partner_id, customer_id, asset, amount, rail, created_at) VALUES ((:id)::text, (:partner)::text, (:customer)::text, 'BRL', 100, 'sandbox', (:at)::timestamptz);
INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at) VALUES ((:id)::text, 'credited', 0, (:partner)::text, 'external' || chr(58) || 'sandbox', '', 'BRL', -100, NULL, NULL, (:at)::timestamptz), ((:id)::text, 'credited', 1, (:partner)::text, 'customer', (:customer)::text, 'BRL', 100, (:seq)::bigint + 1, (:balance)::bigint + 100, (:at)::timestamptz);
UPDATE balances SET balance = balance + 100, seq = seq + 1 WHERE customer_id = (:customer)::text AND asset = 'BRL';
INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position) VALUES (new_id('evt'), (:partner)::text, 'deposit.completed', (:id)::text, 1, ('{"id":"' || (:id)::text || '","customer_id":"' || (:customer)::text || '","asset":"BRL","amount":"100","decimals": 2,"status":"completed","created_at":"' || (:at)::text || '"}')::json, (:at)::timestamptz, nextval('event_log'));
COMMIT;
