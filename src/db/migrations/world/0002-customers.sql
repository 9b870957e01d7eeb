CREATE TABLE customers (
  id text PRIMARY KEY,
  partner_id text NOT NULL,
  name text NOT NULL,
  document text NOT NULL,
  document_type text NOT NULL CHECK (document_type IN ('cpf', 'cnpj')),
  email text,
  external_id text,
  metadata json NOT NULL DEFAULT '{}',
  status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'blocked')),
  created_at timestamptz(3) NOT NULL,
  CONSTRAINT customers_document UNIQUE (partner_id, document),
  CONSTRAINT customers_external_id UNIQUE (partner_id, external_id)
);
CREATE INDEX customers_newest ON customers (partner_id, created_at DESC, id DESC);
