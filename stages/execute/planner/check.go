package planner

import (
	"fmt"
	"strings"

	gguf "github.com/gpustack/gguf-parser-go"
)

// limits are the largest believable values of an architecture's keys, by the key's end. block_count's
// is LLAMA_MAX_LAYERS and expert_count's LLAMA_MAX_EXPERTS of llama.cpp (src/llama-hparams.h); the
// others leave room above every known model and keep the products of an estimate below 2^64.
var limits = []struct {
	suffix string
	most   uint64
}{
	{".block_count", 512},
	{".expert_count", 512},
	{".expert_used_count", 512},
	{".head_count", 2048},
	{".head_count_kv", 2048},
	{".embedding_length", 1 << 20},
	{".feed_forward_length", 1 << 24},
	{".key_length", 1 << 14},
	{".value_length", 1 << 14},
	{".key_length_mla", 1 << 14},
	{".value_length_mla", 1 << 14},
	{".key_length_swa", 1 << 14},
	{".value_length_swa", 1 << 14},
	{".vocab_size", 1 << 24},
}

// otherLimit is that of all other keys with a whole number; context lengths are the largest of them.
const otherLimit = 1 << 27

// checkValues refuses numbers with which an estimate would never end or mean nothing.
func (h *header) checkValues(architecture string) error {
	prefix := architecture + "."
	for _, entry := range h.entries {
		if !strings.HasPrefix(entry.Key, prefix) {
			continue
		}
		most := limitOf(entry.Key)
		if array, ok := entry.Value.(gguf.GGUFMetadataKVArrayValue); ok {
			if err := checkArray(entry.Key, array, most); err != nil {
				return err
			}
			continue
		}
		if err := checkValue(entry.Key, entry.Value, most); err != nil {
			return err
		}
	}
	return nil
}

func limitOf(key string) uint64 {
	for _, l := range limits {
		if strings.HasSuffix(key, l.suffix) {
			return l.most
		}
	}
	return otherLimit
}

func checkArray(key string, array gguf.GGUFMetadataKVArrayValue, most uint64) error {
	if array.Type != gguf.GGUFMetadataValueTypeString && uint64(len(array.Array)) != array.Len {
		return fmt.Errorf("has the metadata key %q with %d values, where there should be one a layer; it is damaged", key, array.Len)
	}
	for _, value := range array.Array {
		if err := checkValue(key, value, most); err != nil {
			return err
		}
	}
	return nil
}

func checkValue(key string, value any, most uint64) error {
	switch value.(type) {
	case string, bool, float32, float64:
		return nil
	}
	if n, ok := whole(value); !ok || n > most {
		return fmt.Errorf("has the metadata key %q with the value %v, which can't be (at most %d); it is damaged", key, value, most)
	}
	return nil
}
