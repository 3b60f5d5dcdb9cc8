package guard

import "testing"

func TestProcessorIsTheFirstOfCpuinfo(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n\nprocessor\t: 1\nmodel\t: 9\n": "AMD EPYC family 26 model 2",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n":                                           "implementer 0x41 part 0xd0c",
		"": unknownProcessor,
	} {
		if got := parseProcessor(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
