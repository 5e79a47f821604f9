import type { Document } from 'yaml'
import { z } from 'zod'
import { usageError } from '../../base/errors.ts'
import { NO_CREDENTIALS, holdsCredentials } from '../../base/service-address.ts'
import { yaml } from '../../base/yaml.ts'
import { readIfThere, writeOwnFile } from './config-dir.ts'
import { configFile, parsedConfig } from './config-settings.ts'

/** The built-in profile: the running service of the state directory, with its demo merchant and demo operator. */
export const DEV = 'dev'

const HttpUrl = z.url({ protocol: /^https?$/ }).refine((text) => !holdsCredentials(text), NO_CREDENTIALS)

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
  /** The service where neither a profile nor anything nearer names one. */
  api_url: HttpUrl.optional(),
  profiles: z.record(z.string(), Profile).default({}),
})
export type UserConfig = z.infer<typeof UserConfig>

/** The user's own configuration; empty where there is none. @throws {CliError} where it can't be read as one */
export function readUserConfig(configDir: string): UserConfig {
  const file = configFile(configDir)
  const text = readIfThere(file)
  if (text === undefined) return { profiles: {} }
  const result = UserConfig.safeParse(parsedConfig(file, text) ?? {})
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw usageError(`${file}: ${[(issue?.path ?? []).join('.'), issue?.message ?? 'is wrong'].join(': ')}`)
}

export function namedProfile({
  flags,
  env,
}: {
  flags: { profile?: string | undefined }
  env: NodeJS.ProcessEnv
}): string | undefined {
  return flags.profile ?? (env['SVC_PROFILE'] || undefined)
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,62}$/i

/** @throws {CliError} exit code 2 for a text that can't name a profile */
export function checkedName(name: string): string {
  if (NAME.test(name)) return name
  throw usageError(`invalid profile name "${name}": use 1 to 63 letters, digits, dots, hyphens and underscores`)
}

/** Writes a profile, and on demand chooses it. What else stands in the file stays, comments too. */
export function saveProfile(configDir: string, name: string, change: { profile: Profile; choose: boolean }): void {
  edit(configDir, (document) => {
    document.setIn(['profiles', name], document.createNode(change.profile))
    if (change.choose) document.set('profile', name)
  })
}

export function chooseProfile(configDir: string, name: string): void {
  edit(configDir, (document) => {
    // A key that is there stays, with the comments about it.
    if (name !== DEV || document.hasIn(['profile'])) document.set('profile', name)
  })
}

/** Removes a profile; what is chosen is then the built-in one, if it was this. */
export function removeProfile(configDir: string, name: string): void {
  edit(configDir, (document) => {
    if (document.hasIn(['profiles', name])) document.deleteIn(['profiles', name])
    if (document.hasIn(['profile']) && document.get('profile') === name) document.set('profile', DEV)
  })
}

/** A file that says no more than null can take keys, too; what has become empty is written as a block again. */
function makeRoom(document: Document): void {
  const { contents } = document
  if (yaml().isMap(contents)) contents.flow &&= contents.items.length > 0
  else if (contents !== null) {
    document.commentBefore = [document.commentBefore, contents.commentBefore].filter(Boolean).join('\n') || null
    document.comment = [contents.comment, document.comment].filter(Boolean).join('\n') || null
    document.contents = null
  }
}

function edit(configDir: string, change: (document: Document) => void): void {
  const file = configFile(configDir)
  const text = readIfThere(file) ?? ''
  const document = yaml().parseDocument(text)
  makeRoom(document)
  const before = document.toString({ lineWidth: 0 })
  change(document)
  const after = document.toString({ lineWidth: 0 })
  // Where nothing is another, the file stays as it is, or is not made.
  if (after !== before) writeOwnFile(file, after)
}
