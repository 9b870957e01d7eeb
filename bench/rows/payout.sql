-- A payout that completes, in two transactions, statement by statement. Positions are taken without holding the log, which
-- would make the clients wait for each other.
\set n random(1, :customers)
BEGIN;
SELECT id AS api_key, partner_id AS partner, gen_random_uuid()::text AS key, new_id('po') AS id, 'cus_' || lpad((:n)::text, 26, '0') AS customer, clock_timestamp()::timestamptz(3) AS at FROM api_keys WHERE partner_id = 'ptn_yardstick' LIMIT 1 \gset
SELECT fingerprint, final FROM claims WHERE scope = 'key_yardstick' AND operation = 'pix.payout' AND key = (:key)::text FOR UPDATE;
SELECT document, status FROM customers WHERE id = (:customer)::text;
SELECT balance AS balance, seq AS seq FROM balances WHERE customer_id = (:customer)::text AND asset = 'BRL' FOR NO KEY UPDATE \gset
INSERT INTO payouts (id, partner_id, customer_id, api_key_id, idempotency_key, amount, fee, status, counterparty, send_id, attempts, next_attempt_at, sequence, created_at) VALUES ((:id)::text, (:partner)::text, (:customer)::text, (:api_key)::text, (:key)::text, 100, 0, 'processing', '{"type":"pix_key","name":"Customer","document":"52998224725","pix_key":"ana@example.com"}', 'TRILHO' || substr((:id)::text, 4), 1, now() + interval '1 hour', 2, (:at)::timestamptz);
INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, seq, balance_after, created_at) VALUES ((:id)::text, 'accepted', 0, (:partner)::text, 'customer', (:customer)::text, 'BRL', -100, (:seq)::bigint + 1, (:balance)::bigint - 100, (:at)::timestamptz), ((:id)::text, 'accepted', 1, (:partner)::text, 'in_transit' || chr(58) || 'pix', (:customer)::text, 'BRL', 100, NULL, NULL, (:at)::timestamptz);
UPDATE balances SET balance = balance - 100, in_transit = in_transit + 100, seq = seq + 1 WHERE customer_id = (:customer)::text AND asset = 'BRL';
INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position) VALUES (new_id('evt'), (:partner)::text, 'pix.payout.created', (:id)::text, 1, ('{"id":"' || (:id)::text || '","customer_id":"' || (:customer)::text || '","direction":"outbound","amount":"100","fee":"0","decimals": 2,"status":"pending","counterparty":{"name":"Customer","document":"***.982.247-**","pix_key":"ana@example.com"},"end_to_end_id": null,"failure": null,"idempotency_key":"' || (:key)::text || '","created_at":"' || (:at)::text || '"}')::json, (:at)::timestamptz, nextval('event_log'));
INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position) VALUES (new_id('evt'), (:partner)::text, 'pix.payout.processing', (:id)::text, 2, ('{"id":"' || (:id)::text || '","customer_id":"' || (:customer)::text || '","direction":"outbound","amount":"100","fee":"0","decimals": 2,"status":"processing","counterparty":{"name":"Customer","document":"***.982.247-**","pix_key":"ana@example.com"},"end_to_end_id": null,"failure": null,"idempotency_key":"' || (:key)::text || '","created_at":"' || (:at)::text || '"}')::json, (:at)::timestamptz, nextval('event_log'));
INSERT INTO claims (scope, operation, key, fingerprint, resource_id, expires_at) VALUES ('key_yardstick', 'pix.payout', (:key)::text, 'x', (:id)::text, (:at)::timestamptz + interval '24 hours');
COMMIT;
BEGIN;
SELECT clock_timestamp()::timestamptz(3) AS ended \gset
SELECT * FROM payouts WHERE id = (:id)::text FOR NO KEY UPDATE;
SELECT resource_id FROM claims WHERE scope = 'key_yardstick' AND operation = 'pix.payout' AND key = (:key)::text AND answer_status IS NOT NULL;
SELECT balance, seq FROM balances WHERE customer_id = (:customer)::text AND asset = 'BRL' FOR NO KEY UPDATE;
UPDATE payouts SET status = 'completed', end_to_end_id = (:key)::text, sequence = 3, completed_at = (:ended)::timestamptz WHERE id = (:id)::text;
INSERT INTO entries (cause_id, movement, line, partner_id, account, owner, asset, amount, created_at) VALUES ((:id)::text, 'completed', 0, (:partner)::text, 'in_transit' || chr(58) || 'pix', (:customer)::text, 'BRL', -100, (:ended)::timestamptz), ((:id)::text, 'completed', 1, (:partner)::text, 'external' || chr(58) || 'pix', '', 'BRL', 100, (:ended)::timestamptz);
UPDATE balances SET in_transit = in_transit - 100 WHERE customer_id = (:customer)::text AND asset = 'BRL';
INSERT INTO events (id, partner_id, type, object_id, sequence, data, created_at, position) VALUES (new_id('evt'), (:partner)::text, 'pix.payout.completed', (:id)::text, 3, ('{"id":"' || (:id)::text || '","customer_id":"' || (:customer)::text || '","direction":"outbound","amount":"100","fee":"0","decimals": 2,"status":"completed","counterparty":{"name":"Customer","document":"***.982.247-**","pix_key":"ana@example.com"},"end_to_end_id":"' || (:key)::text || '","failure": null,"idempotency_key":"' || (:key)::text || '","created_at":"' || (:at)::text || '","completed_at":"' || (:ended)::text || '"}')::json, (:ended)::timestamptz, nextval('event_log'));
COMMIT;
