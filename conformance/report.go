package conformance

import (
	"encoding/xml"
	"io"
	"time"
)

// Result is one rule judged.
type Result struct {
	Rule    string        `json:"rule"`
	Section string        `json:"section"`
	Says    string        `json:"says"`
	Outcome Outcome       `json:"outcome"`
	Seen    string        `json:"seen"` // what was seen instead, or why it was skipped
	Took    time.Duration `json:"took_ns"`
}

// Report is one run.
type Report struct {
	Controller string
	Results    []Result
}

// Count returns how many rules were judged so.
func (r Report) Count(o Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == o {
			n++
		}
	}
	return n
}

// The elements of a JUnit file, as CI systems read it.
type (
	junitSuites struct {
		XMLName xml.Name   `xml:"testsuites"`
		Suite   junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Errors   int         `xml:"errors,attr"`
		Time     float64     `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string    `xml:"name,attr"`
		Class   string    `xml:"classname,attr"`
		Time    float64   `xml:"time,attr"`
		Failure *junitSay `xml:"failure,omitempty"`
		Skipped *junitSay `xml:"skipped,omitempty"`
	}
	junitSay struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes the report as JUnit XML.
func (r Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{
		Name: "lintel conformance " + r.Controller, Tests: len(r.Results), Failures: r.Count(Fail), Skipped: r.Count(Skip),
	}
	for _, result := range r.Results {
		suite.Time += result.Took.Seconds()
		suite.Cases = append(suite.Cases, junitOf(result))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitOf(result Result) junitCase {
	c := junitCase{Name: result.Rule, Class: "controller-protocol." + result.Section, Time: result.Took.Seconds()}
	say := &junitSay{Message: result.Seen, Text: "Rule: " + result.Says}
	switch result.Outcome {
	case Fail:
		c.Failure = say
	case Skip:
		c.Skipped = say
	}
	return c
}
