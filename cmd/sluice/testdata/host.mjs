// A host as editors are: Node's child_process and readline, JSON-RPC v1 on the engine's stdin and stdout.
//
//   node host.mjs ENGINE ARGUMENTS...
//
// It starts two chats at once, cancels a third, and prints what it saw as JSON.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [program, ...args] = process.argv.slice(2)
const engine = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
const streams = new Map()
let next = 0

const stream = id => {
  if (!streams.has(id)) {
    const s = { events: [], text: '' }
    s.ended = new Promise(resolve => { s.end = resolve })
    streams.set(id, s)
  }
  return streams.get(id)
}

createInterface({ input: engine.stdout, crlfDelay: Infinity }).on('line', line => {
  const message = JSON.parse(line)
  if (message.method === undefined) {
    waiting.get(message.id)(message)
    return
  }
  const s = stream(message.params.streamId)
  if (message.method !== 'chat/event') {
    s.end(message.method)
    return
  }
  s.events.push(message.params.event.kind)
  s.text += message.params.event.content ?? ''
})

const call = (method, params) => new Promise((resolve, reject) => {
  const id = ++next
  waiting.set(id, message => message.error ? reject(new Error(JSON.stringify(message.error))) : resolve(message.result))
  engine.stdin.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }) + '\n')
})
const start = input => call('chat/start', { workflowId: 'assistant', input })

const exited = new Promise(resolve => engine.on('exit', code => resolve(code)))
const { protocolVersion } = await call('initialize', { protocolVersion: 1, client: { name: 'node', version: process.version } })
const started = await Promise.all([start('n=500'), start('n=500')])
const ends = await Promise.all(started.map(s => stream(s.streamId).ended))
const long = await start('n=100000 rest=2ms')
const { cancelled } = await call('chat/cancel', { streamId: long.streamId })
const cancelEnd = await stream(long.streamId).ended
const { activeChats } = await call('health')
await call('shutdown')
console.log(JSON.stringify({
  protocolVersion, ends, cancelled, cancelEnd, activeChats, code: await exited,
  texts: started.map(s => stream(s.streamId).text), last: started.map(s => stream(s.streamId).events.at(-1))
}))
