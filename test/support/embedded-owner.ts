import { startEmbedded } from '../../src/db/embedded.ts'

// A svc of its own for tests that kill it: starts the server of the given state directory, reports it as
// one line of JSON, and stays, or does at once what the second argument says.
const [, , stateDir = '', then = 'stay'] = process.argv
try {
  const server = await startEmbedded({ stateDir, log: () => undefined, disposable: true })
  process.stdout.write(`${JSON.stringify({ url: server.url, pid: server.pid, port: server.port })}\n`)
  if (then === 'exit') process.exit(3)
  if (then === 'stop') await server.stop()
  else await server.exited
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: error instanceof Error ? error.message : String(error) })}\n`)
}
