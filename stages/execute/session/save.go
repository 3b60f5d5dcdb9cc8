package session

import (
	"fmt"
	"time"

	"sluice/internal/wire"
)

// The functions of this file write to the one connection for it, inside a transaction.

// insertTurn stores a turn without its steps. id is 0 for a new one.
func insertTurn(c *connection, k key, t *wire.Turn, id int64) (int64, error) {
	var given any
	if id != 0 {
		given = id
	}
	return c.insert("INSERT INTO turns(id, user_id, session_id, trace_id, agent, input, started, ended, status, response, begin_sum, end_sum) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
		given, k.user, k.session, t.TraceID, t.Agent, t.Input, t.Started.UnixMilli(), endedAt(t), string(t.Status), t.Response, beginSum(k, t), endSum(t))
}

func endedAt(t *wire.Turn) any {
	if t.Status == wire.TurnRunning {
		return nil
	}
	return time.Now().UnixMilli()
}

func insertStep(c *connection, turn int64, s *wire.TurnStep) error {
	if _, err := c.exec("INSERT INTO steps(turn_id, number, text, calls, sum) VALUES(?,?,?,?,?)",
		turn, s.Number, s.Text, len(s.Calls), stepSum(turn, s)); err != nil {
		return err
	}
	for i := range s.Calls {
		call := &s.Calls[i]
		if _, err := c.exec("INSERT INTO calls(turn_id, step, idx, call_id, function, arguments, tool, sum, started) VALUES(?,?,?,?,?,?,?,?,?)",
			turn, s.Number, i, call.ID, call.Function, call.Arguments, call.Tool, callSum(turn, s.Number, i, call), truth(call.Started)); err != nil {
			return err
		}
	}
	return nil
}

func insertResult(c *connection, turn int64, step, index int, r *wire.ToolResult) error {
	_, err := c.exec("INSERT INTO results(turn_id, step, idx, status, text, retryable, took, sum) VALUES(?,?,?,?,?,?,?,?)",
		turn, step, index, string(r.Status), r.Text, truth(r.Retryable), int64(r.Took), resultSum(turn, step, index, r))
	return err
}

func startCall(c *connection, turn int64, step, index int) error {
	return one(c.exec("UPDATE calls SET started = 1 WHERE turn_id = ? AND step = ? AND idx = ?", turn, step, index))
}

// updateStatus stores the turn's status and response, and notes in the journal that it ended.
func updateStatus(c *connection, id int64, t *wire.Turn) error {
	if err := one(c.exec("UPDATE turns SET ended = ?, status = ?, response = ?, end_sum = ? WHERE id = ?",
		endedAt(t), string(t.Status), t.Response, endSum(t), id)); err != nil {
		return err
	}
	if t.Status == wire.TurnRunning {
		return nil
	}
	return journal(c, id, false)
}

func journal(c *connection, id int64, deleted bool) error {
	_, err := c.exec("INSERT INTO journal(turn_id, deleted) VALUES(?,?)", id, truth(deleted))
	return err
}

// one makes an error of a change that met no row.
func one(changed int64, err error) error {
	if err == nil && changed == 0 {
		return errGone
	}
	return err
}

// insertWhole stores a turn with all that belongs to it, in place of what there is of it.
func insertWhole(c *connection, k key, t *wire.Turn, id int64) (int64, error) {
	if id != 0 {
		if err := deleteTurn(c, id); err != nil {
			return 0, err
		}
	}
	id, err := insertTurn(c, k, t, id)
	if err != nil {
		return 0, err
	}
	for i := range t.Steps {
		if err := insertWholeStep(c, id, &t.Steps[i]); err != nil {
			return 0, err
		}
	}
	if t.Status == wire.TurnRunning {
		return id, nil
	}
	return id, journal(c, id, false)
}

func insertWholeStep(c *connection, turn int64, s *wire.TurnStep) error {
	if err := insertStep(c, turn, s); err != nil {
		return err
	}
	for i := range s.Calls {
		if r := s.Calls[i].Result; r != nil {
			if err := insertResult(c, turn, s.Number, i, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// turnTables are the tables with rows of a turn, the name of its id in each and the number of columns.
var turnTables = []struct {
	name, id string
	columns  int
}{{"results", "turn_id", 8}, {"calls", "turn_id", 9}, {"steps", "turn_id", 5}, {"turns", "id", 12}}

func deleteTurn(c *connection, id int64) error {
	for _, table := range turnTables {
		if _, err := c.exec("DELETE FROM "+table.name+" WHERE "+table.id+" = ?", id); err != nil {
			return err
		}
	}
	return nil
}

// quarantine moves every row of a turn to the table damaged.
func quarantine(c *connection, id int64, why string) error {
	for _, table := range turnTables {
		columns := ""
		for i := range table.columns {
			columns += fmt.Sprintf(", c%d", i+1)
		}
		if _, err := c.exec("INSERT INTO damaged(moved, reason, source"+columns+") SELECT ?, ?, ?, * FROM "+table.name+" WHERE "+table.id+" = ?",
			time.Now().UnixMilli(), why, table.name, id); err != nil {
			return err
		}
	}
	if err := deleteTurn(c, id); err != nil {
		return err
	}
	return journal(c, id, true)
}
