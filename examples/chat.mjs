// A host in Node: spawns the engine, asks one question and prints the answer as it streams.
//
//   node examples/chat.mjs "What is a pipe?"         # the embedded demo model
//   SLUICE_CONFIG=config.yaml node examples/chat.mjs "What is a pipe?"
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const { SLUICE_BINARY, ...env } = process.env
const binary = SLUICE_BINARY ?? fileURLToPath(new URL('../bin/sluice', import.meta.url))
const args = ['serve-stdio', ...(env.SLUICE_CONFIG ? [] : ['--demo'])]
const engine = spawn(binary, args, { stdio: ['pipe', 'pipe', 'inherit'], env })
const send = (message) => engine.stdin.write(JSON.stringify(message) + '\n')

send({ id: 1, method: 'initialize', params: { protocol_versions: [1] } })
send({ id: 2, method: 'chat', params: { input: process.argv[2] ?? 'What is a pipe?' } })

let status = 1
for await (const line of createInterface({ input: engine.stdout })) {
  const message = JSON.parse(line) // the result or error of a request is its last message
  if (message.event === 'llm_chunk') process.stdout.write(message.delta)
  else if (message.id === 2 && message.type === 'result') {
    process.stdout.write('\n')
    console.error(message.result.events)
    status = 0
  } else if (message.type === 'error') console.error(message.code, message.message)
  if (message.id === 2 && message.type !== 'event') engine.stdin.end() // the engine finishes and exits 0
}
process.exitCode = status
