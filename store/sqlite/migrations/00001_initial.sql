-- +goose Up
CREATE TABLE people (
  id            TEXT    NOT NULL PRIMARY KEY,
  email         TEXT    NOT NULL UNIQUE CHECK (email = lower(email)),
  given_name    TEXT    NOT NULL,
  family_name   TEXT    NOT NULL,
  password_hash TEXT    NOT NULL, -- empty: no password, nobody can sign in with one
  created_at    INTEGER NOT NULL,
  disabled_at   INTEGER
) STRICT;

CREATE TABLE access_tokens (
  id         TEXT    NOT NULL PRIMARY KEY,
  hash       TEXT    NOT NULL UNIQUE,
  person_id  TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  scopes     INTEGER NOT NULL CHECK (scopes > 0),
  label      TEXT    NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;
CREATE INDEX access_tokens_person ON access_tokens (person_id, created_at);

CREATE TABLE controllers (
  id              TEXT    NOT NULL PRIMARY KEY,
  owner_id        TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  name            TEXT    NOT NULL,
  secret_hash     TEXT    NOT NULL,
  firmware        TEXT    NOT NULL,
  sessions        INTEGER NOT NULL, -- how many it has begun
  created_at      INTEGER NOT NULL,
  last_contact_at INTEGER,
  revoked_at      INTEGER
) STRICT;
CREATE INDEX controllers_owner ON controllers (owner_id, created_at);

CREATE TABLE doors (
  id            TEXT    NOT NULL PRIMARY KEY,
  controller_id TEXT    NOT NULL REFERENCES controllers (id) ON DELETE CASCADE,
  number        INTEGER NOT NULL CHECK (number BETWEEN 1 AND 32),
  name          TEXT    NOT NULL,
  value         TEXT    NOT NULL CHECK (value IN ('unknown', 'closed', 'opening', 'open', 'closing', 'stopped')),
  source        TEXT    NOT NULL CHECK (source IN ('inferred', 'opener', 'sensor')),
  sensor_lost   INTEGER NOT NULL CHECK (sensor_lost IN (0, 1)),
  since         INTEGER,
  observed_at   INTEGER,
  changed_at    INTEGER, -- when its controller last reported a change
  session       INTEGER NOT NULL, -- of the report that the state is from
  sequence      INTEGER NOT NULL,
  UNIQUE (controller_id, number)
) STRICT;

CREATE TABLE commands (
  id            TEXT    NOT NULL PRIMARY KEY,
  door_id       TEXT    NOT NULL REFERENCES doors (id) ON DELETE CASCADE,
  controller_id TEXT    NOT NULL,
  door_number   INTEGER NOT NULL,
  person_id     TEXT    NOT NULL,
  token_id      TEXT    NOT NULL,
  action        TEXT    NOT NULL CHECK (action IN ('open', 'close', 'stop')),
  requested_at  INTEGER NOT NULL,
  deadline_at   INTEGER NOT NULL,
  status        TEXT    NOT NULL CHECK (status IN ('sent', 'taken', 'refused', 'unreachable', 'unanswered', 'unknown')),
  code          INTEGER NOT NULL CHECK (code IN (0, 200, 400, 401, 404, 428, 501)),
  reason        TEXT    NOT NULL,
  settled_at    INTEGER CHECK ((settled_at IS NULL) = (status = 'sent')),
  late_code     INTEGER,
  late_reason   TEXT,
  late_at       INTEGER CHECK ((late_at IS NULL) = (late_code IS NULL))
) STRICT;
CREATE INDEX commands_door ON commands (door_id, requested_at);
CREATE INDEX commands_requested ON commands (requested_at);
CREATE INDEX commands_sent ON commands (id) WHERE status = 'sent';

CREATE TABLE door_events (
  controller_id TEXT    NOT NULL,
  event         TEXT    NOT NULL, -- the controller's name for it
  door_id       TEXT    NOT NULL REFERENCES doors (id) ON DELETE CASCADE,
  session       INTEGER NOT NULL,
  sequence      INTEGER NOT NULL,
  value         TEXT    NOT NULL CHECK (value IN ('unknown', 'closed', 'opening', 'open', 'closing', 'stopped')),
  source        TEXT    NOT NULL CHECK (source IN ('inferred', 'opener', 'sensor')),
  sensor_lost   INTEGER NOT NULL CHECK (sensor_lost IN (0, 1)),
  cause         TEXT    NOT NULL CHECK (cause IN ('command', 'local', 'unknown')),
  command_id    TEXT    NOT NULL,
  occurred_at   INTEGER NOT NULL, -- by the controller's account
  received_at   INTEGER NOT NULL,
  PRIMARY KEY (controller_id, event)
) STRICT;
CREATE INDEX door_events_door ON door_events (door_id, session, sequence);

-- +goose Down
DROP TABLE door_events;
DROP TABLE commands;
DROP TABLE doors;
DROP TABLE controllers;
DROP TABLE access_tokens;
DROP TABLE people;
