import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { SoftwareStatement } from '../../src/banks/software-statement.ts'
import { issueTransportCertificate, makeAuthority } from '../../src/model-bank/certificates.ts'
import { makeDirectory } from '../../src/model-bank/directory.ts'

/** A software statement of a directory of its own, with a certificate that is valid for so many days. */
export async function makeSoftwareStatement({ validDays = 90 } = {}): Promise<SoftwareStatement> {
  const authority = await makeAuthority()
  const { software } = await makeDirectory(authority, {
    issuer: 'https://directory.example',
    redirectUris: ['https://pay.example/bank/return'],
  })
  const { orgId, softwareId } = software
  const [key] = software.signingKeys
  if (key === undefined) throw new Error('the directory made no key')
  return {
    org_id: orgId,
    software_id: softwareId,
    ssa: software.statement,
    transport: await issueTransportCertificate(authority, { orgId, softwareId, validDays }),
    signing: { kid: key.kid, key: createPrivateKey(key.pem).export({ type: 'pkcs8', format: 'pem' }).toString() },
  }
}

/** Its form in files: the texts are next to it. */
export function asFiles(statement: SoftwareStatement): Record<string, string> {
  return {
    'statement.json': JSON.stringify({
      org_id: statement.org_id,
      software_id: statement.software_id,
      ssa: 'ssa.jwt',
      transport: { cert: 'transport.pem', key: 'transport-key.pem' },
      signing: { kid: statement.signing.kid, key: 'signing-key.pem' },
    }),
    'ssa.jwt': `${statement.ssa}\n`,
    'transport.pem': statement.transport.cert,
    'transport-key.pem': statement.transport.key,
    'signing-key.pem': statement.signing.key,
  }
}

export function newRsaKey(modulusLength = 2_048): string {
  return generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
