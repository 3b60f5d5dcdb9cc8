package keychain

import (
	"strings"

	"github.com/zalando/go-keyring"
)

// system is the keychain of the operating system.
type system struct{}

func (system) get(account string) (string, error) {
	if err := reachable(); err != nil {
		return "", err
	}
	return keyring.Get(Service, account)
}

func (system) set(account, value string) error {
	if err := reachable(); err != nil {
		return err
	}
	return keyring.Set(Service, account, value)
}

func (system) remove(account string) error {
	if err := reachable(); err != nil {
		return err
	}
	return keyring.Delete(Service, account)
}

// oneLine returns the beginning of an error's text as one line.
func oneLine(text string) string {
	const most = 200
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		runes = append(runes[:most], '…')
	}
	return string(runes)
}
