import { resolve } from 'node:path'
import { configDirOf } from './auth/config-dir.ts'
import { DEV, readUserConfig } from './auth/profiles.ts'
import { asTyped, quoted } from '../base/command-hints.ts'
import type { Client } from './call.ts'
import { CliError } from '../base/errors.ts'
import type { FindOptions } from './find-service.ts'
import type { Io } from '../base/io.ts'

type Flags = Pick<FindOptions['flags'], 'apiUrl' | 'stateDir' | 'clientId'>

/**
 * A text with its commands as they have to be typed to do the same elsewhere: at the same service, as the same one. What
 * a bare command would choose by itself is not named.
 */
export function typedText(
  text: string,
  { io, flags, client }: { io: Io; flags: Flags; client: Pick<Client, 'credentials'> },
): string {
  const { apiUrl, stateDir, clientId } = flags
  const called = io.calledAs
  const typed = asTyped(text, called, {
    apiUrl,
    stateDir: stateDir === undefined ? undefined : resolve(io.cwd, stateDir),
    profile: profileFor(io, client),
  })
  if (clientId === undefined || text.includes('--client-id')) return typed
  return typed.replaceAll(
    new RegExp(`(?<![\\w/.-])${called} (?=[a-z-])`, 'g'),
    () => `${called} --client-id ${quoted(clientId)} `,
  )
}

/** The profile that has to be named: a bare command in some shell of this person would act as another one. */
function profileFor({ env }: Io, { credentials: { chosen } }: Pick<Client, 'credentials'>): string | undefined {
  if (chosen?.by !== 'profile' && chosen?.by !== 'dev') return undefined
  const name = chosen.name ?? DEV
  try {
    const ofUser = readUserConfig(configDirOf(env)).profile ?? DEV
    return [ofUser, env['SVC_PROFILE'] || name].some((each) => each !== name) ? name : undefined
  } catch (error) {
    // A file is being written at this moment: the profile is named in any case.
    if (error instanceof CliError) return name
    throw error
  }
}
