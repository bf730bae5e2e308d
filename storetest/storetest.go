// Package storetest holds every engine of the store to the same behaviour.
package storetest

import (
	"reflect"
	"slices"
	"testing"

	"lintel/store"
)

// Open gives a test an engine on an empty database with the current schema.
// The suite closes it.
type Open func(t *testing.T) store.Engine

// testCase is one behaviour of one method of store.Store.
type testCase struct {
	method string
	name   string
	run    func(t *testing.T, h *house)
}

func cases() []testCase {
	return slices.Concat(peopleCases, tokenCases, controllerCases, driverCases, deviceCases, authorityCases, recordCases,
		settleCases, lateCases, historyCases, eventCases, toggleCases, stateCases, clientCases, grantCases, redeemCases, deviceCodeCases,
		sessionCases, signInCases, ticketCases, enrolmentCases, expungeCases, raceCases, grantRaceCases, closeCases)
}

// Exercise runs the suite, each case on a database of its own.
func Exercise(t *testing.T, open Open) {
	t.Run("every method has a case", everyMethod)
	for _, c := range cases() {
		t.Run(c.method+"/"+c.name, func(t *testing.T) { c.run(t, build(t, open(t))) })
	}
}

// everyMethod fails when store.Store has a method that no case is about, so
// that a new one cannot be forgotten.
func everyMethod(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range cases() {
		covered[c.method] = true
	}
	methods := reflect.TypeFor[*store.Store]()
	for i := range methods.NumMethod() {
		name := methods.Method(i).Name
		if !covered[name] {
			t.Errorf("no case is about store.Store.%s", name)
		}
		delete(covered, name)
	}
	for name := range covered {
		t.Errorf("cases are about store.Store.%s, which does not exist", name)
	}
}
