package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract is docs/openapi-v1.json, and what was seen of it.
type contract struct {
	doc     map[string]any
	schemas *jsonschema.Compiler
	seen    map[string]bool // "toggle post 200"
}

// loadContract reads the document. Its schemas are made strict, so that a field
// that is not documented fails; clients need not be so.
func loadContract(t *testing.T) *contract {
	t.Helper()
	text, err := os.ReadFile("../docs/openapi-v1.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := &contract{doc: doc.(map[string]any), schemas: jsonschema.NewCompiler(), seen: map[string]bool{}}
	for name, s := range c.at("components", "schemas") {
		if name != "ToggleRequest" {
			s.(map[string]any)["additionalProperties"] = false
		}
	}
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	c.schemas.AssertFormat()
	if err := c.schemas.AddResource(contractURL, doc); err != nil {
		t.Fatal(err)
	}
	return c
}

const contractURL = "http://lintel.example/openapi-v1.json"

// at returns the object at a path of names; empty where there is none.
func (c *contract) at(names ...string) map[string]any {
	here := c.doc
	for _, name := range names {
		here, _ = here[name].(map[string]any)
	}
	return here
}

// resolve follows a $ref to an object, and returns the object and its place.
func (c *contract) resolve(names ...string) (object map[string]any, place []string) {
	object = c.at(names...)
	if ref, ok := object["$ref"].(string); ok {
		place = strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		return c.at(place...), place
	}
	return object, names
}

// valid checks a value against the schema at a place of the document.
func (c *contract) valid(place []string, value any) error {
	escaped := make([]string, len(place))
	for i, name := range place {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	schema, err := c.schemas.Compile(contractURL + "#/" + strings.Join(escaped, "/"))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

const jsonMedia = "application/json"

// check holds an answer against what the document says of it. A method that the
// path does not have is held against the 405 that its other operations list.
func (c *contract) check(t *testing.T, endpoint, method string, r response) {
	t.Helper()
	endpoint, _, _ = strings.Cut(strings.TrimPrefix(endpoint, "/api/oauth/v1/endpoints/"), "?")
	operation := strings.ToLower(method)
	if len(c.at("paths", "/api/oauth/v1/endpoints/"+endpoint, operation)) == 0 {
		operation = "post"
		if len(c.at("paths", "/api/oauth/v1/endpoints/"+endpoint, operation)) == 0 {
			operation = "get"
		}
	}
	key := fmt.Sprintf("%s %s %d", endpoint, operation, r.Status)
	documented, place := c.resolve("paths", "/api/oauth/v1/endpoints/"+endpoint, operation, "responses", fmt.Sprint(r.Status))
	if len(documented) == 0 {
		t.Errorf("%s is not documented", key)
		return
	}
	c.seen[key] = true
	c.checkHeaders(t, key, place, documented, r.Header)
	_, wanted := documented["content"]
	switch {
	case method == http.MethodHead || !wanted:
		if len(r.Body) != 0 {
			t.Errorf("%s: a body of %d bytes", key, len(r.Body))
		}
		return
	case r.Header.Get("Content-Type") != jsonMedia+"; charset=utf-8":
		t.Errorf("%s: Content-Type %q", key, r.Header.Get("Content-Type"))
	case r.Header.Get("Content-Encoding") != "":
		return // checked without compression
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Body))
	if err != nil {
		t.Errorf("%s: %v in %q", key, err, r.Body)
		return
	}
	_, schema := c.resolve(append(place, "content", jsonMedia, "schema")...)
	if _, extended := c.at(append(place, "content", jsonMedia, "schema")...)["properties"]; extended {
		schema = append(place, "content", jsonMedia, "schema")
	}
	if err := c.valid(schema, body); err != nil {
		t.Errorf("%s: %v in %s", key, err, r.Body)
	}
}

func (c *contract) checkHeaders(t *testing.T, key string, place []string, documented map[string]any, got http.Header) {
	t.Helper()
	names, _ := documented["headers"].(map[string]any)
	for name := range names {
		header, at := c.resolve(append(place, "headers", name)...)
		values := got.Values(name)
		switch {
		case len(values) == 0 && header["required"] == true:
			t.Errorf("%s: no header %s", key, name)
		case len(values) > 0:
			if err := c.valid(append(at, "schema"), strings.Join(values, ", ")); err != nil {
				t.Errorf("%s: header %s: %v", key, name, err)
			}
		}
	}
	for name := range got {
		_, listed := names[http.CanonicalHeaderKey(name)]
		if strings.HasPrefix(name, "Lintel-") && !listed {
			t.Errorf("%s: header %s is not documented", key, name)
		}
	}
}

// canonical makes the header names of the document comparable: HTTP compares
// them without regard to letter case, Go by the canonical form.
func (c *contract) canonical() {
	for _, r := range c.at("components", "responses") {
		headers, _ := r.(map[string]any)["headers"].(map[string]any)
		for name, header := range headers {
			delete(headers, name)
			headers[http.CanonicalHeaderKey(name)] = header
		}
	}
}

// contractRequest is one request of the tests against the contract.
type contractRequest struct {
	path, method, token, body string
	header                    []string
	status                    int
}

func TestContractHoldsForRealAnswers(t *testing.T) {
	c := loadContract(t)
	c.canonical()
	d := startDemo(t, "--deadline", "400ms")
	closer := d.createToken(d.User.Email, "CLOSEDOOR").AccessToken
	ask := func(behaviour string) string { return toggleBody(d.door(behaviour).DoorID, "OPEN") }
	requests := []contractRequest{
		{togglePath, "POST", d.Token, ask("works"), nil, 200},
		{togglePath, "POST", d.Token, ask("works"), nil, 200}, // already there
		{togglePath, "POST", d.Token, ask("malformed"), nil, 400},
		{togglePath, "POST", d.Token, `{`, nil, 400},
		{togglePath, "POST", "", ask("works"), nil, 401},
		{togglePath, "POST", "lta_unknown", ask("works"), nil, 401},
		{togglePath, "POST", d.Token, ask("auth_error"), nil, 401},
		{togglePath, "POST", closer, ask("works"), nil, 403},
		{togglePath, "POST", d.Other, ask("works"), nil, 404},
		{togglePath, "POST", d.Token, ask("offline"), nil, 404},
		{togglePath, "POST", d.Token, ask("silent"), nil, 404},
		{togglePath, "POST", d.Token, strings.Repeat(" ", 20_000), nil, 413},
		{togglePath, "POST", d.Token, ask("works"), []string{"Content-Type", "text/plain"}, 415},
		{togglePath, "POST", d.Token, ask("works"), []string{"Content-Type", ""}, 415},
		{togglePath, "POST", d.Token, ask("sensor_lost"), nil, 428},
		{togglePath, "POST", d.Token, ask("unsupported"), nil, 501},
		{togglePath, "GET", d.Token, "", nil, 405},
		{togglePath, "HEAD", d.Token, "", nil, 405},
		{togglePath, "DELETE", "", "", nil, 405},
		{togglePath, "OPTIONS", "", "", nil, 204},
		{syncPath, "GET", d.Token, "", nil, 200},
		{syncPath, "GET", d.Token, "", []string{"Accept-Encoding", "gzip"}, 200},
		{syncPath, "GET", d.Other, "", nil, 200},
		{syncPath, "POST", d.Token, "", nil, 200},
		{syncPath, "HEAD", d.Token, "", nil, 200},
		{syncPath, "GET", "", "", nil, 401},
		{syncPath, "POST", "lta_unknown", "", nil, 401},
		{syncPath, "HEAD", "", "", nil, 401},
		{syncPath, "GET", closer, "", nil, 403},
		{syncPath, "POST", closer, "", nil, 403},
		{syncPath, "HEAD", closer, "", nil, 403},
		{syncPath, "PUT", d.Token, "{}", nil, 405},
		{syncPath, "OPTIONS", "", "", nil, 204},
		{historyPath, "GET", d.Token, "", nil, 200},
		{historyPath + "?history_type=device&start_date=2026-01-01&end_date=2999-12-31&device_id=" + strings.ReplaceAll(d.Doors[0].DoorID, "-", ""), "GET", d.Token, "", nil, 200},
		{historyPath + "?door_id=x", "GET", d.Token, "", nil, 400},
		{historyPath + "?history_type=all", "GET", d.Token, "", nil, 400},
		{historyPath + "?start_date=yesterday", "GET", d.Token, "", nil, 400},
		{historyPath + "?end_date=2026-01-01&end_date=2026-01-02", "GET", d.Token, "", nil, 400},
		{historyPath, "GET", "", "", nil, 401},
		{historyPath, "GET", closer, "", nil, 403},
		{historyPath, "POST", d.Token, "", nil, 405},
		{historyPath, "OPTIONS", "", "", nil, 204},
		{userInfoPath, "GET", d.Token, "", nil, 200},
		{userInfoPath, "GET", "lta_unknown", "", nil, 401},
		{userInfoPath, "GET", closer, "", nil, 403},
		{userInfoPath, "DELETE", d.Token, "", nil, 405},
		{userInfoPath, "OPTIONS", "", "", nil, 204},
	}
	for _, r := range requests {
		got := do(t, r.method, d.BaseURL+r.path, r.token, r.body, r.header...)
		if got.Status != r.status {
			t.Errorf("%s %s %s: status %d, want %d", r.method, r.path, r.body, got.Status, r.status)
		}
		c.check(t, r.path, r.method, got)
	}
	c.check(t, togglePath, "POST", tooMany(t, d))
	c.everythingSeen(t)
}

// tooMany presses the button of a silent door until one press waits too long.
func tooMany(t *testing.T, d *demo) response {
	t.Helper()
	var presses []<-chan outcome
	for range 6 {
		presses = append(presses, d.background(t.Context(), d.door("silent").DoorID, "OPEN"))
	}
	var refused response
	for _, press := range presses {
		o := <-press
		if o.err != nil {
			t.Error(o.err)
		}
		if o.Status == http.StatusTooManyRequests {
			refused = o.response
		}
	}
	if refused.Status == 0 {
		t.Fatal("no request waited too long")
	}
	return refused
}

// everythingSeen fails for a documented status that no answer had, so that the
// document promises nothing that does not exist.
func (c *contract) everythingSeen(t *testing.T) {
	t.Helper()
	unprovoked := map[string]string{
		"toggle post 500": "a fault of the service", "sync get 500": "a fault of the service",
		"sync post 500": "a fault of the service", "sync head 500": "a fault of the service",
		"toggle-history get 500": "a fault of the service", "user-info get 500": "a fault of the service",
		"sync get 405": "the same answer is listed with each operation",
	}
	for path := range c.at("paths") {
		endpoint := strings.TrimPrefix(path, "/api/oauth/v1/endpoints/")
		for operation := range c.at("paths", path) {
			for status := range c.at("paths", path, operation, "responses") {
				key := endpoint + " " + operation + " " + status
				if unprovoked[key] == "" && !c.seen[key] {
					t.Errorf("%s is documented and was never seen", key)
				}
			}
		}
	}
}

func TestExamplesOfContractAreValid(t *testing.T) {
	c := loadContract(t)
	places := [][]string{{"paths", togglePath, "post", "requestBody", "content", jsonMedia}}
	for name, r := range c.at("components", "responses") {
		if _, ok := r.(map[string]any)["content"]; ok {
			places = append(places, []string{"components", "responses", name, "content", jsonMedia})
		}
	}
	for _, place := range places {
		examples := c.at(append(place, "examples")...)
		if len(examples) == 0 {
			t.Errorf("%s: no examples", place)
		}
		for name, e := range examples {
			if err := c.valid(append(place, "schema"), e.(map[string]any)["value"]); err != nil {
				t.Errorf("%s, example %s: %v", place, name, err)
			}
		}
	}
	for name, h := range c.at("components", "headers") {
		example, ok := h.(map[string]any)["example"]
		if ok && c.valid([]string{"components", "headers", name, "schema"}, example) != nil {
			t.Errorf("header %s: its example is not valid", name)
		}
	}
}

// TestREADMEStatusTable pastes the README's commands into a shell.
func TestREADMEStatusTable(t *testing.T) {
	needTool(t, "curl", "curl")
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, variables, _ := strings.Cut(string(text), "In a second terminal, read the file once it has a line:\n\n```sh\n")
	variables, _, ok := strings.Cut(variables, "```")
	if !ok {
		t.Fatal("README.md has no block of variables")
	}
	data := filepath.Join(t.TempDir(), "data")
	demo := start(t, "demo", "--json", "--data", data, "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--deadline", "400ms")
	line, err := demo.stdout.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data+".json", []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	variables = strings.NewReplacer("go run ./cmd/lintel", binary, "/tmp/lintel-demo", data).Replace(variables)
	rows := regexp.MustCompile("(?m)^\\| (\\d{3}) \\|.*\\| `(.*)` \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 12 {
		t.Fatalf("README.md has %d rows with a command", len(rows))
	}
	for _, row := range append(rows, []string{"", "200", `curl -i "$BASE/sync" -H "$AUTH"`}) {
		cmd := exec.Command("sh", "-eu", "-c", variables+"\n"+row[2])
		cmd.Env = environment()
		cmd.WaitDelay = 30 * time.Second
		out, err := cmd.Output()
		if err != nil || !bytes.Contains(out, []byte("HTTP/1.1 "+row[1]+" ")) {
			t.Errorf("%s\nmust answer %s, and says (%v)\n%s", row[2], row[1], err, out)
		}
	}
}

// TestContractIsOneJSONDocument guards against what a lenient reader lets pass.
func TestContractIsOneJSONDocument(t *testing.T) {
	c := loadContract(t)
	if c.doc["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", c.doc["openapi"])
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && len(c.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)) == 0 {
				t.Errorf("%s leads nowhere", ref)
			}
			for _, member := range v {
				walk(member)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
	}
	walk(any(c.doc))
	if _, err := json.Marshal(c.doc); err != nil {
		t.Error(err)
	}
}
