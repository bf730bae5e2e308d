-- +goose Up
ALTER TABLE controllers ADD COLUMN transferred_at INTEGER; -- when another owner took it, under another id

-- Changes of credentials are counted in the order of their commits: no two machines'
-- clocks need to agree about what is newer.
CREATE TABLE revisions (
  name  TEXT     NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;
INSERT INTO revisions (name, value) VALUES ('credentials', 0);
DROP INDEX controllers_credential_changed;
ALTER TABLE controllers DROP COLUMN credential_changed_at;
ALTER TABLE controllers ADD COLUMN credential_revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX controllers_credential_revision ON controllers (credential_revision);

-- What happened to a controller, for its owner.
CREATE TABLE controller_events (
  id            TEXT    NOT NULL PRIMARY KEY,
  controller_id TEXT    NOT NULL REFERENCES controllers (id) ON DELETE CASCADE,
  kind          TEXT    NOT NULL CHECK (kind IN ('second_connection', 'claimed', 'rotated', 'revoked', 'released', 'kept', 'taken', 'gone')),
  detail        TEXT    NOT NULL,
  occurred_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX controller_events_controller ON controller_events (controller_id, occurred_at);

-- +goose Down
DROP TABLE controller_events;
DROP INDEX controllers_credential_revision;
ALTER TABLE controllers DROP COLUMN credential_revision;
ALTER TABLE controllers ADD COLUMN credential_changed_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX controllers_credential_changed ON controllers (credential_changed_at);
DROP TABLE revisions;
ALTER TABLE controllers DROP COLUMN transferred_at;
