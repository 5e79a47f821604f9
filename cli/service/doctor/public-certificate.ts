import { connect } from 'node:tls'
import { finding, ok, skipped } from './check.ts'
import type { Verdict } from './check.ts'

const TIMEOUT_MS = 2_500
/** Clients that renew by themselves do so 30 days before the end. */
const WARNING_DAYS = 14
const DAY_MS = 86_400_000

type CertificateState = { problem: string | null; endsAt: number } | { why: string }

/** Whether what ends TLS at an address shows a certificate that is trusted, and for how long. */
export async function publicCertificateCheck(url: string, timeoutMs: number = TIMEOUT_MS): Promise<Verdict> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'https:') return skipped(`${url} has no certificate`)
  const seen = await certificateOf({
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: Number.parseInt(port === '' ? '443' : port, 10),
    timeoutMs,
  })
  const fix = `curl -vI ${url}/healthz`
  if ('why' in seen) return skipped(`no certificate was seen at ${hostname}: ${seen.why}`)
  if (seen.problem !== null)
    return finding(`clients do not accept the certificate of ${hostname}: ${seen.problem}`, fix)
  const days = Math.floor((seen.endsAt - Date.now()) / DAY_MS)
  const day = new Date(seen.endsAt).toISOString().slice(0, 10)
  if (days < WARNING_DAYS) return finding(`the certificate of ${hostname} ends on ${day}, in ${days} days`, fix)
  return ok(`the certificate of ${hostname} ends on ${day}`)
}

type CertificateInput = { host: string; port: number; timeoutMs: number }

function certificateOf({ host, port, timeoutMs }: CertificateInput): Promise<CertificateState> {
  return new Promise((resolve) => {
    // It is looked at also where it is not trusted, to say why. Nothing is sent.
    const socket = connect(
      { host, port, servername: /[a-z]/i.test(host) ? host : '', rejectUnauthorized: false },
      () => {
        const { valid_to: end } = socket.getPeerCertificate()
        resolve({
          problem: socket.authorized ? null : String(socket.authorizationError).replaceAll('_', ' ').toLowerCase(),
          endsAt: Date.parse(end),
        })
        socket.destroy()
      },
    )
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error('no answer')))
    socket.once('error', (error) => resolve({ why: 'code' in error ? String(error.code) : error.message }))
  })
}
