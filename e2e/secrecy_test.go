package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
)

// TestNoSecretIsLoggedOrStored looks for every secret in what is written down,
// after each has been used rightly and wrongly.
func TestNoSecretIsLoggedOrStored(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "made") // by the service, with its own permissions
	h := &house{site: startServeIn(t, data, "--log-level", "debug"), Email: "owner@house.example"}
	h.Password = h.addUser(h.Email)["password"]
	const chosen, mistyped = "correct horse battery", "lta_mistypedmistypedmistypedmistypedmistypedmis"
	invite := invocation{args: []string{"user", "add", "--data", data, "--email", "other@house.example", "--password-stdin"}, stdin: chosen + "\n"}
	if out, stderr, err := invite.run(); err != nil || strings.Contains(out+stderr, chosen) {
		t.Fatalf("%v: %s%s", err, out, stderr)
	}
	h.Token = h.createToken(h.Email, "OPENDOOR,CLOSEDOOR,READ").AccessToken
	revoked := h.createToken(h.Email, "OPENDOOR")
	lintel(t, "token", "revoke", "--data", data, revoked.ID)
	made, spare := h.addController(h.Email, "Garage"), h.addController(h.Email, "Shed")
	file := made.file(t)
	fleet := start(t, "sim", "--broker", h.MQTT, "--credentials", file, "--verbose")
	h.awaitDoor(made.door(), "closed/sensor/true/CLOSED")

	h.toggle(made.door(), "OPEN")
	h.toggleAs(revoked.AccessToken, made.door(), "OPEN")
	h.toggleAs(mistyped, made.door(), "OPEN")
	do(t, "POST", h.BaseURL+togglePath+"?access_token="+h.Token, "", `{"access_token":"`+h.Token+`"}`)
	do(t, "GET", h.BaseURL+endpoints+h.Token, h.Token, "")
	raw(t, strings.TrimPrefix(h.BaseURL, "http://"), "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+h.Token+"\r\nbad header\r\n\r\n")
	misuse(t, h.MQTT, spare, h.Token, h.Password)

	secrets := map[string]string{
		"password": h.Password, "chosen password": chosen, "token": h.Token, "revoked token": revoked.AccessToken,
		"mistyped token": mistyped, "controller's secret": made.Secret, "spare controller's secret": spare.Secret,
	}
	searchFiles(t, data, secrets, made.ID) // while the write-ahead log holds the latest
	if err := h.interrupt(); err != nil {
		t.Errorf("the service ended with %v", err)
	}
	searchFiles(t, data, secrets, made.ID)
	search(t, "the service's log", h.stderr.String(), secrets, made.ID)
	eventually(t, "the fleet to miss the service", func() bool { return strings.Contains(fleet.stderr.String(), "cannot connect") })
	if err := fleet.interrupt(); err != nil {
		t.Errorf("the fleet ended with %v", err)
	}
	search(t, "the fleet's log", fleet.stderr.String(), secrets, made.ID)
}

// misuse shows the broker secrets where they do not belong.
func misuse(t *testing.T, broker string, spare credentials, token, password string) {
	t.Helper()
	for _, names := range [][3]string{ // client id, user name, password
		{spare.ID, spare.ID, token}, {spare.ID, spare.ID, password}, {spare.ID, spare.ID, spare.Secret + "x"},
		{spare.ID, spare.ID, spare.Secret}, {spare.Secret, spare.Secret, spare.Secret}, {token, password, spare.Secret},
	} {
		options := paho.NewClientOptions().AddBroker("tcp://" + broker).SetClientID(names[0]).SetUsername(names[1]).SetPassword(names[2]).
			SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false)
		if names[2] == spare.Secret {
			options.SetWill(spare.Secret, token, 0, false)
		}
		if refusal := paho.NewClient(options).Connect(); !refusal.WaitTimeout(patience) || refusal.Error() == nil {
			t.Errorf("the broker took %q", names)
		}
	}
}

// search looks for secrets in a text, which must hold the mark: else it would be
// the wrong text to look into.
func search(t *testing.T, what, text string, secrets map[string]string, mark string) {
	t.Helper()
	if !strings.Contains(text, mark) {
		t.Errorf("%s does not hold %q", what, mark)
	}
	for name, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the %s", what, name)
		}
	}
}

// searchFiles does so in all files of a data directory, which nobody else may read.
func searchFiles(t *testing.T, data string, secrets map[string]string, mark string) {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(data, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %s", path, info.Mode())
		}
		if entry.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	search(t, "the data directory", all.String(), secrets, mark)
}
