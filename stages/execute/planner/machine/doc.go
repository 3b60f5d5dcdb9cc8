// Package machine says what memory, processors and GPUs there are for a model: the operating system's
// figures, the limits of the control groups that this process is in, and the GPUs that llama-server
// finds.
//
// Concurrency law: a [Machine] may be used from any goroutine and owns none. It keeps what doesn't change;
// one caller looks for it while the others wait, each as long as its context allows. Nothing here needs
// closing.
package machine
