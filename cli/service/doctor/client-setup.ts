import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { whoIs } from '../../client/auth/acting-side.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { useColor } from '../../base/io.ts'
import type { Io } from '../../base/io.ts'
import { roleText } from '../../base/role-text.ts'
import { accessOf } from '../../session/whoami.ts'
import { finding, ok, remark, skipped, runCheck } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { DoctorTarget } from './target.ts'

/** What the console needs. */
const COLUMNS_LEAST = 60
const ROWS_LEAST = 16

export async function checkClientSetup(target: DoctorTarget): Promise<Check[]> {
  const { io } = target.context
  return Promise.all([
    runCheck('profile', () => checkProfile(target)),
    runCheck('session', () => checkSession(target)),
    runCheck('terminal', () => terminalCheck(io)),
    runCheck('editor', () => checkEditor(io)),
  ])
}

function checkProfile({ by, profile, state, context }: DoctorTarget): Verdict {
  if (by === 'nothing' || by === 'environment') return skipped('there is no service to act at')
  if (profile !== undefined) {
    const { settings, name } = profile
    const where = settings.realm === null ? '' : ` in realm ${settings.realm}`
    return ok(`${name}: a ${settings.kind}${where}, ${settings.mode} mode`)
  }
  if (state !== undefined) return ok(`dev: the logins of ${context.stateDir}`)
  return ok('none: the address alone was named')
}

/** Whether what proves who commands act as is taken. A session is renewed on the way, as with any command. */
async function checkSession(target: DoctorTarget): Promise<Verdict> {
  const client = target.client()
  try {
    const who = await whoIs(client, accessOf(client, { platform: false, customer: false }))
    const of = who.merchant === null ? '' : ` of ${who.merchant.trading_name}`
    return ok(`${who.name}, ${roleText(who.role)}${of}`)
  } catch (error) {
    if (!(error instanceof CliError) || error.options.exit !== EXIT.signedOut) throw error
    // Whoever has only named an address has not meant to be anybody there.
    if (client.credentials.chosen === undefined) return skipped(error.message)
    return finding(error.message, loginOf(error, target))
  }
}

function loginOf({ options }: CliError, { profile }: DoctorTarget): string {
  const command = /svc login( --?[\w-]+( [\w.-]+)?)*/.exec(options.hint ?? '')?.[0]
  return command ?? (profile === undefined ? 'svc login' : `svc login --profile ${profile.name}`)
}

/** Whether the console has what it needs: room, letters, and colours where they are wanted. */
export function terminalCheck({ stdout, env }: Pick<Io, 'stdout' | 'env'>): Verdict {
  if (!stdout.isTTY) return skipped('this is none')
  const { columns, rows } = stdout
  if (columns < COLUMNS_LEAST || (rows ?? ROWS_LEAST) < ROWS_LEAST)
    return finding(
      `it has ${columns} columns and ${rows ?? 'unknown'} rows; the console needs ${COLUMNS_LEAST} and ${ROWS_LEAST}`,
      `resize -s ${ROWS_LEAST * 2} ${COLUMNS_LEAST * 2}`,
    )
  if (env['TERM'] === 'dumb') return finding('TERM=dumb: it can draw no screen', 'export TERM=xterm-256color')
  if (!isUtf8(env)) return finding('its letters are not UTF-8: names and lines come out wrong', 'export LC_ALL=C.UTF-8')
  const colours = useColor('auto', env, true) ? 'with colours' : 'without colours'
  return ok(`${columns} columns${rows === undefined ? '' : ` and ${rows} rows`}, UTF-8, ${colours}`)
}

/** Windows keeps no such variables. */
function isUtf8(env: NodeJS.ProcessEnv): boolean {
  if (process.platform === 'win32') return true
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((text) => (text ?? '') !== '') ?? ''
  return /utf-?8/i.test(locale)
}

/** Long reasons and evidence are written in it. */
async function checkEditor({ stdout, stdin, env }: Io): Promise<Verdict> {
  if (!stdout.isTTY || !stdin.isTTY) return skipped('there is no terminal to open one on')
  const editor = [env['VISUAL'], env['EDITOR']].find((name) => (name ?? '').trim() !== '')
  if (editor === undefined)
    return remark('VISUAL and EDITOR are not set: long reasons can be given by --reason alone', 'export EDITOR=nano')
  const [word = ''] = editor.trim().split(/\s+/)
  if (process.platform === 'win32' || (await isCommand(word, env))) return ok(editor)
  return finding(`there is no ${word} here`, 'export EDITOR=nano')
}

async function isCommand(word: string, { PATH = '' }: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await promisify(execFile)('/bin/sh', ['-c', 'command -v "$1"', 'sh', word], { env: { PATH }, timeout: 1_000 })
    return true
  } catch {
    return false
  }
}
