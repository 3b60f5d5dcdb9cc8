package session

import (
	"context"
	"database/sql"
	"fmt"
)

// rowSource runs a query. Its rows are closed before the next query, since in memory there is one
// connection.
type rowSource func(ctx context.Context, query string, args ...any) (*sql.Rows, error)

// fields are the columns of one row, taken in order. bad says what was of the wrong type.
type fields struct {
	values []any
	bad    string
}

func (f *fields) spoil(fault string) {
	if f.bad == "" {
		f.bad = fault
	}
}

func (f *fields) next() any {
	value := f.values[0]
	f.values = f.values[1:]
	return value
}

func (f *fields) text() string {
	text, ok := f.next().(string)
	if !ok {
		f.spoil("a text is of another type")
	}
	return text
}

func (f *fields) number() int64 {
	n, ok := f.next().(int64)
	if !ok {
		f.spoil("a number is of another type")
	}
	return n
}

// eachRow gives take the rows of a query one after the other.
func eachRow(ctx context.Context, query rowSource, text string, take func(*fields), args ...any) error {
	return eachRowUntil(ctx, query, text, func(f *fields) bool {
		take(f)
		return true
	}, args...)
}

// eachRowUntil is eachRow until take says that it was enough.
func eachRowUntil(ctx context.Context, query rowSource, text string, take func(*fields) bool, args ...any) error {
	rows, err := query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, places := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return fmt.Errorf("a row can't be read: %w", err)
		}
		if !take(&fields{values: values}) {
			break
		}
	}
	return rows.Err()
}
