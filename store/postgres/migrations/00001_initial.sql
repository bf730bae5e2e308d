-- +goose Up
-- What is listed by its text is COLLATE "C": the same order whatever the
-- database's locale is, and SQLite's.
CREATE TABLE people (
  id            TEXT    NOT NULL PRIMARY KEY,
  email         TEXT    COLLATE "C" NOT NULL UNIQUE CHECK (email = lower(email)),
  given_name    TEXT    NOT NULL,
  family_name   TEXT    NOT NULL,
  password_hash TEXT    NOT NULL, -- empty: no password, nobody can sign in with one
  created_at    BIGINT NOT NULL,
  disabled_at   BIGINT
);

CREATE TABLE access_tokens (
  id         TEXT    NOT NULL PRIMARY KEY,
  hash       TEXT    NOT NULL UNIQUE,
  person_id  TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  scopes     BIGINT NOT NULL CHECK (scopes > 0),
  label      TEXT    NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE INDEX access_tokens_person ON access_tokens (person_id, created_at);

CREATE TABLE controllers (
  id              TEXT    NOT NULL PRIMARY KEY,
  owner_id        TEXT    NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  name            TEXT    COLLATE "C" NOT NULL,
  secret_hash     TEXT    NOT NULL,
  firmware        TEXT    NOT NULL,
  sessions        BIGINT NOT NULL, -- how many it has begun
  created_at      BIGINT NOT NULL,
  last_contact_at BIGINT,
  revoked_at      BIGINT
);
CREATE INDEX controllers_owner ON controllers (owner_id, created_at);

CREATE TABLE doors (
  id            TEXT    NOT NULL PRIMARY KEY,
  controller_id TEXT    NOT NULL REFERENCES controllers (id) ON DELETE CASCADE,
  number        BIGINT NOT NULL CHECK (number BETWEEN 1 AND 32),
  name          TEXT    NOT NULL,
  value         TEXT    NOT NULL CHECK (value IN ('unknown', 'closed', 'opening', 'open', 'closing', 'stopped')),
  source        TEXT    NOT NULL CHECK (source IN ('inferred', 'opener', 'sensor')),
  sensor_lost   BOOLEAN NOT NULL,
  since         BIGINT,
  observed_at   BIGINT,
  changed_at    BIGINT, -- when its controller last reported a change
  session       BIGINT NOT NULL, -- of the report that the state is from
  sequence      BIGINT NOT NULL,
  UNIQUE (controller_id, number)
);

CREATE TABLE commands (
  id            TEXT    NOT NULL PRIMARY KEY,
  door_id       TEXT    NOT NULL REFERENCES doors (id) ON DELETE CASCADE,
  controller_id TEXT    NOT NULL,
  door_number   BIGINT NOT NULL,
  person_id     TEXT    NOT NULL,
  token_id      TEXT    NOT NULL,
  action        TEXT    NOT NULL CHECK (action IN ('open', 'close', 'stop')),
  requested_at  BIGINT NOT NULL,
  deadline_at   BIGINT NOT NULL,
  status        TEXT    NOT NULL CHECK (status IN ('sent', 'taken', 'refused', 'unreachable', 'unanswered', 'unknown')),
  code          BIGINT NOT NULL CHECK (code IN (0, 200, 400, 401, 404, 428, 501)),
  reason        TEXT    NOT NULL,
  settled_at    BIGINT CHECK ((settled_at IS NULL) = (status = 'sent')),
  late_code     BIGINT,
  late_reason   TEXT,
  late_at       BIGINT CHECK ((late_at IS NULL) = (late_code IS NULL))
);
CREATE INDEX commands_door ON commands (door_id, requested_at);
CREATE INDEX commands_requested ON commands (requested_at);
CREATE INDEX commands_sent ON commands (id) WHERE status = 'sent';

CREATE TABLE door_events (
  controller_id TEXT    NOT NULL,
  event         TEXT    NOT NULL, -- the controller's name for it
  door_id       TEXT    NOT NULL REFERENCES doors (id) ON DELETE CASCADE,
  session       BIGINT NOT NULL,
  sequence      BIGINT NOT NULL,
  value         TEXT    NOT NULL CHECK (value IN ('unknown', 'closed', 'opening', 'open', 'closing', 'stopped')),
  source        TEXT    NOT NULL CHECK (source IN ('inferred', 'opener', 'sensor')),
  sensor_lost   BOOLEAN NOT NULL,
  cause         TEXT    NOT NULL CHECK (cause IN ('command', 'local', 'unknown')),
  command_id    TEXT    NOT NULL,
  occurred_at   BIGINT NOT NULL, -- by the controller's account
  received_at   BIGINT NOT NULL,
  PRIMARY KEY (controller_id, event)
);
CREATE INDEX door_events_door ON door_events (door_id, session, sequence);

-- +goose Down
DROP TABLE door_events;
DROP TABLE commands;
DROP TABLE doors;
DROP TABLE controllers;
DROP TABLE access_tokens;
DROP TABLE people;
