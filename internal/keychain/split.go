package keychain

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// split keeps values that are too long for one entry in several: the account's own entry then names a set
// of parts, which stand under accounts of their own. A change writes a new set before the account's entry
// names it and removes the old one after, so that whoever reads in between finds one or the other whole.
type split struct {
	backend
	largest int // bytes of one entry; 0 is no limit
}

// readAttempts bounds how often a read begins anew because the parts were replaced under it.
const readAttempts = 3

// mostParts bounds what a damaged index can ask for.
const mostParts = 1024

// index is what the account's entry holds when the value stands in parts.
type index struct {
	Set   string `json:"set"`
	Parts int    `json:"parts"`
}

// get returns a value; one of which a part is missing is none, so that a new sign-in can replace it.
func (s split) get(account string) (string, error) {
	for range readAttempts {
		head, err := s.backend.get(account)
		if err != nil {
			return "", err
		}
		in, ok := indexOf(head)
		if !ok {
			return head, nil
		}
		value, err := s.join(account, in)
		if !errors.Is(err, errNotFound) {
			return value, err
		}
	}
	return "", errNotFound
}

func (s split) join(account string, in index) (string, error) {
	value := ""
	for i := range in.Parts {
		part, err := s.backend.get(in.account(account, i))
		if err != nil {
			return "", err
		}
		value += part
	}
	return value, nil
}

func (s split) set(account, value string) error {
	if s.largest == 0 {
		return s.backend.set(account, value)
	}
	before, split := s.index(account)
	head, in, err := s.store(account, value)
	if err == nil {
		err = s.backend.set(account, head)
	}
	if err != nil {
		s.removeParts(account, in)
		return err
	}
	if split {
		s.removeParts(account, before)
	}
	return nil
}

// store writes the parts of a value that is too long, and returns what the account's entry is to hold.
func (s split) store(account, value string) (head string, in index, err error) {
	if len(value) <= s.largest {
		return value, in, nil
	}
	in = index{Set: randomName(), Parts: (len(value) + s.largest - 1) / s.largest}
	for i := range in.Parts {
		part := value[i*s.largest : min((i+1)*s.largest, len(value))]
		if err := s.backend.set(in.account(account, i), part); err != nil {
			return "", in, err
		}
	}
	text, err := json.Marshal(in)
	return string(text), in, err
}

func (s split) remove(account string) error {
	before, split := index{}, false
	if s.largest > 0 {
		before, split = s.index(account)
	}
	err := s.backend.remove(account)
	if err == nil && split {
		s.removeParts(account, before)
	}
	return err
}

// index returns the index that an account's entry holds, ok false when the value is whole or not there.
func (s split) index(account string) (in index, ok bool) {
	head, err := s.backend.get(account)
	if err != nil {
		return index{}, false
	}
	return indexOf(head)
}

func indexOf(head string) (in index, ok bool) {
	if json.Unmarshal([]byte(head), &in) != nil || in.Set == "" || in.Parts < 1 || in.Parts > mostParts {
		return index{}, false
	}
	return in, true
}

// removeParts removes what it can: a part that stays is no entry of any account.
func (s split) removeParts(account string, in index) {
	for i := range in.Parts {
		s.backend.remove(in.account(account, i))
	}
}

// account names a part; no name of a profile holds this sign.
func (in index) account(account string, part int) string {
	return fmt.Sprintf("%s#%s.%d", account, in.Set, part)
}

func randomName() string {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
