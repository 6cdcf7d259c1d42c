package main

import (
	"context"
	"fmt"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

func (c *cli) cmdStats() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats [--json]",
		Short: "Show what broker and daemon hold",
		Long: `Show what the two processes in the background hold and have done: streams, credit,
queues, bytes, frames, waits and memory. A part that does not run is left out; as
JSON it is null.`,
		Example: `  vev stats
  vev stats --json | jq .daemon.heap_bytes`,
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return c.stats(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

// statsJSON has null for what does not run.
type statsJSON struct {
	Broker *protocol.BrokerNumbers `json:"broker"`
	Daemon *protocol.DaemonNumbers `json:"daemon"`
}

func (c *cli) stats(ctx context.Context, asJSON bool) error {
	all, err := c.numbers(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return c.printJSON(all)
	}
	if all.Broker == nil && all.Daemon == nil {
		c.say("neither broker nor daemon runs; the next command that needs them starts them")
		return nil
	}
	var rows [][]string
	if all.Broker != nil {
		rows = append(rows, numberRows("broker", all.Broker)...)
	}
	if all.Daemon != nil {
		rows = append(rows, numberRows("daemon", all.Daemon)...)
	}
	return writeTable(c.out, rows)
}

// numberRows are the fields of a struct of numbers under the names they have as JSON.
func numberRows(part string, numbers any) [][]string {
	v := reflect.Indirect(reflect.ValueOf(numbers))
	var rows [][]string
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("json"); name != "-" {
			rows = append(rows, []string{part, name, fmt.Sprint(v.Field(i).Interface())})
		}
	}
	return rows
}

// numbers asks both processes. What does not run is nil, and is not started for that.
func (c *cli) numbers(ctx context.Context) (statsJSON, error) {
	ctx, cancel := context.WithTimeout(ctx, protocol.RequestTimeout)
	defer cancel()
	var all statsJSON
	broker, err := dialer(domain.Host{}, protocol.ExistingOnly).Broker(ctx)
	if talk.IsNoDaemon(err) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	numbers, err := broker.Stats(ctx)
	_ = broker.Close()
	if err != nil {
		return all, err
	}
	all.Broker = &numbers
	t, err := c.begin(ctx, domain.Host{}, protocol.ExistingOnly)
	if talk.IsNoDaemon(err) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	defer t.Close()
	answer, err := talk.BodyOf[*protocol.StatsResult](t.Ask(0, &protocol.Stats{}))
	if err != nil {
		return all, err
	}
	daemon := answer.Stats
	all.Daemon = &daemon
	return all, nil
}
