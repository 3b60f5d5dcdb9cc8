// Package toolcall makes out the tool calls of one model step: those that the server made out and
// whose arguments may be wrong, and those that the model wrote into its answer as text.
//
// A call that nobody meant is the worst that can come of it, so what has more than one reading is
// never a call. The rules:
//
// Repairs. Arguments are repaired only where one reading exists: a comma before a closing bracket, a
// code fence around, texts in single quotes, names without quotes, True, False and None, comments, raw
// control characters in texts, \' in texts, closing brackets too many or, where the model ended its
// answer itself, too few at the very end, the object inside a JSON string, nothing at all ({}), the
// same member twice with the same value. Everything else is a problem for the model: an unclosed text,
// a missing comma, a bare word, an invalid escape, a member twice with different values, nesting
// deeper than [wire.MaxDepth], and anything unfinished in an answer that the token limit cut.
//
// Names. The function's own name or server/tool; else, without regard to case, separators, quotes and
// a prefix such as "functions.", the one offered tool that fits, or the one whose name without its
// server fits. Several that fit are a problem; none leaves the name as it is, with Call.Tool empty.
//
// Calls in the text are looked for only when the server made none out and tools were offered:
//   - Markup counts outside code fences, code spans and thoughts (<think> and the like), at the start
//     of a line that is not indented as code, or after the end of a sentence. Amid a sentence, behind a
//     colon, quoted or as an item of a list it may be talk about markup; where that would read as a call of an offered
//     tool and ends the answer, the model is asked, else it is text.
//   - Calls end an answer. Where more text follows them, the model is asked and nothing is called.
//   - Markup that announces a call and can't be read is a problem, and nothing behind it is read:
//     what looks like a call there may be part of a broken text.
//   - Parameters written as markup rather than JSON have the types of the tool's schema; where that
//     doesn't say whether a value is a text and it reads as something else, the model is asked.
//   - Without markup, JSON objects or a list, also in a json or unlabelled fence, are calls only when
//     they are the whole answer, have no members but those of a call, have arguments, and name offered
//     tools; the same holds for a list of calls written as Python, [name(member=value)]. What is broken
//     there but begins as the call of an offered tool is a problem; all else is text.
//   - A tool's schema in place of arguments is no call: the model repeated what it was offered.
//   - The answer's text is searched in one pass; the work is linear in its length.
//
// Problems quote a little of what the model wrote, for the model: they don't belong into the log at any
// level above debug. Repaired holds none of it.
//
// Concurrency law: plain functions; no goroutine, channel, lock, clock or I/O. Results share memory
// with the texts that came in, which are strings and so never change.
package toolcall
