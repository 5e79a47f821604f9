import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Test } from 'tap'
import { SERVER_HOSTS, issueServerCertificate, makeAuthority } from '../../src/model-bank/certificates.ts'

export type TlsProxy = {
  url: string
  /** Where it passes requests on to; undefined answers 502. */
  leadTo(url: string | undefined): void
  /** Shows a certificate that ends in so many days, which this process trusts or not. */
  show(certificate: { validDays: number; isTrusted?: boolean }): Promise<void>
}

/** What stands in front of the API in production, with a certificate that this process trusts until the test's end. */
export async function tlsProxy(t: Test): Promise<TlsProxy> {
  const [authority, stranger] = [await makeAuthority(), await makeAuthority()]
  const trusted = getCACertificates('default')
  setDefaultCACertificates([...trusted, authority.pem])
  t.teardown(() => setDefaultCACertificates(trusted))
  let target: string | undefined
  const server = createServer((req, res) => {
    if (target === undefined) return void res.writeHead(502).end()
    const headers = { ...req.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
    const passed = httpRequest(`${target}${req.url}`, { method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(res)
    })
    passed.once('error', () => res.destroy())
    req.pipe(passed)
  })
  const show: TlsProxy['show'] = async ({ validDays, isTrusted = true }) =>
    server.setSecureContext(
      await issueServerCertificate(isTrusted ? authority : stranger, { hosts: SERVER_HOSTS, validDays }),
    )
  await show({ validDays: 90 })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `https://localhost:${port}`, leadTo: (url) => (target = url), show }
}
