package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"testing"
)

// applied are the hashes of the migrations as they were released; see the same
// in store/sqlite for when and how it is changed.
var applied = map[string]string{
	"00001_initial.sql":             "5ef94fbc50d74e4f7009dd810a493ae989ffe60449ed6fb59615e7262b7af4a2",
	"00002_accounts_and_grants.sql": "ee77342d9b82380348891f5145d7cc3e52a98f33342a4c444d976a2260fca223",
	"00003_drivers.sql":             "0f3aac2e7375830e88f8f9aaa894de5d01a366b4917ab68fd868a21c311a6ea9",
	"00004_failures.sql":            "b50008f266036270e891569fb2143c663fa1e7179c2e7ed37460560675a64aae",
	"00005_enrolment.sql":           "a600176ac5e1485befb9313e30af31cb82fae624d86790d0ce3f8defc4d21f78",
	"00006_history.sql":             "aa68d31e71fffd1ac28f3b6102aaa8bd22d9a28ce8664d2b56454efb6afca083",
}

func TestAppliedMigrationsAreNotEdited(t *testing.T) {
	have := map[string]string{}
	err := fs.WalkDir(migrations(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(migrations(), path)
		sum := sha256.Sum256(text)
		have[path] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(have, applied) {
		t.Errorf("the migrations differ from the released ones:\nhave %q\nwant %q", have, applied)
	}
}
