package client_test

import (
	"os"
	"testing"

	"github.com/vev-term/vev/internal/testkit/livevev"
)

func TestMain(m *testing.M) { os.Exit(livevev.Main(m)) }
