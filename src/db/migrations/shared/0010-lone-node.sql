-- additive: nodes of the version before count on without looking at it.

-- The node that counts requests in its memory. The mark stays when the node loses its lock, until it has saved its counts.
CREATE TABLE lone_node (
  id integer PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  node text NOT NULL
);
