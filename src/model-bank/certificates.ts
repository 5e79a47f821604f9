// The certificate library needs this polyfill loaded before it.
import 'reflect-metadata'
import { randomBytes } from 'node:crypto'
import type { webcrypto } from 'node:crypto'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

/** Elliptic keys: an RSA pair takes a hundred times longer to make. Message signing needs RSA and has keys of its own. */
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const DAY_MS = 86_400_000
/** Clocks of other machines may be a little behind. */
const BACKDATED_MS = 300_000

export type Authority = { certificate: X509Certificate; privateKey: webcrypto.CryptoKey; pem: string; key: string }
/** An authority as it is written to a file. */
export type SavedAuthority = IssuedCertificate
export type IssuedCertificate = { cert: string; key: string }

/** A root that signs the certificates of the model directory and of the bank's own server. */
export async function makeAuthority(): Promise<Authority> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ C: ['GB'] }, { O: ['Model directory'] }, { CN: ['Model directory root'] }],
    notBefore: new Date(Date.now() - BACKDATED_MS),
    notAfter: new Date(Date.now() + 365 * DAY_MS),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  return {
    certificate,
    privateKey: keys.privateKey,
    pem: certificate.toString('pem'),
    key: await keyPemOf(keys.privateKey),
  }
}

export async function readAuthority({ cert, key }: SavedAuthority): Promise<Authority> {
  const pkcs8 = Buffer.from(key.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  const privateKey = await crypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, true, ['sign'])
  return { certificate: new X509Certificate(cert), privateKey, pem: cert, key }
}

export const SERVER_HOSTS = ['127.0.0.1', 'localhost']

/** The bank's own certificate, for the names that it is called by on one machine. */
export function issueServerCertificate(
  authority: Authority,
  { hosts, validDays }: { hosts: readonly string[]; validDays: number },
): Promise<IssuedCertificate> {
  const names = hosts.map((value) => ({ type: /^[\d.]+$/.test(value) ? ('ip' as const) : ('dns' as const), value }))
  return issue(authority, {
    name: [{ C: ['GB'] }, { O: ['Model Bank'] }, { CN: [hosts[0] ?? 'localhost'] }],
    usage: ExtendedKeyUsage.serverAuth,
    extensions: [new SubjectAlternativeNameExtension(names)],
    validDays,
  })
}

/**
 * A client's certificate for mutual TLS, with the members of its name that the directory's have: the organisation's
 * PSD2 identifier and the software's id. Less than zero days makes one that has expired.
 */
export function issueTransportCertificate(
  authority: Authority,
  software: { orgId: string; softwareId: string; validDays: number },
): Promise<IssuedCertificate> {
  return issue(authority, {
    name: [
      { C: ['GB'] },
      { O: ['Payment initiation service'] },
      { '2.5.4.97': [`PSDGB-OB-${software.orgId}`] },
      { CN: [software.softwareId] },
    ],
    usage: ExtendedKeyUsage.clientAuth,
    extensions: [],
    validDays: software.validDays,
  })
}

async function issue(
  authority: Authority,
  request: {
    name: Record<string, string[]>[]
    usage: ExtendedKeyUsage
    extensions: SubjectAlternativeNameExtension[]
    validDays: number
  },
): Promise<IssuedCertificate> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const notAfter = Date.now() + request.validDays * DAY_MS
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: request.name,
    issuer: authority.certificate.subjectName,
    notBefore: new Date(Math.min(Date.now() - BACKDATED_MS, notAfter - DAY_MS)),
    notAfter: new Date(notAfter),
    publicKey: keys.publicKey,
    signingKey: authority.privateKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([request.usage]),
      ...request.extensions,
    ],
  })
  return { cert: certificate.toString('pem'), key: await keyPemOf(keys.privateKey) }
}

async function keyPemOf(key: webcrypto.CryptoKey): Promise<string> {
  const base64 = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${base64.replaceAll(/(.{64})(?=.)/g, '$1\n')}\n-----END PRIVATE KEY-----\n`
}

/** Positive, as X.509 demands: the first bit is zero. */
function serialNumber(): string {
  return `01${randomBytes(15).toString('hex')}`
}
