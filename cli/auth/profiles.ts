import { join } from 'node:path'
import { parse, parseDocument } from 'yaml'
import type { Document } from 'yaml'
import { z } from 'zod'
import { usageError } from '../errors.ts'
import { NO_CREDENTIALS, holdsCredentials } from '../service-address.ts'
import { readIfThere, writeOwnFile } from './config-dir.ts'

/** The built-in profile: the running service of the state directory, with its demo merchant and demo operator. */
export const DEV = 'dev'

const HttpUrl = z.url({ protocol: /^https?$/ }).refine((text) => !holdsCredentials(text), NO_CREDENTIALS)

/** Whose commands a profile is for: of a merchant, of an operator of the platform, or of a customer of the bank. */
export const ProfileKind = z.enum(['merchant', 'platform', 'customer'])
export type ProfileKind = z.infer<typeof ProfileKind>

/** Who to act as, and where. What proves it stands in credentials.json alone. */
export const Profile = z.looseObject({
  api_url: HttpUrl,
  /** null where the service has no identity provider. */
  auth_url: HttpUrl.nullable(),
  realm: z.string().nullable(),
  client_id: z.string().nullable(),
  kind: ProfileKind,
  mode: z.enum(['sandbox', 'live']),
  /** As whoami said at the last login; null before one. */
  role: z.string().nullable(),
  /** The same; a customer's is the customer's id also where no login is needed. */
  subject: z.string().nullable(),
})
export type Profile = z.infer<typeof Profile>

const UserConfig = z.looseObject({
  /** The profile that commands use when nothing else names one. */
  profile: z.string().optional(),
  profiles: z.record(z.string(), Profile).default({}),
})
export type UserConfig = z.infer<typeof UserConfig>

/** What a project may say for everybody who works in it. It is shared: nothing secret has a place in it. */
const ProjectConfig = z.strictObject({
  api_url: HttpUrl.optional(),
  realm: z.string().optional(),
  profile: z.string().optional(),
})
export type ProjectConfig = z.infer<typeof ProjectConfig>

export function configFile(configDir: string): string {
  return join(configDir, 'config.yaml')
}

/** The user's own configuration; empty where there is none. @throws {CliError} where it can't be read as one */
export function readUserConfig(configDir: string): UserConfig {
  return read(configFile(configDir), UserConfig) ?? { profiles: {} }
}

/** The project's, of the directory that the command runs in. */
export function readProjectConfig(cwd: string): ProjectConfig {
  return read(join(cwd, '.svc', 'config.yaml'), ProjectConfig) ?? {}
}

function read<T extends z.ZodType>(file: string, schema: T): z.output<T> | undefined {
  const text = readIfThere(file)
  if (text === undefined) return undefined
  const result = schema.safeParse(parsed(file, text) ?? {})
  if (result.success) return result.data
  const [issue] = result.error.issues
  const at = issue?.path.join('.') ?? ''
  throw usageError(
    `${file}: ${at === '' ? '' : `${at}: `}${issue?.message ?? 'is wrong'}`,
    file.endsWith(join('.svc', 'config.yaml')) ? 'it may hold api_url, realm and profile, and no secrets' : undefined,
  )
}

function parsed(file: string, text: string): unknown {
  try {
    return parse(text)
  } catch (cause) {
    // The parser's own message quotes the line, which may hold anything.
    const line = cause instanceof Error && 'linePos' in cause ? firstLine(cause.linePos) : ''
    throw usageError(`${file}: this is no YAML${line}`)
  }
}

function firstLine(positions: unknown): string {
  const { data } = z
    .tuple([z.looseObject({ line: z.int() })])
    .rest(z.unknown())
    .safeParse(positions)
  return data === undefined ? '' : ` in line ${data[0].line}`
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i

/** @throws {CliError} exit code 2 for a text that can't name a profile */
export function checkedName(name: string): string {
  if (NAME.test(name)) return name
  throw usageError(`"${name}" is no name of a profile: 1 to 63 letters, digits, dots and hyphens`)
}

/** Writes a profile, and on demand chooses it. What else stands in the file stays, comments too. */
export function saveProfile(configDir: string, name: string, change: { profile: Profile; choose: boolean }): void {
  edit(configDir, (document) => {
    document.setIn(['profiles', name], document.createNode(change.profile))
    if (change.choose) document.set('profile', name)
  })
}

/** Chooses what commands use when nothing else names a profile. */
export function chooseProfile(configDir: string, name: string): void {
  edit(configDir, (document) => {
    if (name === DEV) document.delete('profile')
    else document.set('profile', name)
  })
}

/** Removes a profile; what is chosen is then the built-in one, if it was this. */
export function removeProfile(configDir: string, name: string): void {
  edit(configDir, (document) => {
    document.deleteIn(['profiles', name])
    if (document.get('profile') === name) document.delete('profile')
  })
}

function edit(configDir: string, change: (document: Document) => void): void {
  const file = configFile(configDir)
  const document = parseDocument(readIfThere(file) ?? '')
  change(document)
  writeOwnFile(file, document.toString({ lineWidth: 0 }))
}
