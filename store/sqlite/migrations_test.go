package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// applied are the hashes of the migrations as they were released. A database
// that has run one never runs it again, so a change of it reaches new databases
// only, and nothing else notices. Put a change into a new file and add its hash
// here (sha256sum). Until the first release, while no database in use has run
// it, a file may be changed together with its hash.
var applied = map[string]string{
	"00001_initial.sql":             "c563f4c03a05dc88e3a745ff86250be4c03a59668ebba9a505b97fcfb76e4cb8",
	"00002_accounts_and_grants.sql": "8be9bc249d190c46ac4830d1b87810b6b9f18418a7bea36f9836d1942723fa26",
	"00003_drivers.sql":             "80eb78aa5065e75b7c8d4d7020272d1c148471116265cf8e6576f0dcf4d1789b",
	"00004_failures.sql":            "b50008f266036270e891569fb2143c663fa1e7179c2e7ed37460560675a64aae",
	"00005_enrolment.sql":           "8b94af8481a049217a34b7d739ea11b8027a162691f73b0fdfd854367e8210c2",
	"00006_history.sql":             "aa68d31e71fffd1ac28f3b6102aaa8bd22d9a28ce8664d2b56454efb6afca083",
}

func TestAppliedMigrationsAreNotEdited(t *testing.T) {
	have := map[string]string{}
	for _, name := range names(t, migrations()) {
		text, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		have[name] = hex.EncodeToString(sum[:])
	}
	if !maps.Equal(have, applied) {
		t.Errorf("the migrations differ from the released ones:\nhave %q\nwant %q", have, applied)
	}
}

// TestBothEnginesHaveTheSameVersions compares numbers and names with the other directory.
func TestBothEnginesHaveTheSameVersions(t *testing.T) {
	own, other := names(t, migrations()), names(t, os.DirFS("../postgres/migrations"))
	if !slices.Equal(own, other) {
		t.Errorf("SQLite has the migrations %q, PostgreSQL %q", own, other)
	}
}

func names(t *testing.T, dir fs.FS) (list []string) {
	t.Helper()
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".sql") {
			t.Errorf("%s is no migration", e.Name())
		}
		list = append(list, e.Name())
	}
	return list
}
