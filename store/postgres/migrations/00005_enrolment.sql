-- +goose Up
ALTER TABLE controllers ADD COLUMN transferred_at BIGINT; -- when another owner took it, under another id

-- What happened to a controller, for its owner.
CREATE TABLE controller_events (
  id            TEXT    NOT NULL PRIMARY KEY,
  controller_id TEXT    NOT NULL REFERENCES controllers (id) ON DELETE CASCADE,
  kind          TEXT    NOT NULL CHECK (kind IN ('second_connection', 'claimed', 'rotated', 'revoked', 'released', 'kept', 'taken')),
  detail        TEXT    NOT NULL,
  occurred_at   BIGINT  NOT NULL
);
CREATE INDEX controller_events_controller ON controller_events (controller_id, occurred_at);

-- +goose Down
DROP TABLE controller_events;
ALTER TABLE controllers DROP COLUMN transferred_at;
