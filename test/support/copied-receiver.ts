import { execFile, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { request } from 'undici'
import { receiverFile } from '../../src/lib/receivers.ts'
import type { ReceiverLanguage } from '../../src/lib/receivers.ts'
import { until } from './until.ts'

export type CopiedReceiver = {
  /** Its working folder, with the files that it writes. */
  folder: string
  /** One line for each processed event: `eventType eventId`. */
  acted(): string[]
}

type Start = { file: string; folder: string; port: number; secret: string }
type Runtime = {
  /** Commands that must be there, with what makes them end at once. */
  needs: readonly (readonly [string, string])[]
  start(t: Test, start: Start, said: (chunk: Buffer) => void): Promise<void>
}

/**
 * A new machine compiles Go's whole standard library, in 34 seconds of a core. Without HTTP/2, debugging information and
 * inlining, which the receiver does without, it takes 21.
 */
const GO_BUILD_FLAGS = [
  '-tags=nethttpomithttp2,netgo,osusergo,purego',
  '-ldflags=-s -w',
  '-gcflags=all=-dwarf=false -l',
]

/** How each receiver is run by who copied it. */
const RUNTIMES: Record<ReceiverLanguage, Runtime> = {
  node: {
    needs: [[process.execPath, '--version']],
    // tap puts itself into every child through NODE_OPTIONS.
    start: (t, start, said) => serve(t, ['env', '-u', 'NODE_OPTIONS', process.execPath, start.file], start, said),
  },
  python: {
    needs: [['python3', '--version']],
    start: (t, start, said) => serve(t, ['python3', start.file], start, said),
  },
  php: {
    needs: [['php', '--version']],
    // Alone, PHP's own server answers one request after the other.
    start: (t, start, said) => {
      const words = ['env', 'PHP_CLI_SERVER_WORKERS=4', 'php', '-S', `127.0.0.1:${start.port}`, start.file]
      return serve(t, words, start, said)
    },
  },
  go: {
    needs: [['go', 'version']],
    start: async (t, start, said) => {
      const binary = join(start.folder, 'receiver')
      const env = {
        ...process.env,
        GOCACHE: join(tmpdir(), 'svc-test-gocache'),
        GOFLAGS: '',
        GOTOOLCHAIN: 'local',
        CGO_ENABLED: '0',
      }
      await promisify(execFile)('go', ['build', ...GO_BUILD_FLAGS, '-o', binary, start.file], {
        env,
        cwd: start.folder,
      })
      await serve(t, [binary], start, said)
    },
  },
  shell: {
    needs: [
      ['bash', '--version'],
      ['openssl', 'version'],
      ['flock', '--version'],
      ['awk', 'BEGIN { exit }'],
    ],
    start: serveEach,
  },
}

/** Why this machine can't run it; undefined where it can. */
export function missingRuntime(language: ReceiverLanguage): string | undefined {
  const missing = RUNTIMES[language].needs.filter(([file, word]) => spawnSync(file, [word]).status !== 0)
  return missing.length === 0 ? undefined : `not on this machine: ${missing.map(([file]) => file).join(', ')}`
}

/** Writes a receiver's text into an empty folder, and runs it there as a process of its own until the test ends. */
export async function startCopied(
  t: Test,
  { language, text, port, secret }: { language: ReceiverLanguage; text: string; port: number; secret: string },
): Promise<CopiedReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-receiver-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, receiverFile(language))
  writeFileSync(file, text)
  let output = ''
  await RUNTIMES[language].start(t, { file, folder, port, secret }, (chunk) => void (output += chunk))
  return { folder, acted: () => output.split('\n').filter((line) => /^[a-z._]+ evt_\w+$/.test(line)) }
}

export type Sent = {
  body?: string | Buffer
  signature?: string
  previous?: string
  method?: 'POST' | 'GET' | 'PUT' | 'DELETE'
}

/** Sends a receiver a webhook, and answers the status of its answer. */
export async function send(port: number, { body = '', signature, previous, method = 'POST' }: Sent): Promise<number> {
  const headers = {
    ...(signature === undefined ? {} : { 'x-service-signature': signature }),
    ...(previous === undefined ? {} : { 'x-service-signature-previous': previous }),
  }
  const answer = await request(`http://127.0.0.1:${port}/hook`, {
    method,
    headers,
    body: method === 'GET' ? null : body,
  })
  await answer.body.dump()
  return answer.statusCode
}

/** The body of an event. */
export function eventOf(id: string, more: object = {}): string {
  return JSON.stringify({ eventId: `evt_${id}`, eventType: 'payment.settled', ...more })
}

function childEnv({ port, secret }: Start): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  return { PATH, HOME, PORT: String(port), SVC_WEBHOOK_SECRET: secret }
}

async function serve(t: Test, words: readonly string[], start: Start, said: (chunk: Buffer) => void): Promise<void> {
  const [file = '', ...args] = words
  const options = { env: childEnv(start), cwd: start.folder, detached: true } as const
  const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  // Its workers end with it.
  t.teardown(() => void (child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')))
  child.stdout.on('data', said)
  child.stderr.on('data', said)
  await until('it listens', () => answers(start.port), 30_000)
}

async function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/`).then(
    async (response) => response.arrayBuffer().then(() => true),
    () => false,
  )
}

/** As inetd and socat do: a process for each connection, which is its standard input and output. */
async function serveEach(t: Test, start: Start, said: (chunk: Buffer) => void): Promise<void> {
  const children = new Set<ChildProcess>()
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    const child = spawn('bash', [start.file], { env: childEnv(start), cwd: start.folder })
    children.add(child)
    child.on('close', () => children.delete(child))
    // A client that has its response may close before the rest is read.
    for (const stream of [socket, child.stdin]) stream.on('error', () => undefined)
    socket.pipe(child.stdin)
    child.stdout.pipe(socket)
    child.stderr.on('data', said)
  })
  await new Promise<void>((resolve) => server.listen(start.port, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const child of children) child.kill('SIGKILL')
    server.close()
  })
}
