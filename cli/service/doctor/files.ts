import { statSync } from 'node:fs'
import { join } from 'node:path'
import { configDirOf } from '../../client/auth/config-dir.ts'
import { credentialsFile } from '../../client/auth/credentials-file.ts'
import { quoted } from '../../base/command-hints.ts'
import { serviceFile } from '../../client/service-state.ts'
import { keyFile } from '../up/key-file.ts'
import { logFile } from '../up/state-files.ts'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'

const FOR_OTHERS = 0o077
const WRITABLE_BY_OTHERS = 0o022

/** Whether what is secret can be read by its owner alone, and the state directory be changed by nobody else. */
export function checkFiles(stateDir: string, env: NodeJS.ProcessEnv): Check {
  const check = 'file permissions'
  if (process.platform === 'win32') return skipped(check, 'Windows keeps them otherwise')
  const secrets = [
    keyFile(stateDir),
    serviceFile(stateDir),
    join(stateDir, 'postgres.json'),
    join(stateDir, 'postgres.log'),
    logFile(stateDir),
    credentialsFile(configDirOf(env)),
  ]
  const open = secrets.filter((file) => ((modeOf(file) ?? 0) & FOR_OTHERS) !== 0)
  if (open.length > 0)
    return finding(
      check,
      `others can read ${open.join(', ')}`,
      `chmod 600 ${open.map((file) => quoted(file)).join(' ')}`,
    )
  if (((modeOf(stateDir) ?? 0) & WRITABLE_BY_OTHERS) !== 0)
    return finding(check, `others can replace what is in ${stateDir}`, `chmod go-w ${quoted(stateDir)}`)
  const there = secrets.filter((file) => modeOf(file) !== undefined).length
  return there === 0
    ? skipped(check, 'there is nothing secret here yet')
    : ok(check, 'what is secret can be read by its owner alone')
}

/** Whether what signs people in can be read by others; the next command that uses it closes it to them. */
export function areCredentialsOpen(env: NodeJS.ProcessEnv): boolean {
  return process.platform !== 'win32' && ((modeOf(credentialsFile(configDirOf(env))) ?? 0) & FOR_OTHERS) !== 0
}

/** Undefined where there is no such file, or none that may be looked at. */
function modeOf(file: string): number | undefined {
  try {
    return statSync(file).mode
  } catch {
    return undefined
  }
}
