package stdout

// turns is the order in which mailboxes with something to say have their turn: a linked list, since
// hundreds of streams may wait and each turn moves one of them. It is guarded by the sink's lock.
type turns struct{ front, back *mailbox }

// join puts a mailbox at the back unless it stands in the order already.
func (t *turns) join(m *mailbox) {
	if m.queued {
		return
	}
	m.queued = true
	if t.front == nil {
		t.front = m
	} else {
		t.back.next = m
	}
	t.back = m
}

// leave takes a mailbox out of the order.
func (t *turns) leave(m *mailbox) {
	var before *mailbox
	for other := t.front; other != m; other = other.next {
		before = other
	}
	if before == nil {
		t.front = m.next
	} else {
		before.next = m.next
	}
	if t.back == m {
		t.back = before
	}
	m.next, m.queued = nil, false
}

// fattest returns the mailbox that holds the most event bytes, if it holds more than least.
func (t *turns) fattest(least int64) *mailbox {
	var fattest *mailbox
	for m := t.front; m != nil; m = m.next {
		if m.eventBytes > least {
			fattest, least = m, m.eventBytes
		}
	}
	return fattest
}
