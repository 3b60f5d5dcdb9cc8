package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"sluice/sources/demo"
)

func newModel(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "model FILE.gguf",
		Short: "Write the embedded demo model as a GGUF file that llama-server loads",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one file to write, for instance demo.gguf")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := demo.WriteFile(args[0]); err != nil {
				return &failure{exitFailed, err.Error()}
			}
			info, err := os.Stat(args[0])
			if err != nil {
				return &failure{exitFailed, err.Error()}
			}
			_, err = fmt.Fprintf(s.out, "wrote %s (%.1f MiB)\n", args[0], float64(info.Size())/(1<<20))
			return err
		},
	}
}
