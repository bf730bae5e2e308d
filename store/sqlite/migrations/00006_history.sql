-- +goose Up
CREATE INDEX door_events_received ON door_events (door_id, received_at);

-- +goose Down
DROP INDEX door_events_received;
