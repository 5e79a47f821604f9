import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** What the provider sends the browser back with. */
export type Return = { code: string } | { error: string }

export type Loopback = {
  redirectUri: string
  /** The first answer to this login; the browser waits until `finish` says how it ended. */
  returned: Promise<Return>
  finish(isSignedIn: boolean): void
  close(): Promise<void>
}

/**
 * Waits on a port of this machine for the browser to come back (RFC 8252). An answer that does not carry the state of
 * this login is none: it is refused, and the right one is waited for on, so that no other page can end a login.
 */
export async function startLoopback(login: { state: string; issuer: string }): Promise<Loopback> {
  const { promise: returned, resolve } = Promise.withResolvers<Return>()
  let waiting: ServerResponse | undefined
  const server = createServer((req, res) => {
    const answer = readReturn(req, login)
    if (answer === undefined) return page(res, 404, 'There is nothing here.')
    if (answer === 'foreign') return page(res, 400, 'This is no answer to the login that is under way.')
    if (waiting !== undefined) return page(res, 409, 'This login has been answered. You can close this page.')
    waiting = res
    resolve(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    returned,
    finish(isSignedIn) {
      if (waiting === undefined) return
      if (isSignedIn) page(waiting, 200, 'You are signed in. You can close this page.')
      else page(waiting, 400, 'You are not signed in; the terminal says why. You can close this page.')
    },
    async close() {
      server.close()
      server.closeIdleConnections()
      if (waiting !== undefined && !waiting.closed) await lastWords(waiting)
      server.closeAllConnections()
    },
  }
}

const LAST_WORDS_MS = 1_000

/** The browser gets a moment to read how it ended. */
async function lastWords(res: ServerResponse): Promise<void> {
  try {
    await once(res, 'close', { signal: AbortSignal.timeout(LAST_WORDS_MS) })
  } catch {
    // It is gone, or does not read: the terminal says the same.
  }
}

/** Undefined for another page than the one waited for; `foreign` for an answer that is not this login's. */
function readReturn(
  { method, url }: IncomingMessage,
  login: { state: string; issuer: string },
): Return | 'foreign' | undefined {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://127.0.0.1')
  if (method !== 'GET' || pathname !== '/callback') return undefined
  const issuer = searchParams.get('iss')
  if (!isSame(searchParams.get('state') ?? '', login.state)) return 'foreign'
  // RFC 9207: an answer of another provider than the one that was asked.
  if (issuer !== null && issuer !== login.issuer) return 'foreign'
  const code = searchParams.get('code')
  return code === null ? { error: searchParams.get('error') ?? 'invalid_response' } : { code }
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The address of the page carries the code: it is kept nowhere and passed on to nobody. */
function page(res: ServerResponse, status: number, text: string): void {
  res
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    })
    .end(`<!doctype html><html lang="en"><title>svc</title><p>${text}</p></html>\n`)
}
