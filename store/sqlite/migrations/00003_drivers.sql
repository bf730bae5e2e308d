-- +goose Up
ALTER TABLE controllers ADD COLUMN driver TEXT NOT NULL DEFAULT ''; -- empty: it speaks the controller protocol
ALTER TABLE controllers ADD COLUMN settings TEXT NOT NULL DEFAULT ''; -- of the driver, as JSON
ALTER TABLE controllers ADD COLUMN credential_changed_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX controllers_credential_changed ON controllers (credential_changed_at);
