package hostfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// maxFileBytes bounds a file; a longer one is damaged. The fullest set has less than half.
const maxFileBytes = 128 << 10

const (
	formatName    = "vev-hosts"
	formatVersion = 1
)

// hostsJSON is what the file holds behind its first line.
type hostsJSON struct {
	Revision uint64        `json:"revision"`
	Hosts    []hostJSON    `json:"hosts"`
	Removed  []removedJSON `json:"removed"`
}

type hostJSON struct {
	Alias     string    `json:"alias"`
	Address   string    `json:"address"`
	Transport string    `json:"transport"`
	Start     string    `json:"start"`
	Added     time.Time `json:"added"`
	Since     uint64    `json:"since"`
}

type removedJSON struct {
	Alias    string `json:"alias"`
	Address  string `json:"address"`
	Revision uint64 `json:"revision"`
}

const (
	startNeeded = "needed"
	startNever  = "never"
)

// encode is the one form of a set.
func encode(s domain.Hosts) ([]byte, error) {
	j := hostsJSON{Revision: s.Revision, Hosts: []hostJSON{}, Removed: []removedJSON{}}
	for _, k := range s.Known {
		start := startNeeded
		if k.Policy.Start == domain.ExistingOnly {
			start = startNever
		}
		j.Hosts = append(j.Hosts, hostJSON{k.Alias, k.Address.String(), k.Policy.Transport.String(), start, k.Added, k.Since})
	}
	for _, r := range s.Removed {
		j.Removed = append(j.Removed, removedJSON{r.Alias, r.Address.String(), r.Revision})
	}
	body, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		return nil, err
	}
	body = append(body, '\n')
	return append(head(body), body...), nil
}

func head(body []byte) []byte {
	sum := sha256.Sum256(body)
	return []byte(formatName + " " + strconv.Itoa(formatVersion) + " sha256:" + hex.EncodeToString(sum[:]) + "\n")
}

// decode reads what encode writes, and nothing else. The fault is Incompatible for the format of a newer vev; everything
// else is damage.
func decode(file []byte) (domain.Hosts, error) {
	if len(file) > maxFileBytes {
		return domain.Hosts{}, damaged("it has more than %d bytes", maxFileBytes)
	}
	first, body, ok := bytes.Cut(file, []byte("\n"))
	if !ok {
		return domain.Hosts{}, damaged("it has no first line")
	}
	if err := checkHead(string(first)); err != nil {
		return domain.Hosts{}, err
	}
	if !bytes.HasPrefix(file, head(body)) {
		return domain.Hosts{}, damaged("it does not fit its checksum")
	}
	var j hostsJSON
	if err := json.Unmarshal(body, &j); err != nil {
		return domain.Hosts{}, damaged("%s", err)
	}
	s, err := j.hosts()
	if err == nil {
		err = s.Check()
	}
	if err != nil {
		return domain.Hosts{}, damaged("%s", err)
	}
	if again, err := encode(s); err != nil || !bytes.Equal(again, file) {
		return domain.Hosts{}, damaged("it is not as vev writes it")
	}
	return s, nil
}

// checkHead judges the first line but for its checksum.
func checkHead(line string) error {
	rest, ok := strings.CutPrefix(line, formatName+" ")
	if !ok {
		return damaged("it does not begin with %q", formatName)
	}
	number, _, _ := strings.Cut(rest, " ")
	version, err := strconv.ParseUint(number, 10, 16)
	switch {
	case err != nil || version == 0:
		return damaged("it has no format that is known")
	case version > formatVersion:
		return fault.New(fault.Incompatible, "the list of hosts was written by a newer vev (format %d, this one knows %d)", version, formatVersion).
			WithHint("use that vev")
	}
	return nil
}

func damaged(format string, args ...any) error { return fault.New(fault.Internal, format, args...) }

func (j hostsJSON) hosts() (domain.Hosts, error) {
	s := domain.Hosts{Revision: j.Revision}
	for _, h := range j.Hosts {
		address, err := domain.ParseHost(h.Address)
		if err != nil {
			return s, err
		}
		transport, err := domain.ParseTransport(h.Transport)
		if err != nil {
			return s, err
		}
		policy := domain.HostPolicy{Transport: transport}
		switch h.Start {
		case startNeeded:
		case startNever:
			policy.Start = domain.ExistingOnly
		default:
			return s, damaged("start %q", fault.Clean(h.Start))
		}
		s.Known = append(s.Known, domain.KnownHost{Alias: h.Alias, Address: address, Policy: policy, Added: h.Added, Since: h.Since})
	}
	for _, r := range j.Removed {
		address, err := domain.ParseHost(r.Address)
		if err != nil {
			return s, err
		}
		s.Removed = append(s.Removed, domain.RemovedHost{Alias: r.Alias, Address: address, Revision: r.Revision})
	}
	return s, nil
}
