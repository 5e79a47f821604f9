import { join, sep } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'
import { NOUNS } from './command-names.ts'

export const COMMAND_WORDS: readonly string[] = NOUNS.map(({ name }) => name)

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
  const folder = packageRoot()
  return script === join(folder, 'bin', 'svc.js') && !folder.split(sep).includes('node_modules')
}

const COMMAND = new RegExp(`(?<![\\w/.-]|npx )svc (?=(?<word>${COMMAND_WORDS.join('|')}|--?\\w[\\w-]*)(?![\\w-]))`, 'g')

/** What the user's command line said of the service and the identity; the environment goes on saying what it says. */
export type ServiceFlags = {
  apiUrl?: string | undefined
  profile?: string | undefined
  stateDir?: string | undefined
  customer?: string | undefined
}

type WordSet = ReadonlySet<string>
const OF_NO_SERVICE = ['init', 'serve', 'worker', 'backup', 'help', 'completion', 'docs']

/** Each flag, and the commands that it means nothing to. A login elsewhere must not land in the profile of here. */
const FLAGS: readonly { flag: string; given: keyof ServiceFlags; notFor: WordSet }[] = [
  {
    flag: '--api-url',
    given: 'apiUrl',
    notFor: new Set([...OF_NO_SERVICE, 'up', 'down', 'migrate', 'logout', 'profile']),
  },
  {
    flag: '--profile',
    given: 'profile',
    notFor: new Set([...OF_NO_SERVICE, 'up', 'down', 'migrate', 'status', 'login', 'profile']),
  },
  { flag: '--state-dir', given: 'stateDir', notFor: new Set(OF_NO_SERVICE) },
]

/**
 * The text with every command in it as the user has to type it to reach the same service as the same person; `svc` the
 * program stays as it is. A flag that the text names itself is left alone.
 */
export function asTyped(text: string, called: string, given: ServiceFlags = {}): string {
  return withCustomer(text, given).replace(COMMAND, (_, word: string) => {
    // Help is of no service.
    if (word.startsWith('-') || text.endsWith(' --help')) return `${called} `
    const flags = FLAGS.flatMap(({ flag, given: key, notFor }) => {
      const value = given[key]
      return value === undefined || notFor.has(word) || text.includes(flag) ? [] : [`${flag} ${quoted(value)} `]
    })
    return `${called} ${flags.join('')}`
  })
}

function withCustomer(text: string, { customer }: ServiceFlags): string {
  if (customer === undefined || text.includes('--customer')) return text
  return text.replaceAll(/(?<![\w/.-])svc ob (?=[a-z])/g, () => `svc ob --customer ${quoted(customer)} `)
}

/** As a shell has to be given it. */
export function quoted(text: string): string {
  return /^[\w@%+=:,./~-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A word as its user types it: `--json=` with nothing behind it is only our own form of `--json`. */
export function typedAs(word: string): string {
  return word === '--json=' ? '--json' : quoted(word)
}
