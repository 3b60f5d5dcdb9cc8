// Package demo is the embedded default model: a bigram language model of a
// short text that is compiled into the binary. It answers in-process, in
// llama-server's own HTTP wire format, and the same counts can be written as a
// GGUF file that a real llama-server loads and that then says the same kind of
// sentences.
//
// # The model
//
// Build cuts the corpus into phrases and counts which phrase follows which inside
// each paragraph; a paragraph's last one is followed by the end of the answer.
// Nothing else is learnt. A phrase is a punctuation mark, or a word together with
// the function words before it ("of the pipe"): a bigram of single words forgets
// at each "the" what it was talking about.
//
// The vocabulary, in this order, is that of a llama (SentencePiece) tokenizer:
// <unk>, <s>, </s>; 256 byte tokens; five tags of the chat template; phrases by
// falling frequency; and once more, without their leading space, the phrases that
// begin an answer.
//
// Answer adds what a bigram can't know: how many sentences an answer has, and what
// it was asked about. Tool calls follow the chat template: when a request offers
// tools and the user's last message holds "/call", the model calls one.
//
// # The GGUF file
//
// WriteGGUF writes version 3 of the format in docs/gguf.md of the ggml project,
// little endian, F32, architecture "llama" with one block that does nothing:
// attention and feed-forward weights are zero, so the residual stream is the
// embedding of the last token alone. Embeddings are one-hot. RMS norm scales a
// one-hot vector by √dim, and the output matrix holds log probabilities divided
// by √dim, so the logits after token t are exactly log P(next|t).
//
// # Concurrency and ownership
//
// A Model is immutable after Build and may be shared. Sampler and Answer belong
// to one goroutine. Handler serves any number of requests at once; beyond its
// slots they wait in line, as llama-server's do, and a request ends with its
// context. Start runs an http.Server over in-memory connections: it opens no
// port, whoever started it closes it, and Close returns when every connection it
// accepted has been served out. Dialled connections belong to their dialler.
package demo
