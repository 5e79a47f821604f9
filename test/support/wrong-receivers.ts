import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { EventType } from '../../src/wire/webhook-events.ts'

/** The signing secret of the receivers and of the conformance tests. */
export const SECRET = 'c0ffee00'.repeat(8)
const FORGERIES = [
  'unsigned',
  'unknown-secret',
  'unknown-pair',
  'empty-secret',
  'tampered',
  'reserialised',
  'damaged-signature',
  'garbage',
]

type Got = { method: string; headers: IncomingHttpHeaders; body: Buffer }
/** The status of the answer, or `cut` for none. */
type Receive = (got: Got) => number | 'cut'
type Wrong = { receive: Receive; failed?: string[]; warned?: string[]; only?: string[]; saw?: RegExp; advice?: RegExp }

/** What `X-Service-Signature` is of these bytes. */
export const hmac = (body: Buffer | string, secret = SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex')
const newest = ({ headers }: Got): unknown => headers['x-service-signature']
const previous = ({ headers }: Got): unknown => headers['x-service-signature-previous']
const isSigned = (got: Got, body: Buffer | string = got.body): boolean =>
  [newest(got), previous(got)].includes(hmac(body))

/** A receiver that does as it should, but for who passes its check and what it then thinks of the event. */
function receiver(passes: (got: Got) => boolean, act: (event: any, got: Got) => number = () => 200): Receive {
  return (got) => {
    if (got.method !== 'POST') return 405
    return passes(got) ? act(act.length === 0 ? undefined : JSON.parse(String(got.body)), got) : 401
  }
}

const acting = (act: (event: any, got: Got) => number): Receive => receiver((got) => isSigned(got), act)
const isEqual = (given: unknown, wanted: string): boolean =>
  timingSafeEqual(Buffer.from(String(given ?? '')), Buffer.from(wanted))

function isSignedByTheStandard({ headers, body }: Got): boolean {
  const content = Buffer.concat([Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`), body])
  const expected = `v1,${createHmac('sha256', SECRET).update(content).digest('base64')}`
  return String(headers['webhook-signature']).split(' ').includes(expected)
}

const events = new Set<string>()
const sequences = new Map<string, number>()

/** Receivers that are wrong, each in one way, with the checks that find it; and one that is right in another way. */
export const WRONG: Readonly<Record<string, Wrong>> = {
  'verifies as Standard Webhooks do': { receive: receiver(isSignedByTheStandard) },
  'wants a key beside the signature': {
    receive: (got) => (got.headers['x-key'] === 'k1' ? acting(() => 200)(got) : 403),
    failed: ['good'],
    advice: /the secret ending in ee00,/,
  },
  'checks nothing': { receive: receiver(() => true), failed: FORGERIES },
  'is content with any signature': {
    receive: receiver((got) => newest(got) !== undefined),
    failed: FORGERIES.filter((id) => id !== 'unsigned' && id !== 'garbage'),
  },
  'is content with any previous signature': {
    receive: receiver((got) => isSigned(got) || previous(got) !== undefined),
    failed: ['unknown-pair', 'empty-secret'],
  },
  'takes a secret that is not set for an empty one': {
    receive: receiver((got) => isSigned(got) || previous(got) === hmac(got.body, '')),
    failed: ['empty-secret'],
  },
  'signs what it parsed and wrote again': {
    receive: receiver((got) => isSigned(got, JSON.stringify(JSON.parse(String(got.body))))),
    failed: ['spelling', 'tampered', 'reserialised'],
    warned: ['garbage'],
  },
  'reads text as Latin-1': {
    receive: receiver((got) => isSigned(got, got.body.toString('latin1'))),
    failed: ['utf8', 'large'],
  },
  'knows of no rotation': { receive: receiver((got) => newest(got) === hmac(got.body)), failed: ['old-secret'] },
  'lets the previous signature decide': {
    receive: receiver((got) => (previous(got) ?? newest(got)) === hmac(got.body)),
    failed: ['new-secret'],
  },
  'compares beginnings': {
    receive: receiver(
      (got) => isSigned(got) || (newest(got) !== undefined && hmac(got.body).startsWith(String(newest(got)))),
    ),
    failed: ['damaged-signature'],
  },
  'throws at signatures of another length': {
    receive: receiver((got) => isSigned(got) || isEqual(newest(got), hmac(got.body))),
    warned: ['unsigned', 'damaged-signature', 'garbage'],
  },
  'takes a repeat for a conflict': {
    receive: acting(({ eventId }) => (events.size === events.add(eventId).size ? 409 : 200)),
    failed: ['duplicate'],
  },
  'insists on the order': {
    receive: acting(({ data: { id, sequence } }) => {
      const highest = sequences.get(id) ?? 0
      sequences.set(id, Math.max(highest, sequence))
      return sequence < highest ? 409 : 200
    }),
    failed: ['out-of-order'],
  },
  'refuses what is old': {
    receive: acting(({ createdAt }) => (Date.now() - Date.parse(createdAt) > 3_600_000 ? 400 : 200)),
    failed: ['late'],
  },
  'knows its types of event': {
    receive: acting(({ eventType }) => (EventType.safeParse(eventType).success ? 200 : 400)),
    failed: ['unknown-event'],
  },
  'knows payments alone': {
    receive: acting(({ eventType }) => (eventType.startsWith('payment.') ? 200 : 422)),
    failed: ['events', 'spelling', 'utf8', 'unknown-event', 'large'],
  },
  'knows its members': {
    receive: acting((event) => (Object.keys(event).length === 5 ? 200 : 400)),
    failed: ['unknown-members'],
  },
  'has no room for 16 kB': {
    receive: acting((_, { body }) => (body.length > 16_000 ? 413 : 200)),
    failed: ['large'],
  },
  redirects: { receive: acting(() => 308), failed: ['good'], advice: /^Redirects are not followed/ },
  'is elsewhere': { receive: () => 404, failed: ['good'], advice: /right address/ },
  'holds another secret': {
    receive: receiver((got) => newest(got) === hmac(got.body, 'x'.repeat(64))),
    failed: ['good'],
    advice: /the secret ending in ee00,/,
  },
  'cuts the connection': {
    receive: () => 'cut',
    failed: ['good'],
    saw: /^the connection was cut$/,
  },
  'has it the wrong way round': {
    receive: (got) => (isSigned(got) ? 500 : 200),
    failed: ['good'],
    saw: /^answered 500: sorry$/,
  },
}

/** One server for all of them, each at a path of its own; any other name is of a receiver that does everything right. */
export async function startReceivers(t: { teardown(handler: () => unknown): unknown }): Promise<(name: string) => URL> {
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(Buffer.from(chunk))
    const name = decodeURIComponent((request.url ?? '').slice(1))
    const got = { method: request.method ?? '', headers: request.headers, body: Buffer.concat(chunks) }
    const status = statusOf(WRONG[name]?.receive ?? acting(() => 200), got)
    if (status === 'cut') return void request.socket.destroy()
    response.writeHead(status).end(status === 500 ? 'sorry' : '')
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return (name) => new URL(`http://127.0.0.1:${port}/${encodeURIComponent(name)}`)
}

function statusOf(receive: Receive, got: Got): number | 'cut' {
  try {
    return receive(got)
  } catch {
    return 500
  }
}
