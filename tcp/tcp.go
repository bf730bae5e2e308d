// Package tcp sets connections up so that what was sent on them dies with them: a
// plain close lets the kernel deliver it after all, when the network comes back.
package tcp
