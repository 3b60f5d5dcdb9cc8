package doctor

import "os"

// writable makes a file and removes it: the permissions of a folder alone don't tell here.
func writable(folder string) error {
	file, err := os.CreateTemp(folder, ".sluice-doctor-*")
	if err != nil {
		return err
	}
	name := file.Name()
	_ = file.Close()
	return os.Remove(name)
}
