package profile

import (
	"cmp"
	"context"
	"log/slog"
	"regexp"
	"slices"
	"sync"

	"sluice/internal/wire"
)

// Options of Profiles. Gateway and Keychain are needed; the zero value of the others is the default.
type Options struct {
	// Dir is the folder of config.json; empty stands for that of Folder.
	Dir string
	// LocalAgents says that the built-in profile has agents: a configuration of models exists. It is then
	// the current profile where no other was set.
	LocalAgents bool
	Gateway     Gateway
	Keychain    Keychain
	Logger      *slog.Logger // nil discards
}

// Profiles are a user's gateways and the sessions at them.
type Profiles struct {
	file     file
	unplaced error // there is no folder for the file
	local    bool
	gateway  Gateway
	keychain Keychain
	logger   *slog.Logger

	turns   turns   // by the names of locks: uses of sessions
	changes turns   // by profile: changes of what the keychain holds
	endings endings // of sessions

	ctx      context.Context // of the renewals; ends with Close
	cancel   context.CancelFunc
	running  sync.WaitGroup // renewals
	mu       sync.Mutex     // guards what follows
	renewals map[renewalKey]*renewal
	closed   bool
}

// New returns a user's profiles. Nothing is read or written before the first call.
func New(o Options) *Profiles {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var unplaced error
	if o.Dir == "" {
		o.Dir, unplaced = Folder()
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Profiles{
		file: file{o.Dir, o.Logger}, unplaced: unplaced, local: o.LocalAgents, gateway: o.Gateway, keychain: o.Keychain, logger: o.Logger,
		ctx: ctx, cancel: cancel, renewals: map[renewalKey]*renewal{},
	}
}

// Close ends the renewals that run and waits for them. Renewals that are asked for later fail.
func (p *Profiles) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.running.Wait()
}

func (p *Profiles) read() (*document, error) {
	if p.unplaced != nil {
		return nil, p.unplaced
	}
	return p.file.read()
}

func (p *Profiles) update(ctx context.Context, anew bool, change func(*document) (bool, error)) error {
	if p.unplaced != nil {
		return p.unplaced
	}
	return p.file.update(ctx, anew, change)
}

// List returns the profiles, sorted by name. The built-in one is among them once Use chose it. Errors are
// config_invalid.
func (p *Profiles) List() ([]wire.Profile, error) {
	d, err := p.read()
	if err != nil {
		return nil, err
	}
	list := []wire.Profile{}
	for name := range d.profiles {
		if found, err := p.find(d, name); err == nil {
			list = append(list, found)
		}
	}
	slices.SortFunc(list, func(a, b wire.Profile) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

// names are the names that profiles may have, by the contract.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Set gives a gateway a name, or a name another gateway, whose stored session it then forgets. The first
// profile becomes the current one. A damaged file is put aside. passed, if it isn't nil, is called once the
// file is written, before the keychain is asked. Errors are config_invalid.
func (p *Profiles) Set(ctx context.Context, name, serverURL string, passed func()) (wire.Profile, error) {
	if err := checkName(name); err != nil {
		return wire.Profile{}, err
	}
	serverURL, err := p.gateway.ServerURL(serverURL)
	if err != nil {
		return wire.Profile{}, err
	}
	set := wire.Profile{Name: name, ServerURL: serverURL}
	moved := false
	err = p.update(ctx, true, func(d *document) (bool, error) {
		entry, known := d.profiles[name]
		changed := !known || entry.text(serverMember) != serverURL
		before, err := p.find(d, name)
		moved = known && (err != nil || before.ServerURL != serverURL)
		d.put(name, serverURL)
		if d.current == "" {
			d.current, changed = name, true
		}
		set.Current = d.current == name
		return changed, nil
	})
	if err != nil {
		return wire.Profile{}, err
	}
	if moved {
		p.endings.add(name)
	}
	tell(passed)
	if moved {
		p.forget(ctx, set)
	}
	return set, nil
}

func checkName(name string) error {
	switch {
	case name == wire.LocalProfile:
		return wire.NewFault(wire.CodeConfigInvalid, "the name local is reserved for the built-in profile, which needs no server: choose another name, or profile/use it")
	case !names.MatchString(name):
		return wire.NewFault(wire.CodeConfigInvalid, "a profile's name has 1 to 64 letters, digits, dots, underscores and hyphens, a letter or digit first")
	}
	return nil
}

// forget removes the session of a server that the profile has no more; one of the server that it has now is
// of a later sign-in and stays. Should the keychain not let it, the session still counts as missing, since it
// names its server.
func (p *Profiles) forget(ctx context.Context, profile wire.Profile) {
	if err := p.forgetOther(ctx, profile); err != nil {
		p.logger.Warn("the session of the profile's earlier server stays in the keychain, unused", "profile", profile.Name, "error", err)
	}
}

func (p *Profiles) forgetOther(ctx context.Context, profile wire.Profile) error {
	release, err := p.alone(ctx, profile.Name)
	if err != nil {
		return err
	}
	defer release()
	if _, found, err := p.load(ctx, profile.Name, profile.ServerURL); found || err != nil {
		return err
	}
	return p.keychain.Delete(ctx, account(profile.Name))
}

// Use makes a profile the current one. An unknown one is not_found; other errors are config_invalid.
func (p *Profiles) Use(ctx context.Context, name string) (wire.Profile, error) {
	var used wire.Profile
	err := p.update(ctx, false, func(d *document) (changed bool, err error) {
		if name == wire.LocalProfile && d.profiles[name] == nil {
			d.put(name, wire.LocalServerURL)
			changed = true
		}
		if used, err = p.find(d, name); err != nil {
			return false, err
		}
		changed = changed || d.current != name
		d.current, used.Current = name, true
		return changed, nil
	})
	if err != nil {
		return wire.Profile{}, err
	}
	return used, nil
}

// Resolve returns the profile of a name, the current one for "". The built-in one is always there by its
// name, and the current one where no other was set and it has agents. Errors are not_found for an unknown
// name and config_invalid where no profile can be chosen.
func (p *Profiles) Resolve(name string) (wire.Profile, error) {
	d, err := p.read()
	if err != nil {
		return wire.Profile{}, err
	}
	named := cmp.Or(name, d.current)
	_, known := d.profiles[named]
	switch {
	case named == wire.LocalProfile:
		return wire.Profile{Name: named, ServerURL: wire.LocalServerURL, Current: name == "" || d.current == named}, nil
	case name != "" || known:
		return p.find(d, named)
	case len(d.profiles) > 0 || d.current != "":
		return wire.Profile{}, wire.NewFault(wire.CodeConfigInvalid, "no profile is the current one: choose one with profile/use")
	case p.local:
		return wire.Profile{Name: wire.LocalProfile, ServerURL: wire.LocalServerURL, Current: true}, nil
	}
	return wire.Profile{}, wire.NewFault(wire.CodeConfigInvalid, "no profile is set: name a gateway with profile/set")
}

// serverMember is the member of a profile in the file that holds its server's address.
const serverMember = "serverUrl"

// find returns a profile of the file.
func (p *Profiles) find(d *document, name string) (wire.Profile, error) {
	found := wire.Profile{Name: name, ServerURL: wire.LocalServerURL, Current: d.current == name}
	entry, ok := d.profiles[name]
	switch {
	case !ok:
		return wire.Profile{}, wire.NewFault(wire.CodeNotFound, "there is no profile of that name: profile/list shows those that are set, profile/set adds one")
	case name == wire.LocalProfile:
		return found, nil
	case !names.MatchString(name):
		return wire.Profile{}, checkName(name)
	}
	var err error
	if found.ServerURL, err = p.gateway.ServerURL(entry.text(serverMember)); err != nil { // somebody edited it
		return wire.Profile{}, wire.NewFault(wire.CodeConfigInvalid, "the profile "+name+" has no usable serverUrl in config.json: set it with profile/set")
	}
	return found, nil
}

// put sets a profile's address, and keeps what else the file holds of it.
func (d *document) put(name, serverURL string) {
	if d.profiles[name] == nil {
		d.profiles[name] = members{}
	}
	d.profiles[name].set("name", name)
	d.profiles[name].set(serverMember, serverURL)
}
