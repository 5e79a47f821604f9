import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { YamlError, parseLocated } from '../lib/located-yaml.ts'
import { QUIRK_NAMES } from './quirks.ts'
import { SHIPPED_PROFILES } from './shipped-profiles.ts'

/** Queries and fragments are ours to add, and credentials in an address would be logged. */
const Address = z
  .url({ protocol: /^https$/, error: 'must be an https:// address' })
  .max(500)
  .refine((url) => {
    const { username, password, search, hash } = new URL(url)
    return username + password + search + hash === ''
  }, 'must have no user, query or fragment')
const BaseAddress = Address.refine((url) => !url.endsWith('/'), 'must not end with a slash')

const Resources = z.strictObject({ base_url: BaseAddress, version: z.enum(['3.1', '4.0'], 'must be "3.1" or "4.0"') })

const ClientId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[!-~]+$/, 'must be printable ASCII characters without spaces')

const Client = z
  .strictObject({
    /** Whether the client is registered by a request of ours, or by hand at the bank, which then gives a client id. */
    registration: z.enum(['dynamic', 'manual']),
    client_id: ClientId.optional(),
    /** The audience of registrations; the issuer by default. */
    registration_audience: z.string().min(1).max(500).optional(),
    token_auth: z.enum(['private_key_jwt', 'tls_client_auth']),
    /** The audience of client assertions. */
    audience: z.enum(['token_endpoint', 'issuer']).default('token_endpoint'),
  })
  .superRefine((client, context) => {
    const isManual = client.registration === 'manual'
    if (isManual === (client.client_id !== undefined)) return
    const message = isManual ? 'is required where registration is manual' : 'is for manual registrations only'
    context.addIssue({ code: 'custom', path: ['client_id'], message })
  })

/** One brand of a bank, as SVC_BANK_PROFILES describes it. */
const Profile = z.strictObject({
  /** As in the catalogue of banks, and the name of the connector. */
  id: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be at most 63 of a-z, 0-9 and -')
    .refine(
      (id) => id !== 'mock' && !id.startsWith('mock-'),
      'must not begin with mock, as the banks of the sandbox do',
    ),
  /** What payers see. */
  name: z.string().trim().min(1).max(70),
  /** An SVG file of its logo, relative to the profiles' file; without one, payers see its initials. */
  logo: z.string().min(1).optional(),
  /** The first digits of its sort codes, by which a payer whose account is known is not asked for the bank. */
  sort_codes: z
    .array(z.string().regex(/^\d{2,6}$/, 'must be 2 to 6 digits'))
    .max(100)
    .default([]),
  issuer: Address,
  /** Where the OpenID configuration is; by default below the issuer. */
  discovery: Address.optional(),
  /** Further hosts that the discovery document may name; those of the addresses here and their neighbours need no entry. */
  hosts: z.array(z.hostname('must be a host name').toLowerCase()).max(20).default([]),
  /** What is sent as x-fapi-financial-id, where the bank needs it. */
  financial_id: z
    .string()
    .regex(/^[A-Za-z0-9]{1,40}$/, 'must be at most 40 letters and digits')
    .optional(),
  /** A file of certificates that are trusted for this bank besides those of the system, relative to the profiles' file. */
  ca: z.string().min(1).optional(),
  client: Client,
  payments: Resources,
  vrp: Resources.optional(),
  quirks: z.array(z.enum(QUIRK_NAMES, `must be one of ${QUIRK_NAMES.join(', ')}`)).default([]),
})

export type BankProfile = Omit<z.infer<typeof Profile>, 'ca' | 'discovery' | 'logo'> & {
  discovery: string
  /** The SVG of `logo`. */
  logo: string | undefined
  /** The certificates of `ca`, as PEM. */
  ca: string | undefined
}

const BANKS_MAX = 200
const Entry = z.looseObject({ id: z.string() })
const File = z.strictObject({ banks: z.array(Entry).min(1).max(BANKS_MAX) })

/** The profiles' file can't be used. The message names the file and the line. */
export class BankProfilesError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BankProfilesError'
  }
}

/**
 * Reads the banks of a file. An entry whose id is that of a shipped profile may leave out what that one says.
 * @throws {BankProfilesError}
 */
export async function readBankProfiles(file: string): Promise<readonly BankProfile[]> {
  const profiles = parseProfiles(file, await readText(file, file))
  return Promise.all(
    profiles.map(async ({ ca, logo, ...profile }) => ({
      ...profile,
      logo: logo === undefined ? undefined : await readLogo(file, resolve(dirname(file), logo), profile.id),
      discovery: profile.discovery ?? wellKnown(profile.issuer),
      ca: ca === undefined ? undefined : await readCertificates(file, resolve(dirname(file), ca), profile.id),
    })),
  )
}

function parseProfiles(file: string, text: string): z.infer<typeof Profile>[] {
  try {
    const { value, lineOf } = parseLocated(text)
    const fail: Fail = (path, message) =>
      new BankProfilesError(`${file}:${lineOf(path)}: ${path.map(String).join('.')}: ${message}`)
    const { banks } = parse(File, value, [], fail)
    return banks.map((entry, index) => {
      const repeated = banks.slice(0, index).some(({ id }) => id === entry.id)
      if (repeated) throw fail(['banks', index, 'id'], `${entry.id} is listed twice`)
      return parse(Profile, withShipped(entry), ['banks', index], fail)
    })
  } catch (error) {
    if (error instanceof YamlError)
      throw new BankProfilesError(`${file}:${error.line}: not valid YAML: ${error.message}`)
    throw error
  }
}

type Fail = (path: PropertyKey[], message: string) => BankProfilesError

/** Reports the first mistake only: the others often follow from it. */
function parse<T>(schema: z.ZodType<T>, value: unknown, at: PropertyKey[], fail: Fail): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  if (issue?.code === 'unrecognized_keys')
    throw fail([...at, ...issue.path, issue.keys[0] ?? ''], 'is not a member of a bank profile')
  throw fail([...at, ...(issue?.path ?? [])], issue?.message ?? 'is not valid')
}

function withShipped(entry: z.infer<typeof Entry>): unknown {
  const shipped = SHIPPED_PROFILES.find(({ id }) => id === entry.id)
  if (shipped === undefined) return entry
  const client = z.record(z.string(), z.unknown()).safeParse(entry['client'])
  return {
    ...shipped,
    ...entry,
    client: client.success ? { ...shipped.client, ...client.data } : (entry['client'] ?? shipped.client),
  }
}

function wellKnown(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
}

async function readCertificates(file: string, path: string, id: string): Promise<string> {
  const text = await readText(path, `${file}: the certificates of ${id}`)
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new BankProfilesError(`${path}: has no certificate in PEM form`)
  return text
}

/** Payers load it with the list of banks, so it is small. As an image it runs no scripts and loads nothing. */
const LOGO_LENGTH_MAX = 32 * 1024

/** What may be before the root element: a byte order mark, a declaration, comments, a document type. */
const PROLOG = /^\uFEFF?(?:\s|<\?[^>]*>|<!--[^]*?-->|<!DOCTYPE[^>[]*(?:\[[^\]]*\]\s*)?>)*/i
/** Without its namespace, a browser shows no image of it. */
const SVG_ROOT = /^<svg(?=\s)(?:[^"'>]|"[^"]*"|'[^']*')*?\sxmlns\s*=\s*(["'])http:\/\/www\.w3\.org\/2000\/svg\1/

async function readLogo(file: string, path: string, id: string): Promise<string> {
  const text = await readText(path, `${file}: the logo of ${id}`)
  if (text.length > LOGO_LENGTH_MAX)
    throw new BankProfilesError(`${path}: has ${text.length} characters, and a logo at most ${LOGO_LENGTH_MAX}`)
  if (!SVG_ROOT.test(text.replace(PROLOG, '')))
    throw new BankProfilesError(
      `${path}: is not an SVG image: its root element must be svg with xmlns="http://www.w3.org/2000/svg"`,
    )
  return text
}

async function readText(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new BankProfilesError(`${what}: cannot read ${path}${code}`)
  }
}
