package main

import (
	"context"
	"time"
)

// measureStart takes the time from starting the service, with an empty data
// directory, to its first answer.
func (b *bench) measureStart(ctx context.Context) error {
	var times []float64
	for range b.extent.starts {
		took, err := b.startOnce(ctx)
		if err != nil {
			return err
		}
		times = append(times, took.Seconds()*1e3)
	}
	b.add(figure{
		Name: "start to ready, empty database", Value: median(times), Unit: "ms", Budget: 300,
		Note: "Start to ready: from exec of lintel serve to 200 from /healthz on a new connection, migrations included; the median of several.",
	})
	return nil
}

func (b *bench) startOnce(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	s, err := b.serve(ctx)
	if err != nil {
		return 0, err
	}
	return time.Since(began), s.close()
}
