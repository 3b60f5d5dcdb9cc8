package memory

import "sync"

// commonKept is how many words are kept; when there are more, all are counted again.
const commonKept = 8192

// notCounted stands for how many of the newest turns hold a common word while nobody wanted to know.
const notCounted = -1

// commonWords keeps which words of which users were found to be common, and how many of the newest
// turns held them then. Such a word stays common, near enough: what is kept only decides which words
// are looked for.
type commonWords struct {
	mutex sync.Mutex // guards the fields below
	turns map[string]int
	large map[int64]bool // the users who have more turns than are counted
}

// get returns what is kept of a word in the form of match.
func (c *commonWords) get(word string) (turns int, ok bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	turns, ok = c.turns[word]
	return turns, ok
}

func (c *commonWords) put(word string, turns int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.turns == nil || len(c.turns) >= commonKept {
		c.turns = map[string]int{}
	}
	c.turns[word] = turns
}

func (c *commonWords) isLarge(user int64) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.large[user]
}

func (c *commonWords) setLarge(user int64) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.large == nil || len(c.large) >= commonKept {
		c.large = map[int64]bool{}
	}
	c.large[user] = true
}
