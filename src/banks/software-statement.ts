import { X509Certificate, createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { decodeJwt } from 'jose'
import { z } from 'zod'
import { StatementFileError, readStatementFile } from '../lib/statement-file.ts'

const Id = z.string().regex(/^[A-Za-z0-9_-]{1,40}$/, 'must be at most 40 letters, digits, - and _')

/** What the Open Banking directory gives a payment initiation provider; keys and certificates in PEM form. */
export const SoftwareStatement = z.strictObject({
  org_id: Id,
  software_id: Id,
  /** The software statement assertion, a JWT that the directory signed. */
  ssa: z.string().max(20_000),
  /** For mutual TLS. */
  transport: z.strictObject({ cert: z.string().max(20_000), key: z.string().max(20_000) }),
  /** For client assertions, request objects and bodies. */
  signing: z.strictObject({ kid: z.string().min(1).max(200), key: z.string().max(20_000) }),
})
export type SoftwareStatement = z.infer<typeof SoftwareStatement>

/** When the parts end. A statement of the directory may have no end. */
export type SoftwareStatementDates = { certificateEndsAt: Date; ssaEndsAt: Date | undefined }

/** The software statement can't be used. The message never has a key or an assertion in it. */
export class SoftwareStatementError extends Error {
  /** The member that is wrong, such as `transport.key`. */
  readonly field: string
  constructor(field: string, message: string) {
    super(`${field}: ${message}`)
    this.name = 'SoftwareStatementError'
    this.field = field
  }
}

/**
 * Reads the file of SVC_BANK_SOFTWARE_STATEMENT.
 * @throws {SoftwareStatementError}
 */
export async function readSoftwareStatement(file: string): Promise<SoftwareStatement> {
  const statement = parseStatement(
    await readStatementFile(file).catch((error: unknown) => {
      if (error instanceof StatementFileError) throw new SoftwareStatementError(error.field, error.message)
      throw error
    }),
  )
  checkSoftwareStatement(statement)
  return statement
}

/** @throws {SoftwareStatementError} naming the first member that is wrong */
export function parseStatement(value: unknown): SoftwareStatement {
  const parsed = SoftwareStatement.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue?.code === 'unrecognized_keys')
    throw new SoftwareStatementError(
      [...issue.path, issue.keys[0]].join('.'),
      'is not a member of a software statement',
    )
  throw new SoftwareStatementError(issue?.path.join('.') ?? '', issue?.message ?? 'is not valid')
}

const RSA_BITS_MIN = 2_048

/**
 * Checks that the parts belong together. Dates are not checked: `datesOf` has them.
 * @throws {SoftwareStatementError}
 */
export function checkSoftwareStatement(statement: SoftwareStatement): void {
  const certificate = certificateOf(statement)
  if (!certificate.checkPrivateKey(keyOf('transport.key', statement.transport.key)))
    throw new SoftwareStatementError('transport.key', 'is not the key of the certificate')
  const signing = keyOf('signing.key', statement.signing.key)
  if (signing.asymmetricKeyType !== 'rsa' || (signing.asymmetricKeyDetails?.modulusLength ?? 0) < RSA_BITS_MIN)
    throw new SoftwareStatementError('signing.key', `must be an RSA key of at least ${RSA_BITS_MIN} bits, for PS256`)
  const claims = claimsOf(statement)
  if (claims.software_id !== statement.software_id) throw new SoftwareStatementError('ssa', 'is of another software_id')
  if (claims.org_id !== undefined && claims.org_id !== statement.org_id)
    throw new SoftwareStatementError('ssa', 'is of another org_id')
}

export function datesOf(statement: SoftwareStatement): SoftwareStatementDates {
  const { exp } = claimsOf(statement)
  return {
    certificateEndsAt: new Date(certificateOf(statement).validTo),
    ssaEndsAt: exp === undefined ? undefined : new Date(exp * 1_000),
  }
}

/** The redirect addresses that the directory knows; a bank accepts no other. */
export function redirectUrisOf(statement: SoftwareStatement): readonly string[] {
  return claimsOf(statement).software_redirect_uris
}

const Claims = z.object({
  software_id: z.string(),
  org_id: z.string().optional(),
  exp: z.number().optional(),
  software_redirect_uris: z.array(z.string()).default([]),
})

/** Not verified: the banks do that, with the directory's keys. */
function claimsOf({ ssa }: SoftwareStatement): z.infer<typeof Claims> {
  try {
    return Claims.parse(decodeJwt(ssa))
  } catch {
    throw new SoftwareStatementError('ssa', 'is not a software statement assertion of the directory')
  }
}

export function certificateOf({ transport }: Pick<SoftwareStatement, 'transport'>): X509Certificate {
  try {
    return new X509Certificate(transport.cert)
  } catch {
    throw new SoftwareStatementError('transport.cert', 'is not a certificate in PEM form')
  }
}

function keyOf(field: string, pem: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw new SoftwareStatementError(field, 'is not a private key in PEM form, without a passphrase')
  }
}
