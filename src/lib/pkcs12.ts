import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { Duplex } from 'node:stream'
import { TLSSocket, createSecureContext } from 'node:tls'
import type { SecureContext } from 'node:tls'

/** The file can't be used. The message has nothing of the file and of the passphrase in it. */
export class Pkcs12Error extends Error {
  override readonly name = 'Pkcs12Error'
}

/**
 * The certificate and the key of a PKCS#12 file (RFC 7292), in PEM form.
 * @throws {Pkcs12Error}
 */
export function readPkcs12(file: Buffer, passphrase: string): { cert: string; key: string } {
  const cert = certificateOf(openFile(file, passphrase))
  return { cert, key: keyOf(file, passphrase).export({ type: 'pkcs8', format: 'pem' }).toString() }
}

/** Opens the whole file, with its checksum: Node has no other call that does. */
function openFile(pfx: Buffer, passphrase: string): SecureContext {
  try {
    return createSecureContext({ pfx, passphrase })
  } catch (error) {
    const said = error instanceof Error ? error.message : ''
    if (/mac verify failure/i.test(said)) throw new Pkcs12Error('the passphrase is wrong')
    if (/unsupported/i.test(said))
      throw new Pkcs12Error('is encrypted as OpenSSL no longer reads it: export it again, with AES')
    throw new Pkcs12Error('is not a PKCS#12 file with a certificate and its key')
  }
}

/** A connection that is never made has the certificate that it would show. */
function certificateOf(secureContext: SecureContext): string {
  const nowhere = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  const socket = new TLSSocket(nowhere, { secureContext, isServer: true })
  const certificate = socket.getX509Certificate()
  socket.destroy()
  if (certificate === undefined) throw new Pkcs12Error('has no certificate')
  return certificate.toString()
}

/** The type of an encrypted key, pkcs8ShroudedKeyBag; the key follows it, in a member of its own. */
const KEY_BAG = Buffer.from('060b2a864886f70d010c0a0102', 'hex')

/** Node has no call that exports the key of an opened file; taken by itself the key can be decrypted. */
function keyOf(file: Buffer, passphrase: string): KeyObject {
  const at = file.indexOf(KEY_BAG)
  try {
    if (at >= 0)
      return createPrivateKey({ key: memberAt(file, at + KEY_BAG.length), format: 'der', type: 'pkcs8', passphrase })
  } catch {
    // Reported below.
  }
  throw new Pkcs12Error('has no encrypted key that can be read')
}

/** The contents of a DER element. */
function memberAt(der: Buffer, at: number): Buffer {
  const first = der.readUInt8(at + 1)
  const sizeBytes = first < 0x80 ? 0 : first & 0x7f
  const start = at + 2 + sizeBytes
  return der.subarray(start, start + (sizeBytes === 0 ? first : der.readUIntBE(at + 2, sizeBytes)))
}
