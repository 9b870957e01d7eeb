-- additive
-- What people are told: in the console, and by e-mail where SMTP_URL is set (decision 0046). The service reads what the other tables
-- store, and writes these rows afterwards: no other transaction waits for them.

-- One line of what a person is told. Further sightings of the same kind are added to the line until it is read or mailed.
CREATE TABLE notifications (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  kind text NOT NULL,
  -- production, sandbox, or empty when neither plays a part.
  place text NOT NULL,
  -- Divides the lines of one kind: the kind of an exception, the name of a limit, or empty.
  topic text NOT NULL,
  count integer NOT NULL DEFAULT 1 CHECK (count > 0),
  -- The first objects of the line: ids, the last four characters of a key, network addresses. Never a text that a person typed.
  samples jsonb NOT NULL,
  -- When the first and the last of it happened.
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  read_at timestamptz(3),
  -- none: the person does not want this kind by mail, or it was too old when mail was set up. taken: in the mail mail_id.
  mail text NOT NULL DEFAULT 'waiting' CHECK (mail IN ('waiting', 'none', 'taken')),
  mail_id text,
  CHECK ((mail = 'taken') = (mail_id IS NOT NULL))
);
CREATE UNIQUE INDEX notifications_growing ON notifications (user_id, kind, place, topic) WHERE mail = 'waiting' AND read_at IS NULL;
CREATE INDEX notifications_newest ON notifications (user_id, last_at DESC, id DESC);
CREATE INDEX notifications_waiting ON notifications (user_id, created_at) WHERE mail = 'waiting';
CREATE INDEX notifications_of_mail ON notifications (mail_id) WHERE mail_id IS NOT NULL;
CREATE INDEX notifications_last ON notifications (last_at);

-- Mails to one person each. The Message-ID is made from the id. Due at next_attempt_at, which is also the end of a sender's lease;
-- attempts is the fencing token.
CREATE TABLE mails (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users,
  -- confirmation: asks whether the address belongs to the person.
  kind text NOT NULL CHECK (kind IN ('digest', 'confirmation')),
  status text NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'sent', 'given_up', 'canceled')),
  attempts integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz(3),
  -- What the server said last, without addresses and credentials.
  error text,
  CHECK ((status = 'waiting') = (ended_at IS NULL))
);
-- While a mail waits, whatever else the person is to be told waits for the next mail.
CREATE UNIQUE INDEX mails_waiting ON mails (user_id) WHERE status = 'waiting';
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE status = 'waiting';
CREATE INDEX mails_newest ON mails (user_id, created_at DESC, id DESC);
CREATE INDEX mails_created ON mails (created_at);
CREATE INDEX mails_ended ON mails (status, ended_at) WHERE status <> 'waiting';

-- Kinds that a person turned on or off. Kinds without a row have their default. What happened before changed_at is still mailed:
-- whoever steals a session cannot silence the mail about it.
CREATE TABLE notification_settings (
  user_id text NOT NULL REFERENCES users,
  kind text NOT NULL,
  mail boolean NOT NULL,
  changed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, kind)
);

-- Addresses whose owner has followed the link of a confirmation. People of partners get no digest before.
CREATE TABLE mail_addresses (
  user_id text PRIMARY KEY REFERENCES users,
  email text NOT NULL,
  confirmed_at timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);

-- How far each log was read.
CREATE TABLE notification_positions (
  source text PRIMARY KEY,
  position bigint NOT NULL
);

-- What was told already, of states that stay: an endpoint that fails, a key that expires, a limit that is nearly used up.
CREATE TABLE notification_sightings (
  source text NOT NULL,
  subject text NOT NULL,
  seen_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (source, subject)
);
CREATE INDEX notification_sightings_seen ON notification_sightings (seen_at);

-- Whether mail works. One row, written by nodes that have SMTP_URL.
CREATE TABLE mail_state (
  id smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  -- When a node with SMTP_URL last looked for mail to send.
  looked_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz(3),
  failed_at timestamptz(3),
  error text
);
