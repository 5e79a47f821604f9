import { X509Certificate, createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/**
 * The client's certificate, where it came with one that the directory issued and that has not expired. The bank asks
 * every connection for one and refuses none: payers' browsers have none.
 */
export function clientCertificateOf({ socket }: IncomingMessage): X509Certificate | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
  const certificate = socket.getPeerX509Certificate()
  return certificate !== undefined && certificate.validToDate.getTime() > Date.now() ? certificate : undefined
}

/** Whether the directory issued a certificate for this piece of software: its id is the common name. */
export function isOfSoftware({ subject }: X509Certificate, softwareId: string): boolean {
  return subject.split('\n').includes(`CN=${softwareId}`)
}

/** As access tokens are bound to it (RFC 8705). */
export function thumbprintOf({ raw }: X509Certificate): string {
  return createHash('sha256').update(raw).digest('base64url')
}

/**
 * Whether a registered subject is the certificate's. Directories and banks write the same name in either order, and the
 * organisation's identifier by name or by number.
 */
export function hasSubject({ subject }: X509Certificate, registered: string): boolean {
  const parts = subject.split('\n').map((part) => part.replace('organizationIdentifier=', '2.5.4.97='))
  const given = registered
    .split(/,\s*/)
    .map((part) => part.replace(/^(OID\.)?(2\.5\.4\.97|organizationIdentifier)=/i, '2.5.4.97='))
  const written = given.join('\n')
  return written === parts.join('\n') || written === parts.toReversed().join('\n')
}
