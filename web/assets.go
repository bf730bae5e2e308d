package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
)

//go:embed assets
var assetFiles embed.FS

// assetTypes are the kinds of assets, by the ends of their names.
var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// asset is a file that pages refer to.
type asset struct {
	hash string // of its content, in its URL: so it never changes there
	body []byte
}

// assets are all of them, by their names.
type assets map[string]asset

func loadAssets() (assets, error) {
	found := assets{}
	err := fs.WalkDir(assetFiles, "assets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		sum := sha256.Sum256(body)
		found[path.Base(name)] = asset{hex.EncodeToString(sum[:8]), body}
		return err
	})
	return found, err
}

// url returns the address of an asset; templates call it.
func (a assets) url(name string) string { return "/assets/" + a[name].hash + "/" + name }

// asset serves an asset, for ever.
func (p *Pages) asset(v *visit) answer {
	name := v.PathValue("name")
	found, ok := p.assets[name]
	if !ok || found.hash != v.PathValue("hash") {
		return missing()
	}
	return answer{status: http.StatusOK, kind: assetTypes[path.Ext(name)], body: found.body,
		headers: map[string]string{"Cache-Control": "public, max-age=31536000, immutable"}}
}
