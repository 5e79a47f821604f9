import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ListedKey } from '../../../src/keys/list-keys.ts'
import { CliError } from '../../base/errors.ts'
import { keyFile } from '../up/key-file.ts'
import { keysOf, withDatabase } from '../keys/open.ts'
import type { Keys } from '../keys/open.ts'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'
import type { DoctorTarget } from './target.ts'

const CHECK = 'master keys'

/** Whether every secret of the database opens under a master key that is here. */
export async function checkKeys({ context, databaseUrl }: DoctorTarget): Promise<Check> {
  const keys = await keysHere(context)
  if (keys === undefined) return whereNone(context.stateDir)
  if (databaseUrl === undefined) return skipped(CHECK, 'there is no database here to try them on')
  const { listKeys } = await import('../../../src/keys/list-keys.ts')
  const listed = await withDatabase(keys, databaseUrl, (app) => listKeys(app))
  const missing = listed.filter(({ state, values }) => state === 'unknown' && values > 0)
  const [first] = missing
  if (first === undefined) return ok(CHECK, textOf(listed))
  const lost = missing.map(({ kid, values }) => `${values} values are sealed under the key ${kid}`).join(', ')
  return finding(CHECK, `${lost}, which is not here: they can't be read`, fixCommand(keys, context.stateDir, first.kid))
}

async function keysHere(context: DoctorTarget['context']): Promise<Keys | undefined> {
  try {
    return await keysOf(context)
  } catch (error) {
    if (error instanceof CliError && error.code === 'NO_KEY') return undefined
    throw error
  }
}

/** A state directory that has data and no key has lost it. */
function whereNone(stateDir: string): Check {
  if (!existsSync(join(stateDir, 'postgres.json'))) return skipped(CHECK, 'there are none here')
  const file = keyFile(stateDir)
  return finding(
    CHECK,
    `${file} is missing: the secrets of this directory's database open under no other key`,
    `cp <backup>/master.key ${file}`,
  )
}

function fixCommand({ source }: Keys, stateDir: string, kid: string): string {
  return source === 'environment'
    ? `export SVC_ENCRYPTION_KEY_PREVIOUS=<the key with the id ${kid}>`
    : `echo '<the key with the id ${kid}>' >> ${keyFile(stateDir)}`
}

function textOf(listed: readonly ListedKey[]): string {
  const left = listed.filter(({ state, values }) => state === 'previous' && values > 0)
  const sum = listed.reduce((total, { values }) => total + values, 0)
  const some = left.length === 0 ? '' : `; the worker seals anew what is under ${left.map(({ kid }) => kid).join(', ')}`
  return `${sum} values, and every one opens${some}`
}
