// The peer on Node, without dependencies.
//
//   node node_writer.mjs event|batch|drain URL
//
// With "event" each event is a process.stdout.write of its own, with "batch" what one read brought is
// one write; neither looks at what write returns, as most programs don't. "drain" writes batches and
// waits for 'drain' whenever stdout is full. It answers the requests on stdin one after another.

import { once } from 'node:events'
import http from 'node:http'
import { createInterface } from 'node:readline'

/** Resolves with the response of the server to a chat's text. */
function open(url, text) {
  const body = JSON.stringify({ messages: [{ role: 'user', content: text }], model: 'default', stream: true })
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
      agent: false,
    })
    request.on('response', (response) => {
      if (response.statusCode === 200) resolve(response)
      else reject(new Error(`the server answered ${response.statusCode}`))
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** Returns the line of a frame's token, or undefined for frames without one. */
function eventLine(id, frame) {
  if (!frame.startsWith('data: ') || frame === 'data: [DONE]') return undefined
  const text = JSON.parse(frame.slice(6)).choices[0]?.delta.content
  if (typeof text !== 'string') return undefined
  return JSON.stringify({ id, type: 'event', event: 'llm_chunk', step: 0, delta: text }) + '\n'
}

async function answer(mode, url, { id, params }) {
  const response = await open(url, params.input)
  response.setEncoding('utf8')
  let rest = ''
  for await (const piece of response) {
    const frames = (rest + piece).split('\n')
    rest = frames.pop()
    const lines = frames.map((frame) => eventLine(id, frame)).filter((line) => line !== undefined)
    if (mode === 'event') {
      for (const line of lines) process.stdout.write(line)
    } else if (lines.length > 0 && !process.stdout.write(lines.join('')) && mode === 'drain') {
      await once(process.stdout, 'drain')
    }
  }
  process.stdout.write(JSON.stringify({ id, type: 'result', result: { finish_reason: 'stop' } }) + '\n')
}

const [mode, url] = process.argv.slice(2)
if (!['event', 'batch', 'drain'].includes(mode) || url === undefined) {
  console.error('usage: node node_writer.mjs event|batch|drain URL')
  process.exit(2)
}
for await (const line of createInterface({ input: process.stdin })) await answer(mode, url, JSON.parse(line))
