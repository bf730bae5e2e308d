-- +goose Up
CREATE TABLE clients (
  id          TEXT    NOT NULL PRIMARY KEY,
  name        TEXT    NOT NULL,
  kind        TEXT    NOT NULL CHECK (kind IN ('confidential', 'public')),
  legacy      INTEGER NOT NULL CHECK (legacy = 0 OR legacy = 1 AND kind = 'confidential'),
  with_read   INTEGER NOT NULL CHECK (with_read = 0 OR with_read = 1 AND legacy = 1), -- READ is added to what it asks for
  scopes      INTEGER NOT NULL CHECK (scopes > 0), -- the most that it may ask for
  created_at  INTEGER NOT NULL,
  disabled_at INTEGER
) STRICT;
-- The command line is a client of every service, known by the same name everywhere.
INSERT INTO clients (id, name, kind, legacy, with_read, scopes, created_at)
VALUES ('lintelcli', 'Lintel command line', 'public', 0, 0, 31, 0);

CREATE TABLE client_redirect_uris (
  client_id TEXT NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  uri       TEXT NOT NULL,
  PRIMARY KEY (client_id, uri)
) STRICT;

CREATE TABLE client_secrets (
  hash       TEXT    NOT NULL PRIMARY KEY,
  client_id  TEXT    NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX client_secrets_client ON client_secrets (client_id, created_at);

CREATE TABLE grants (
  id           TEXT    NOT NULL PRIMARY KEY,
  person_id    TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  client_id    TEXT    NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  scopes       INTEGER NOT NULL CHECK (scopes > 0),
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  revoked_at   INTEGER,
  revoked_for  TEXT    NOT NULL DEFAULT '' -- why, for the log
) STRICT;
CREATE INDEX grants_person ON grants (person_id, created_at);
CREATE INDEX grants_client ON grants (client_id);

CREATE TABLE authorization_codes (
  hash           TEXT    NOT NULL PRIMARY KEY,
  grant_id       TEXT    NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  redirect_uri   TEXT    NOT NULL, -- empty: the request named none
  code_challenge TEXT    NOT NULL, -- empty: the request had none
  expires_at     INTEGER NOT NULL,
  used_at        INTEGER
) STRICT;
CREATE INDEX authorization_codes_grant ON authorization_codes (grant_id);

CREATE TABLE refresh_tokens (
  hash        TEXT    NOT NULL PRIMARY KEY,
  grant_id    TEXT    NOT NULL REFERENCES grants (id) ON DELETE CASCADE,
  parent_hash TEXT    NOT NULL, -- the token that it was given for; empty for the first
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  spent_at    INTEGER
) STRICT;
CREATE INDEX refresh_tokens_grant ON refresh_tokens (grant_id);
CREATE INDEX refresh_tokens_parent ON refresh_tokens (parent_hash);

ALTER TABLE access_tokens ADD COLUMN grant_id TEXT REFERENCES grants (id) ON DELETE CASCADE;
CREATE INDEX access_tokens_grant ON access_tokens (grant_id);

ALTER TABLE commands ADD COLUMN client_id TEXT NOT NULL DEFAULT ''; -- empty: no app asked

CREATE TABLE device_codes (
  hash           TEXT    NOT NULL PRIMARY KEY,
  user_code_hash TEXT    NOT NULL UNIQUE,
  client_id      TEXT    NOT NULL REFERENCES clients (id) ON DELETE CASCADE,
  scopes         INTEGER NOT NULL CHECK (scopes > 0),
  address        TEXT    NOT NULL, -- where the request came from
  created_at     INTEGER NOT NULL,
  expires_at     INTEGER NOT NULL,
  pause          INTEGER NOT NULL, -- between two polls, in milliseconds
  next_poll_at   INTEGER NOT NULL,
  state          TEXT    NOT NULL CHECK (state IN ('pending', 'approved', 'denied', 'used')),
  grant_id       TEXT    REFERENCES grants (id) ON DELETE CASCADE,
  CHECK ((grant_id IS NOT NULL) = (state IN ('approved', 'used')))
) STRICT;
CREATE INDEX device_codes_client ON device_codes (client_id);
CREATE INDEX device_codes_grant ON device_codes (grant_id);
CREATE INDEX device_codes_expires ON device_codes (expires_at);

CREATE TABLE sessions (
  id               TEXT    NOT NULL PRIMARY KEY,
  hash             TEXT    NOT NULL UNIQUE,
  person_id        TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  method           TEXT    NOT NULL CHECK (method IN ('password', 'passkey', 'recovery', 'setup')),
  user_agent       TEXT    NOT NULL,
  address          TEXT    NOT NULL,
  created_at       INTEGER NOT NULL,
  last_seen_at     INTEGER NOT NULL,
  expires_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX sessions_person ON sessions (person_id, created_at);
CREATE INDEX sessions_expires ON sessions (expires_at);

CREATE TABLE known_browsers (
  hash         TEXT    NOT NULL PRIMARY KEY,
  person_id    TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  expires_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX known_browsers_person ON known_browsers (person_id);
CREATE INDEX known_browsers_expires ON known_browsers (expires_at);

CREATE TABLE passkeys (
  id            TEXT    NOT NULL PRIMARY KEY,
  person_id     TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  credential_id TEXT    NOT NULL UNIQUE,
  credential    TEXT    NOT NULL, -- public key, counter and flags, as JSON
  name          TEXT    NOT NULL,
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER
) STRICT;
CREATE INDEX passkeys_person ON passkeys (person_id, created_at);

CREATE TABLE recovery_codes (
  hash      TEXT    NOT NULL PRIMARY KEY,
  person_id TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX recovery_codes_person ON recovery_codes (person_id);

-- What may be used once by whom it was given to: a consent page's question, a
-- passkey's challenge, the set-up link.
CREATE TABLE tickets (
  hash       TEXT    NOT NULL PRIMARY KEY,
  kind       TEXT    NOT NULL,
  holder     TEXT    NOT NULL,
  content    TEXT    NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tickets_expires ON tickets (expires_at);
