-- +goose Up
ALTER TABLE door_events ADD COLUMN reason TEXT NOT NULL DEFAULT ''; -- why the door is not where the command sent it

-- +goose Down
ALTER TABLE door_events DROP COLUMN reason;
