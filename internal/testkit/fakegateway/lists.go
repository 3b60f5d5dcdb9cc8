package fakegateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// defaultAgents are n agents: one with every member, one with none but its names, a harness, and others
// of which every third is shared.
func defaultAgents(n int) []Object {
	list := []Object{
		{"id": 71, "workflow_id": "wf_abc", "workflow_name": "Sales Agent", "node_count": 5, "is_shared": false, "is_deployed": true,
			"is_completed": true, "workflow_type": "canvas", "description": "sells", "username": "ann", "full_name": "Ann Example",
			"created_at": "2026-03-02T08:15:00", "updated_at": "2026-05-11T17:45:00"},
		{"id": 72, "workflow_id": "wf_bare", "workflow_name": "Bare", "node_count": nil, "description": nil},
		{"id": 73, "workflow_id": "wf_harness", "workflow_name": "Harness One", "workflow_type": "harness"},
	}
	for i := len(list); i < n; i++ {
		list = append(list, Object{"id": 100 + i, "workflow_id": fmt.Sprintf("wf_%d", i), "workflow_name": fmt.Sprintf("Agent %d", i),
			"node_count": i, "is_shared": i%3 == 0, "workflow_type": "canvas"})
	}
	return list
}

func defaultConversations() []Object {
	return []Object{
		{"id": 1, "interaction_id": "conv-1", "workflow_id": "wf_abc", "workflow_name": "Sales Agent", "interaction_count": 3,
			"metadata": Object{"pinned": true}, "created_at": "2026-03-02T08:15:00", "updated_at": "2026-05-11T17:45:00"},
		{"id": 2, "interaction_id": "conv-2", "workflow_id": "wf_bare", "workflow_name": "Bare"},
	}
}

func defaultLogs() []Object {
	list := []Object{
		{"log_id": 1, "io_id": 11, "input_data": "hello", "output_data": "안녕하세요"},
		{"log_id": 2, "io_id": 12, "output_data": Object{"answer": "yes"}, "input_data": []any{
			Object{"type": "text", "text": "look"}, Object{"type": "image_url", "image_url": Object{"url": "data:"}}, Object{"type": "text", "text": "here"}}},
		{"log_id": 3, "io_id": 13, "input_data": nil, "output_data": 7},
	}
	for _, item := range list {
		item["interaction_id"], item["workflow_id"], item["workflow_name"] = "conv-1", "wf_abc", "Sales Agent"
		item["updated_at"] = "2026-05-11T17:45:00"
	}
	return list
}

// SetAgents, SetConversations and SetLogs replace what the lists hold.
func (s *Server) SetAgents(list []Object) { s.set(func() { s.agents = list }) }

// SetConversations is described at SetAgents.
func (s *Server) SetConversations(list []Object) { s.set(func() { s.talks = list }) }

// SetLogs is described at SetAgents.
func (s *Server) SetLogs(list []Object) { s.set(func() { s.logs = list }) }

// Run says that a conversation has a run under way, elsewhere that it is on another server.
func (s *Server) Run(interaction string, elsewhere bool) {
	s.set(func() { s.runs[interaction], s.away[interaction] = true, elsewhere })
}

// Stopped are the conversations whose run was asked to stop.
func (s *Server) Stopped() (ids []string) {
	s.set(func() { ids = append(ids, s.stopped...) })
	return ids
}

func (s *Server) conversations() (list []Object) {
	s.set(func() { list = s.talks })
	return list
}

func (s *Server) listAgents(w http.ResponseWriter, query map[string]string) {
	page, size := number(query["page"], 1), number(query["page_size"], 24)
	var found []Object
	s.set(func() {
		for _, agent := range s.agents {
			if listed(agent, query) {
				found = append(found, agent)
			}
		}
	})
	from := min((page-1)*size, len(found))
	reply(w, http.StatusOK, Object{
		"items":      append([]Object{}, found[from:min(from+size, len(found))]...),
		"pagination": Object{"page": page, "page_size": size, "total_count": len(found), "total_pages": (len(found) + size - 1) / size},
	})
}

func listed(agent Object, query map[string]string) bool {
	name, _ := agent["workflow_name"].(string)
	shared, _ := agent["is_shared"].(bool)
	return (query["include_harness"] == "true" || agent["workflow_type"] != "harness") &&
		strings.Contains(strings.ToLower(name), strings.ToLower(query["search"])) &&
		(query["owner"] == "" || shared == (query["owner"] == "shared"))
}

func number(text string, missing int) int {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return missing
}

func (s *Server) listLogs(w http.ResponseWriter, query map[string]string) {
	found, running := []Object{}, false
	s.set(func() {
		for _, item := range s.logs {
			if item["workflow_id"] == query["workflow_id"] && item["interaction_id"] == query["interaction_id"] {
				found = append(found, item)
			}
		}
		running = s.running(query["interaction_id"])
	})
	reply(w, http.StatusOK, Object{"in_out_logs": found, "running": running})
}

func (s *Server) stop(w http.ResponseWriter, interaction string) {
	var away, runs bool
	s.set(func() {
		s.stopped = append(s.stopped, interaction)
		away, runs = s.away[interaction], s.running(interaction)
		if !away {
			s.end(interaction)
		}
	})
	switch {
	case away:
		refuse(w, http.StatusConflict, "runs on another server")
	case !runs:
		refuse(w, http.StatusNotFound, "nothing runs")
	default:
		reply(w, http.StatusOK, Object{"stopped": true, "interaction_id": interaction})
	}
}

// running reports whether a conversation has a run; the lock is held.
func (s *Server) running(interaction string) bool {
	for stream := range s.streams {
		if stream.interaction == interaction {
			return true
		}
	}
	return s.runs[interaction]
}

// end ends the runs of a conversation; the lock is held.
func (s *Server) end(interaction string) {
	delete(s.runs, interaction)
	for stream := range s.streams {
		if stream.interaction == interaction && !stream.ended {
			stream.ended = true
			close(stream.stop)
		}
	}
}
