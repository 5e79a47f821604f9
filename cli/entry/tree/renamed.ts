import { typedAs } from '../../base/command-hints.ts'

/**
 * Old commands and flags, and what they are now; words after `svc`. A flag stands behind the command it belonged to, or
 * alone where many commands took it. An old word is no alias: it ends with exit code 2 and the new line.
 */
export const RENAMED: readonly (readonly [old: string, now: string])[] = [
  ['listen --event', '--events'],
  ['listen --platform', '--all-merchants'],
  ['logs tail', 'listen'],
  ['logs', 'listen'],
  ['webhooks listen', 'listen'],
  ['webhooks list --lines', '--limit'],
  ['webhooks list -n', '--limit'],
  ['webhooks tail', 'webhooks list --follow'],
  ['audit list --last', '--limit'],
  ['audit tail', 'audit list --follow'],
  ['outbox list', 'webhooks list --all-merchants'],
  ['outbox replay', 'webhooks replay --all-merchants'],
  ['outbox', 'webhooks'],
  ['payments get', 'payments show'],
  ['ledger list', 'payments list --fees'],
  ['ledger export', 'payments export'],
  ['ledger', 'payments'],
  ['merchants payments', 'payments list --all-merchants'],
  ['merchants payment', 'payments show --all-merchants'],
  ['webhooks endpoint get', 'webhooks endpoint show'],
  ['branding get', 'checkout branding show'],
  ['branding', 'checkout branding'],
  ['origins', 'checkout origins'],
  ['widget', 'checkout'],
  ['merchants get', 'merchants show'],
  ['fees get', 'merchants fees show'],
  ['fees show', 'merchants fees show'],
  ['fees', 'merchants fees'],
  ['ob accounts list', 'ob accounts'],
  ['ob recurring get', 'ob recurring show'],
  ['ob recurring preview', 'ob recurring create --dry-run'],
  ['ob request-to-pay get', 'ob request-to-pay show'],
  ['ob offer-to-pay get', 'ob offer-to-pay show'],
  ['p', 'payments'],
  ['wh', 'webhooks'],
  ['m', 'merchants'],
  ['payer receipt', 'payer show'],
  ['payer consents list', 'payments mandates list --as-payer'],
  ['payer consents cancel', 'payments mandates cancel'],
  ['payer consents', 'payments mandates'],
  ['--env-file', '--env'],
  ['init --email', 'staff bootstrap --email'],
  ['sandbox init', 'init'],
  ['samples create', 'init --app'],
  ['samples list', 'init --app'],
  ['portal disputes', 'disputes'],
  ['portal', 'disputes'],
  ['payments disputes', 'disputes list --payment'],
  ['payments dispute', 'disputes raise'],
  ['sandbox dispute', 'disputes raise --as-payer'],
  ['profile add', 'profile create'],
  ['keys new', 'config keys create'],
  ['keys drop', 'config keys list'],
  ['keys', 'config keys'],
  ['migrate new', 'migrate create'],
  ['scenarios new', 'sandbox scenarios create'],
  ['sandbox scenarios new', 'sandbox scenarios create'],
  ['scenarios', 'sandbox scenarios'],
  ['mandates', 'payments mandates'],
  ['mail', 'sandbox mail'],
  ['token', 'profile token'],
  ['openapi', 'api openapi'],
  ['states', 'docs states'],
  ['version', '--version'],
  ['sandbox trigger', 'trigger'],
  ['bank-accounts add', 'payouts accounts create'],
  ['bank-accounts', 'payouts accounts'],
  ['staff add', 'staff invite'],
  ['staff clients', 'credentials list --platform'],
  ['staff create-client', 'credentials create --platform'],
  ['staff revoke-client', 'credentials revoke --platform'],
  ['staff rotate-keys --realm', 'staff rotate-keys'],
  ['payments list --from', '--since'],
  ['payments list --to', '--until'],
  ['payments export --from', '--since'],
  ['payments export --to', '--until'],
  ['ob transactions --from', '--since'],
  ['ob transactions --to', '--until'],
  ['--after', '--cursor'],
  ['listen --since', '--cursor'],
  ['listen --until', '--stop-after'],
  // Words that people try first.
  ['console', 'ui'],
  ['pay', 'payments create'],
  ['refund', 'payments refund'],
  ['replay', 'webhooks replay'],
  ['rotate', 'secret rotate'],
  ['approve', 'kyb approve'],
  ['merchants approve', 'kyb approve'],
  ['kyb hold', 'hold set'],
  ['webhooks rotate', 'secret rotate'],
  ['sandbox approve', 'sandbox bank approve'],
  ['sandbox cancel', 'sandbox bank cancel'],
  ['sandbox reject', 'payments create --scenario'],
  ['sandbox bank reject', 'payments create --scenario'],
  ['payments create --outcome', '--scenario'],
  ['disputes resolve --outcome', '--favour'],
  ['merchants fees set --fixed', '--flat'],
]

/** Flags that are gone, and what to do instead. */
export const DROPPED: ReadonlyMap<string, string> = new Map([
  ['--as', "without an identity provider, the operator's name is a variable: SVC_PLATFORM_USER=ada"],
  ['--history', 'leave the flag out, the history is always there: svc payments show <id>'],
  ['--check', 'the service checks a token where it is opened; what it says: svc checkout token --decode <token>'],
  ['--dir', 'the folder is an argument: svc init shop --app node'],
  ['--map', 'all commands: svc help all'],
  ['--repeat', 'a loop of the shell: for i in $(seq 20); do svc run shop.yaml --ephemeral || break; done'],
  ['--watch', 'the console shows lists live: svc ui\nany command again and again: watch -n 5 svc inbox'],
])

/** A command line after `svc`, and which flags have the next word as their value. */
type Line = { words: readonly string[]; takesValue(flag: string): boolean }

/** What to say of a line with an old word in it: the message and the new line; undefined for any other. */
export function renamed(line: Line): readonly [message: string, hint: string] | undefined {
  const first = oldIn(line)
  if (first === undefined) return undefined
  let words = line.words
  // What is behind an old word may be old as well.
  for (let old: Old | undefined = first; old !== undefined; old = oldIn({ ...line, words })) words = old.words
  const hint = ['svc', ...words.map((word) => typedAs(word))].join(' ')
  return [`${named(first.old)} is now ${named(first.now)}`, hint]
}

function named(words: string): string {
  return words.startsWith('-') ? words : `svc ${words}`
}

type Old = { old: string; now: string; words: readonly string[] }

function oldIn(line: Line): Old | undefined {
  const { words } = line
  const places = commandPlaces(line)
  for (const [old, now] of RENAMED) {
    const flag = /(?:^| )(--?[a-z-]+)$/.exec(old)?.[1]
    const command = old.split(' ').filter((word) => word !== flag)
    if (command.some((word, index) => words[places[index] ?? -1] !== word)) continue
    const rest =
      flag === undefined
        ? withCommand({ words, places, command }, now)
        : withFlag({ words, places, command }, flag, now)
    if (rest !== undefined) return { old, now, words: rest }
  }
  return undefined
}

type Place = { words: readonly string[]; places: readonly number[]; command: readonly string[] }

function withCommand({ words, places, command }: Place, now: string): readonly string[] {
  const parts = now.split(' ')
  const old = places.slice(0, command.length)
  return words.flatMap((word, index) => {
    const at = old.indexOf(index)
    return at === -1 ? [word] : parts.slice(at, at === old.length - 1 ? undefined : at + 1)
  })
}

/** The flag may now be another command's. */
function withFlag(place: Place, flag: string, now: string): readonly string[] | undefined {
  const { words } = place
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`))
  if (at === -1) return undefined
  const [, command = '', name = ''] = /^(?:(.+) )?(\S+)$/.exec(now) ?? []
  // Without a flag in its place its value is an argument.
  if (!name.startsWith('-'))
    return words.with(at, (words[at] ?? '').slice(flag.length + 1)).filter((word) => word !== '')
  const renamed = words.with(at, `${name}${(words[at] ?? '').slice(flag.length)}`)
  return command === '' ? renamed : withCommand({ ...place, words: renamed }, command)
}

/** Where the words stand that are no flags and no values of one. */
function commandPlaces({ words, takesValue }: Line): number[] {
  return words.flatMap((word, index) => (word.startsWith('-') || takesValue(words[index - 1] ?? '') ? [] : [index]))
}
