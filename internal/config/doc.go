// Package config reads Sluice's configuration: one YAML file, overridden by single SLUICE_*
// environment variables, checked as a whole before anything starts.
//
// Every fault is one [Error], whose text is one line naming file, line and key (or the variable).
// No message ever holds a value from the file or the environment, so none can hold a secret; the
// YAML library's own messages quote the source and are never passed on.
//
// Concurrency law: Load starts no goroutine and keeps nothing. A Config is plain data; once loaded
// nobody changes it, so it may be read from anywhere. Files are closed before Load returns.
package config
