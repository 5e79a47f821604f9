import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { generateMasterKey } from '../../../src/lib/seal.ts'
import { isSetIn } from '../../base/environment-variables.ts'
import { CliError } from '../../base/errors.ts'
import { explained } from './explain.ts'
import { ownLike } from './state-files.ts'

/**
 * The master keys of a state directory's data, one to a line: the first seals, the others open what was sealed under
 * them. Only the start of `svc up` reads them, of which there is one at a time; so a new first key seals nothing before
 * the process that has it also has all the others.
 */
export type KeyRing = readonly [current: string, ...previous: string[]]

/** As many as the configuration takes beside the current one. */
const PREVIOUS_MAX = 5

export function keyFile(stateDir: string): string {
  return join(stateDir, 'master.key')
}

/** Whether the environment brings the keys itself; those of the state directory then mean nothing. */
export function hasKeyIn(env: NodeJS.ProcessEnv): boolean {
  return isSetIn(env, 'SVC_ENCRYPTION_KEY')
}

export function variablesOf([current, ...previous]: KeyRing): NodeJS.ProcessEnv {
  return {
    SVC_ENCRYPTION_KEY: current,
    ...(previous.length === 0 ? {} : { SVC_ENCRYPTION_KEY_PREVIOUS: previous.join(',') }),
  }
}

export function readKeyRing(stateDir: string): KeyRing | undefined {
  if (!existsSync(keyFile(stateDir))) return undefined
  const [current, ...previous] = readFileSync(keyFile(stateDir), 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  return current === undefined ? undefined : [current, ...previous]
}

/** The keys, the first of which is made once for the data of this directory. */
export async function ensureKeyRing(stateDir: string): Promise<KeyRing> {
  return readKeyRing(stateDir) ?? changeKeyRing(stateDir, (known) => known ?? [generateMasterKey()])
}

/**
 * Puts a new key in front of the others.
 * @throws {CliError} where there is nothing to rotate, or too much already
 */
export function rotateKeyRing(stateDir: string): Promise<KeyRing> {
  return changeKeyRing(stateDir, (known) => [generateMasterKey(), ...checkRotatable(known, stateDir)])
}

/** @throws {CliError} NO_KEY, exit code 6; TOO_MANY_KEYS, exit code 7 */
export function checkRotatable(ring: KeyRing | undefined, stateDir: string): KeyRing {
  if (ring === undefined) throw noKey(stateDir)
  if (ring.length <= PREVIOUS_MAX) return ring
  throw new CliError('TOO_MANY_KEYS', `there are ${ring.length - 1} keys before the current one already`, {
    hint: 'svc config keys list\nto begin again with one key and no data: svc sandbox reset',
  })
}

export function noKey(stateDir: string): CliError {
  return new CliError('NO_KEY', `there is no key in ${stateDir}, and SVC_ENCRYPTION_KEY is not set`, {
    hint: 'to make one: svc up\nor SVC_ENCRYPTION_KEY and SVC_DATABASE_URL in the environment',
  })
}

/** One change at a time, so that no key is lost between two of them. */
async function changeKeyRing(stateDir: string, change: (known: KeyRing | undefined) => KeyRing): Promise<KeyRing> {
  const { lockFileOf } = await import('../../../src/db/state-directory.ts')
  const unlock = await explained(() => lockFileOf(stateDir, 'keys.lock'))
  ownLike(stateDir, join(stateDir, 'keys.lock'))
  try {
    const ring = change(readKeyRing(stateDir))
    writeKeyRing(stateDir, ring)
    return ring
  } finally {
    unlock()
  }
}

/** Whatever the moment of a crash, the file holds all of the keys before or all of those after. */
function writeKeyRing(stateDir: string, ring: KeyRing): void {
  // What a crash left: its key was never in the file, so nothing was sealed under it.
  for (const name of readdirSync(stateDir)) if (name.startsWith('.master.key.')) rmSync(join(stateDir, name))
  const draft = join(stateDir, `.master.key.${randomUUID()}`)
  writeFileSync(draft, `${ring.join('\n')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  ownLike(stateDir, draft)
  renameSync(draft, keyFile(stateDir))
  syncDirectory(stateDir)
}

/** The new name is on the disk before anything is sealed under the new key. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
