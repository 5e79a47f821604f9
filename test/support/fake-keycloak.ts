import { once } from 'node:events'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

export type RecordedRequest = { method: string; path: string; authorization: string | undefined; body: string }
/** Answers a call of the Admin REST API; undefined leaves it unanswered. */
export type Answerer = (request: RecordedRequest, res: ServerResponse) => { status: number; json?: unknown } | undefined

export type FakeKeycloak = {
  url: string
  /** Every request but those for a token. */
  requests: RecordedRequest[]
  tokens: () => number
  /** Of the tokens that it gives out from now on. */
  expiresIn: (seconds: number) => void
  /** Connections are refused from now on. */
  close: () => void
}

export const FAKE_TOKEN = 'eyJhbGciOiJub25lIn0.admin-token'
export const FAKE_SECRET = 'c4n4ry-client-secret'

/** A replacement of Keycloak with responses that a real one gives rarely, or never on demand. */
export async function fakeKeycloak(t: Test, answer: Answerer): Promise<FakeKeycloak> {
  const requests: RecordedRequest[] = []
  let tokens = 0
  let expiresIn = 60
  const server = createServer((req, res) => {
    let body = ''
    req.on('data', (part: Buffer) => (body += part.toString()))
    req.on('end', () => {
      const path = req.url ?? ''
      if (path === '/realms/master/protocol/openid-connect/token') {
        tokens += 1
        const isOurs = new URLSearchParams(body).get('client_secret') === FAKE_SECRET
        res.writeHead(isOurs ? 200 : 401, { 'content-type': 'application/json' })
        const refused = { error: 'unauthorized_client', error_description: `not ${body}` }
        res.end(JSON.stringify(isOurs ? { access_token: `${FAKE_TOKEN}${tokens}`, expires_in: expiresIn } : refused))
        return
      }
      const one = { method: req.method ?? '', path, authorization: req.headers.authorization, body }
      requests.push(one)
      const given = answer(one, res)
      if (given === undefined) return
      res.writeHead(given.status, { 'content-type': 'application/json' })
      res.end(given.json === undefined ? '' : JSON.stringify(given.json))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  t.teardown(close)
  // Listening on a port, so it has one.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    tokens: () => tokens,
    expiresIn: (seconds) => (expiresIn = seconds),
    close,
  }
}
