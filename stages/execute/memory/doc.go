// Package memory finds what past turns of a user have to do with a text: an index over the session
// store's turns, searched by words (SQLite FTS5, ranked by BM25) and, where there is an embedding
// model, by meaning (cosine of vectors), the two fused by reciprocal rank.
//
// The index is derived and disposable. It has a file of its own, memory.db, beside the session store's
// sessions.db, which is only read: its table journal names each turn that ended or was deleted, in
// commit order, and the index remembers the last entry that it followed in the transaction that did.
// A memory.db that is damaged or of another version is set aside (the newest such file is kept) and
// built anew; where none can be written the index is kept in memory and holds the newest turns. Text
// is not stored twice: snippets are read from sessions.db, which also asks once more whose they are.
// The words of a deleted turn can't be found any more at once; FTS5 removes them from the file when it
// merges its segments.
//
// How words are found. Each word is indexed with its user's number before it ("17:staging"), so a
// user's words have lists of their own: the number of other users costs nothing, and no query can
// reach their words. A run of a script that is written without spaces (Chinese, Japanese, Thai and so
// on; Korean too) is indexed as pairs of neighbouring characters, as Lucene's CJKBigramFilter does,
// and its last character alone, so a single character is found as the beginning of a pair; trigrams
// can't find the many Chinese words of two characters. Words that don't tell one turn from another (those
// of more than a quarter of the user's turns, and function words) are not looked for: they would bring
// turns that have nothing to do with the text. Ranking costs about 2 µs for each turn that holds one of
// the words, so the rarest words of the text are taken while their turns come to at most 700; when
// those bring too little, common words are looked for in the user's newest 1,000 turns.
//
// How meaning is found. A vector's signs, a bit a dimension, are kept in memory (for 384 dimensions
// about 70 bytes a turn, against 1,536 of the vector); the turns whose signs differ in the fewest
// bits from the query's are ranked exactly, by their vectors from the file. Some turn is always the
// nearest, so only those count whose cosine stands out from what is typical of the user's turns (see
// floorOf), or that words found too.
//
// Figures, for 100,000 turns of 185 words (half of them the asking user's, Zipf-distributed), as CPU
// time on one 2026 Xeon core, since the machine was shared: by words p50 1 to 8 ms and p99 3 to 12 ms
// from rare words to a text of 2,000; with vectors of 384 dimensions p50 3 to 11 ms and p99 8 to 15 ms;
// opened in 11 ms, built in 20 to 50 s, 96 MiB without vectors. What was measured and left: ranking
// all turns that hold a word (50 to 100 ms for one common word); merging the index into one segment
// after the build (a quarter less time a search, 7 s a merge); comparing all 100,000 vectors in memory
// (41 ms and 154 MB, where signs take 3 ms and 7 MB).
//
// Concurrency law: [Index.Retrieve] may be called from any goroutine and only reads. The first call
// starts one goroutine that opens both files, follows the journal, alone writes words, and closes the
// files; with an embedding model another one gets the missing vectors, newest turns first. Whoever
// uses the files holds the read side of Index.files; only the first goroutine opens, sets aside and
// closes, under its write side. [Index.Close] ends both.
package memory
