import { join, sep } from 'node:path'
import { packageFolder } from './version.ts'

/** The nouns and verbs after `svc`. The test holds them against the program's own. */
export const COMMAND_WORDS = [
  'up',
  'down',
  'status',
  'register',
  'payments',
  'p',
  'webhooks',
  'wh',
  'team',
  'credentials',
  'sandbox',
  'mail',
  'listen',
  'login',
  'logout',
  'whoami',
  'token',
  'profile',
  'init',
  'merchants',
  'm',
  'kyb',
  'hold',
  'staff',
  'audit',
  'serve',
  'worker',
  'migrate',
  'states',
  'version',
  'help',
] as const

/**
 * What to type before a command to run it again: `svc` where the user's shell finds it, `npx svc` in a checkout and
 * below npm, where it does not.
 * @param script the launcher as the process was given it (process.argv[1])
 */
export function calledAs(env: NodeJS.ProcessEnv, script: string | undefined): string {
  const isOfNpm = (env['npm_execpath'] ?? env['npm_command'] ?? '') !== ''
  const isLocalBin = script?.includes(join('node_modules', '.bin') + sep) === true
  return isOfNpm || isLocalBin || isInCheckout(script) ? 'npx svc' : 'svc'
}

/** The launcher by its own path, outside node_modules: an installed one is started through a link of the shell's path. */
function isInCheckout(script: string | undefined): boolean {
  const folder = packageFolder()
  return script === join(folder, 'bin', 'svc.js') && !folder.split(sep).includes('node_modules')
}

const COMMAND = new RegExp(`(?<![\\w/.-]|npx )svc (?=(?:${COMMAND_WORDS.join('|')}|--?\\w[\\w-]*)(?![\\w-]))`, 'g')

/** The text with every command in it as the user has to type it; `svc` the program stays as it is. */
export function asTyped(text: string, called: string): string {
  return called === 'svc' ? text : text.replace(COMMAND, `${called} `)
}
