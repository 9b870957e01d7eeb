-- Whom the scripts pay for: one partner with one key, and customers who can pay for ever.
INSERT INTO api_keys (id, partner_id, name, scopes) VALUES ('key_yardstick', 'ptn_yardstick', 'yardstick', '{}');
INSERT INTO customers (id, partner_id, name, document, document_type, created_at)
SELECT 'cus_' || lpad(n::text, 26, '0'), 'ptn_yardstick', 'Customer ' || n, lpad(n::text, 11, '0'), 'cpf', now()
FROM generate_series(1, {{customers}}) AS n;
INSERT INTO balances (customer_id, asset, partner_id, balance)
SELECT id, asset, partner_id, balance FROM customers, (VALUES ('BRL', 100000000000), ('USDT', 0)) AS account (asset, balance);
ANALYZE;
