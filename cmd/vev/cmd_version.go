package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/protocol"
)

func (c *cli) cmdVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version [--json]",
		Short: "Show the version",
		Long:  "Show the version of vev, of the Go it was built with, and of the protocol it speaks.",
		Example: `  vev version
  vev version --json`,
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return c.version(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "answer as JSON")
	return cmd
}

func (c *cli) version(asJSON bool) error {
	if !asJSON {
		fmt.Fprintf(c.out, "vev %s, protocol %s, %s, %s/%s\n",
			version, protocolRange(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return nil
	}
	type protocolJSON struct {
		Min uint32 `json:"min"`
		Max uint32 `json:"max"`
	}
	return c.printJSON(struct {
		Version  string       `json:"version"`
		Go       string       `json:"go"`
		OS       string       `json:"os"`
		Arch     string       `json:"arch"`
		Protocol protocolJSON `json:"protocol"`
	}{version, runtime.Version(), runtime.GOOS, runtime.GOARCH, protocolJSON{protocol.MinVersion, protocol.MaxVersion}})
}

func protocolRange() string {
	if protocol.MinVersion == protocol.MaxVersion {
		return fmt.Sprint(protocol.MaxVersion)
	}
	return fmt.Sprintf("%d to %d", protocol.MinVersion, protocol.MaxVersion)
}
