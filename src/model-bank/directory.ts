import { SignJWT, createLocalJWKSet, jwtVerify } from 'jose'
import type { JSONWebKeySet } from 'jose'
import { z } from 'zod'
import { issueTransportCertificate } from './certificates.ts'
import type { Authority, IssuedCertificate } from './certificates.ts'
import { SIGNING_ALGORITHM, makeSigningKey, readSigningKey, savedKeyOf } from './signing-keys.ts'
import type { SavedKey, SigningKey } from './signing-keys.ts'

const ISSUER = 'OpenBanking Ltd'
const STATEMENT_VALIDITY = '180d'

/** What the directory knows of one piece of software: its ids, its certificate and its current signing keys. */
export type Software = {
  orgId: string
  softwareId: string
  redirectUris: readonly string[]
  statement: string
  transport: IssuedCertificate
  /** The newest last. Older ones stay valid until they are revoked. */
  signingKeys: SigningKey[]
}

/** Stands in for the Open Banking directory: enrols software, publishes its keys, signs its statements. */
export type Directory = {
  software: Software
  keysOf(softwareId: string): JSONWebKeySet
  readStatement(statement: string): Promise<SoftwareStatement>
  /** Adds a signing key, as an operator does in the directory before rotating. */
  addSigningKey(): Promise<SigningKey>
  /** Revokes one. */
  removeSigningKey(kid: string): void
  save(): SavedDirectory
}

const SoftwareStatement = z.object({
  org_id: z.string(),
  software_id: z.string(),
  software_redirect_uris: z.array(z.string()).min(1),
  software_roles: z.array(z.string()),
})
export type SoftwareStatement = z.infer<typeof SoftwareStatement>

const ORG_ID = '0015800001041RHAAY'
const SOFTWARE_ID = 'mdlsvc0000000000000001'

/** The directory as it is written to a file. */
export type SavedDirectory = { key: SavedKey; transport: IssuedCertificate; signingKeys: SavedKey[] }

export async function makeDirectory(
  authority: Authority,
  {
    issuer,
    redirectUris,
    saved,
  }: { issuer: string; redirectUris: readonly string[]; saved?: SavedDirectory | undefined },
): Promise<Directory> {
  const own = saved === undefined ? await makeSigningKey() : await readSigningKey(saved.key)
  const ids = { orgId: ORG_ID, softwareId: SOFTWARE_ID }
  const software: Software = {
    ...ids,
    redirectUris,
    statement: await signStatement(own, { issuer, redirectUris }),
    transport: saved?.transport ?? (await issueTransportCertificate(authority, { ...ids, validDays: 90 })),
    signingKeys:
      saved === undefined ? [await makeSigningKey()] : await Promise.all(saved.signingKeys.map(readSigningKey)),
  }
  const keys = createLocalJWKSet({ keys: [own.publicJwk] })
  return {
    software,
    keysOf: (softwareId) => ({
      keys: softwareId === SOFTWARE_ID ? software.signingKeys.map(({ publicJwk }) => publicJwk) : [],
    }),
    readStatement: async (text) => {
      const { payload } = await jwtVerify(text, keys, { issuer: ISSUER, algorithms: [SIGNING_ALGORITHM] })
      return SoftwareStatement.parse(payload)
    },
    addSigningKey: async () => {
      const key = await makeSigningKey()
      software.signingKeys.push(key)
      return key
    },
    save: () => ({
      key: savedKeyOf(own),
      transport: software.transport,
      signingKeys: software.signingKeys.map(savedKeyOf),
    }),
    removeSigningKey: (kid) => {
      software.signingKeys = software.signingKeys.filter((key) => key.kid !== kid)
    },
  }
}

/** Made at each start, so that it lists the addresses that are registered now. */
function signStatement(
  key: SigningKey,
  { issuer, redirectUris }: { issuer: string; redirectUris: readonly string[] },
): Promise<string> {
  return new SignJWT({
    org_id: ORG_ID,
    org_name: 'Payment initiation service',
    org_status: 'Active',
    software_id: SOFTWARE_ID,
    software_client_id: SOFTWARE_ID,
    software_client_name: 'svc',
    software_environment: 'sandbox',
    software_mode: 'Test',
    software_roles: ['PISP'],
    software_redirect_uris: redirectUris,
    software_jwks_endpoint: `${issuer}/directory/${SOFTWARE_ID}.jwks`,
  })
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid: key.kid, typ: 'JWT' })
    .setIssuer(ISSUER)
    .setIssuedAt()
    .setExpirationTime(STATEMENT_VALIDITY)
    .setJti(crypto.randomUUID())
    .sign(key.privateKey)
}
