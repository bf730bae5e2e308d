package account

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"

	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
)

// The flags of authenticator data (WebAuthn Level 3 §6.1).
const (
	userPresent  = 1 << 0
	userVerified = 1 << 2
	attested     = 1 << 6
)

// authenticator is one passkey and the browser that it is used in. A test
// changes what it says to be another one.
type authenticator struct {
	t         *testing.T
	key       *ecdsa.PrivateKey
	id        []byte
	handle    []byte // of the user; set by create
	origin    string
	rpID      string
	flags     byte
	counter   uint32
	challenge string // instead of the one asked with
	kind      string // instead of the ceremony's
}

func newAuthenticator(t *testing.T) *authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	id := make([]byte, 32)
	rand.Read(id)
	return &authenticator{t: t, key: key, id: id, origin: origin, rpID: "doors.example", flags: userPresent | userVerified}
}

// options are what the service asks a browser for.
type options struct {
	PublicKey struct {
		Challenge              string
		Timeout                int
		RPID                   string                    // to sign in
		RP                     struct{ ID, Name string } // to add
		User                   struct{ ID, Name, DisplayName string }
		PubKeyCredParams       []struct{ Alg int }
		Attestation            string
		UserVerification       string
		AllowCredentials       []struct{ ID string }
		ExcludeCredentials     []struct{ ID string }
		AuthenticatorSelection struct {
			ResidentKey, UserVerification string
			RequireResidentKey            bool
		}
	}
}

func (a *authenticator) read(text []byte) (o options) {
	a.t.Helper()
	must(a.t, json.Unmarshal(text, &o))
	return o
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (a *authenticator) clientData(kind, challenge string) []byte {
	if a.challenge != "" {
		challenge = a.challenge
	}
	if a.kind != "" {
		kind = a.kind
	}
	text, err := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	must(a.t, err)
	return text
}

func (a *authenticator) data(flags byte) []byte {
	party := sha256.Sum256([]byte(a.rpID))
	return binary.BigEndian.AppendUint32(append(party[:], flags), a.counter)
}

func (a *authenticator) answer(response map[string]any) []byte {
	text, err := json.Marshal(map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "response": response,
		// As password managers do, unasked.
		"clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}},
	})
	must(a.t, err)
	return text
}

// create answers navigator.credentials.create with an ES256 key and no attestation.
func (a *authenticator) create(text []byte) []byte {
	o := a.read(text)
	var err error
	a.handle, err = base64.RawURLEncoding.DecodeString(o.PublicKey.User.ID)
	must(a.t, err)
	point, err := a.key.PublicKey.Bytes()
	must(a.t, err)
	key, err := webauthncbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	must(a.t, err)
	data := append(a.data(a.flags|attested), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.id))), a.id...)
	object, err := webauthncbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{}, "authData": append(data, key...)})
	must(a.t, err)
	return a.answer(map[string]any{
		"clientDataJSON": b64(a.clientData("webauthn.create", o.PublicKey.Challenge)), "attestationObject": b64(object),
		"transports": []string{"internal"},
	})
}

// get answers navigator.credentials.get.
func (a *authenticator) get(text []byte) []byte {
	client := a.clientData("webauthn.get", a.read(text).PublicKey.Challenge)
	hash, data := sha256.Sum256(client), a.data(a.flags)
	signed := sha256.Sum256(slices.Concat(data, hash[:]))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, signed[:])
	must(a.t, err)
	return a.answer(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": b64(a.handle),
	})
}
