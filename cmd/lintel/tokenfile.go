package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// tokens is the content of the token file.
type tokens struct {
	Default string                `json:"default,omitempty"` // origin of the last login
	Servers map[string]savedGrant `json:"servers"`           // by origin
}

// savedGrant is what is known of one server. After a sign-in that has ended, the
// tokens are empty and the rest stays.
type savedGrant struct {
	CA           string    `json:"ca,omitempty"` // PEM
	Plaintext    bool      `json:"allow_plaintext,omitempty"`
	AccessToken  string    `json:"access_token,omitempty"`
	RefreshToken string    `json:"refresh_token,omitempty"`
	ExpiresAt    time.Time `json:"expires_at"` // of the access token
	Scope        string    `json:"scope,omitempty"`
}

// signedIn returns the origins with a sign-in, in order.
func (t tokens) signedIn() []string {
	var origins []string
	for _, origin := range slices.Sorted(maps.Keys(t.Servers)) {
		if t.Servers[origin].RefreshToken != "" {
			origins = append(origins, origin)
		}
	}
	return origins
}

// tokenFile is the file in which sign-ins are kept between commands.
//
// It is only ever replaced as a whole, so that reading needs no lock. Writing
// does: a refresh token may be used once only, so between reading it and writing
// its successor no other process may read it to use it.
type tokenFile struct{ dir string }

func openTokenFile() (tokenFile, error) {
	dir, err := configDir()
	return tokenFile{dir}, err
}

func (f tokenFile) path() string { return filepath.Join(f.dir, "credentials.json") }

// read returns the content; a file that does not exist is empty.
func (f tokenFile) read() (tokens, error) {
	t := tokens{Servers: map[string]savedGrant{}}
	text, err := os.ReadFile(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, fmt.Errorf("cannot read the sign-ins: %w", err)
	}
	if json.Unmarshal(text, &t) != nil { // its error could quote the file
		return tokens{}, fmt.Errorf("%s is damaged; remove it and sign in again", f.path())
	}
	if t.Servers == nil {
		t.Servers = map[string]savedGrant{}
	}
	return t, nil
}

// lockLimit is how long a command waits for another one that holds the lock: as long
// as a refresh may take, and what writing the file takes.
const lockLimit = refreshLimit + 5*time.Second

// hold takes the lock, and waits for it while another command has it.
func (f tokenFile) hold(ctx context.Context) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(f.dir, "credentials.lock"), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err == nil && !held {
		limit, cancel := context.WithTimeout(ctx, lockLimit)
		defer cancel()
		if held, err = lock.TryLockContext(limit, 20*time.Millisecond); !held && limit.Err() != nil {
			return nil, fmt.Errorf("another lintel command holds %s: %w", lock.Path(), limit.Err())
		}
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // without the path, which the sentence has
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep the sign-in: %s cannot be locked: %w", lock.Path(), err)
	}
	return lock, nil
}

// update calls change with the content, under the lock, and writes what change
// made of it before it returns. change says whether there is anything to write,
// also where it fails. Nothing is written to what cannot be: the new file is
// made first, so that no token is spent whose successor has no place.
func (f tokenFile) update(ctx context.Context, change func(t *tokens) (write bool, err error)) (err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("cannot keep the sign-in: %w", err)
	}
	lock, err := f.hold(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	t, err := f.read()
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(f.dir, "credentials-*.tmp") // with mode 0600
	if err != nil {
		return fmt.Errorf("cannot keep the sign-in: %w", err)
	}
	defer os.Remove(next.Name()) // where it was not renamed
	defer next.Close()
	write, err := change(&t)
	if !write {
		return err
	}
	return errors.Join(err, f.replace(next, t))
}

// replace puts the content in the place of the file, on disk.
func (f tokenFile) replace(next *os.File, t tokens) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	_, err = next.Write(append(text, '\n'))
	if err = errors.Join(err, next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), f.path())
	}
	if err != nil {
		return fmt.Errorf("the sign-in could not be kept, so sign in again: %w", err)
	}
	if dir, err := os.Open(f.dir); err == nil {
		_ = dir.Sync() // not every file system can; the file itself is whole
		_ = dir.Close()
	}
	return nil
}
