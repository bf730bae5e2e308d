package web

import (
	"math"
	"regexp"
	"strconv"
	"testing"
)

var colours = regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`)

// TestContrast holds both palettes to WCAG 2.2 AA: 4.5:1 for text (1.4.3), 3:1
// for the edges of controls (1.4.11).
func TestContrast(t *testing.T) {
	t.Parallel()
	css, err := assetFiles.ReadFile("assets/style.css")
	must(t, err)
	palettes := []map[string]float64{{}, {}}
	for _, c := range colours.FindAllStringSubmatch(string(css), -1) {
		of := palettes[0]
		if _, again := of[c[1]]; again {
			of = palettes[1]
		}
		of[c[1]] = luminance(t, c[2])
	}
	for scheme, palette := range palettes {
		for _, pair := range []struct {
			front, ground string
			least         float64
		}{
			{"ink", "ground", 4.5}, {"ink", "card", 4.5}, {"ink", "line", 4.5}, {"quiet", "ground", 4.5}, {"quiet", "card", 4.5},
			{"accent", "card", 4.5}, {"accent", "ground", 4.5}, {"accent", "warn-soft", 4.5}, {"accent-strong", "card", 4.5},
			{"accent-strong", "accent-soft", 4.5}, {"on-accent", "accent", 4.5}, {"on-accent", "accent-strong", 4.5}, {"on-accent", "bad", 4.5},
			{"bad", "card", 4.5}, {"bad", "bad-soft", 4.5}, {"warn", "warn-soft", 4.5}, {"good", "good-soft", 4.5},
			{"edge", "card", 3}, {"edge", "ground", 3},
		} {
			front, ok1 := palette[pair.front]
			ground, ok2 := palette[pair.ground]
			if got := (max(front, ground) + .05) / (min(front, ground) + .05); !ok1 || !ok2 || got < pair.least {
				t.Errorf("palette %d: %s on %s is %.2f:1, want %.1f:1", scheme, pair.front, pair.ground, got, pair.least)
			}
		}
	}
}

// luminance is the relative luminance of a colour.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 32)
	must(t, err)
	part := func(shift uint) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= .04045 {
			return c / 12.92
		}
		return math.Pow((c+.055)/1.055, 2.4)
	}
	return .2126*part(16) + .7152*part(8) + .0722*part(0)
}
