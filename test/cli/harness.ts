import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { ExitCode } from '../../cli/base/exit-codes.ts'
import type { Io } from '../../cli/base/io.ts'
import { run } from '../../cli/entry/run.ts'
import type { Sink } from '../../cli/base/sink.ts'
import { noteRan } from './ran.ts'

export type Outcome = { code: ExitCode; stdout: string; stderr: string }

export type CliSettings = {
  env?: NodeJS.ProcessEnv
  cwd?: string
  stdin?: string | Buffer
  tty?: boolean
  /** How wide the terminal is: 80, and for what stands on standard error as wide as it needs, unless it is said. */
  columns?: number
  /** What a person at the terminal types; without it standard input is none. */
  typed?: string
  calledAs?: string
  /** What befalls standard output once something is written to it. */
  unwritten?: NodeJS.ErrnoException
}

/** Runs one command line in this process, with streams of its own and nothing of the test's environment. */
export async function runCli(argv: readonly string[], settings: CliSettings = {}): Promise<Outcome> {
  const { io, stdout, stderr } = makeIo(settings)
  const code = await run(argv, io)
  noteRan(argv, code)
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

export function makeIo({
  env = {},
  cwd = '/nowhere',
  stdin = '',
  tty = false,
  columns,
  typed,
  calledAs = 'svc',
  unwritten,
}: CliSettings): {
  io: Io
  stdout: string[]
  stderr: string[]
} {
  const stdout: string[] = []
  const stderr: string[] = []
  const sink = (chunks: string[], width: number): Sink => ({
    write: (text) => void chunks.push(text),
    isTTY: tty || typed !== undefined,
    columns: width,
    ...(chunks === stdout && unwritten !== undefined ? { failure: async () => unwritten } : {}),
  })
  const io: Io = {
    stdout: sink(stdout, columns ?? 80),
    // Messages have paths and addresses in them, whose length is another in every checkout.
    stderr: sink(stderr, columns ?? 10_000),
    stdin: {
      isTTY: typed !== undefined,
      read: async () => Buffer.from(stdin),
      chunks: async function* chunks() {
        yield Buffer.from(stdin)
      },
      readLine: async () => typed,
    },
    // The profiles of whoever runs the tests are none of theirs.
    env: { SVC_CONFIG_DIR: '/nowhere/config', ...env },
    cwd,
    calledAs,
  }
  return { io, stdout, stderr }
}

export type Request = { method: string; path: string; headers: IncomingMessage['headers']; body: string }
export type Answer =
  | { status?: number; json?: unknown; text?: string; headers?: Record<string, string> }
  | 'cut'
  | 'silence'

/** A small HTTP server in the service's place; `cut` closes the connection without an answer, `silence` never answers. */
export async function fakeService(
  t: Test,
  answer: (request: Request, count: number) => Answer,
): Promise<{ url: string; requests: Request[] }> {
  const requests: Request[] = []
  const server = createServer((req, res) => void respond(req, res))
  async function respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(Buffer.from(chunk))
    const request = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body: Buffer.concat(chunks).toString(),
    }
    requests.push(request)
    const given = answer(request, requests.length)
    if (given === 'cut') return void req.socket.destroy()
    if (given === 'silence') return
    const body = given.text ?? JSON.stringify(given.json ?? {})
    res.writeHead(given.status ?? 200, { 'content-type': 'application/json', ...given.headers }).end(body)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => close(server))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, requests }
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  server.close()
}

/** What a service says of itself: a sandbox without an identity provider, where nothing else is said. */
export function serviceInfo(more: object = {}): Record<string, unknown> {
  return {
    name: 'svc',
    version: '0.1.0',
    mode: 'sandbox',
    identity: 'none',
    auth_url: null,
    platform_realm: 'platform',
    customers_realm: 'customers',
    ...more,
  }
}

/** An error as the API writes it. */
export function refusal(status: number, code: string, more: object = {}): Answer {
  const type = `http://127.0.0.1/errors/${code.toLowerCase().replaceAll('_', '-')}`
  return { status, json: { error: `refused: ${code}`, code, status, type, request_id: 'req-1', ...more } }
}

export const PAYMENT_ID = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'

/** A payment as GET answers it, in the status and with a history that leads there. */
export function paymentOf(status: string, more: object = {}): Record<string, unknown> {
  const at = '2026-11-21T09:30:00.000Z'
  return {
    payment_id: PAYMENT_ID,
    status,
    end_to_end_id: 'SVC62124c9a38e745b680e7e1d27d1ddb32',
    consent_id: '01a1fd03-f879-7bae-8912-fe83fdece378',
    consent_type: 'SINGLE_IMMEDIATE',
    consent_status: 'AUTHORISED',
    gross_amount: '50.00',
    fee_amount: '0.70',
    net_amount: '49.30',
    currency: 'GBP',
    refunded_amount: '0.00',
    redirect_uri: 'https://shop.example/return',
    redirect_url: null,
    debtor_bank_id: null,
    payer_name: null,
    remittance_reference: null,
    metadata: null,
    failure: null,
    expires_at: at,
    created_at: at,
    updated_at: at,
    status_history: [
      { ordinal: '1', previous_status: null, new_status: status, changed_by: 'MERCHANT_API', created_at: at },
    ],
    ...more,
  }
}

/** What the creation of a payment answers. */
export function createdOf(more: object = {}): Answer {
  const whole = paymentOf('AwaitingAuthorisation', more)
  return { status: 201, json: Object.fromEntries(CREATED.map((name) => [name, whole[name]])) }
}

const CREATED = [
  'payment_id',
  'status',
  'redirect_url',
  'end_to_end_id',
  'gross_amount',
  'fee_amount',
  'net_amount',
  'currency',
  'consent_id',
  'expires_at',
  'created_at',
]

/** A payment as lists show it. */
export function summaryOf(status: string, more: object = {}): Record<string, unknown> {
  const { status_history: _history, ...summary } = paymentOf(status, more)
  return summary
}
