import { partsOf } from '../tree/command-data.ts'
import type { ArgumentData, OptionData } from '../tree/command-data.ts'
import type { Position } from './position.ts'

/** The lists of the service that names come from (ask-service.ts). */
export type ServiceList =
  | 'payments'
  | 'mandates'
  | 'standing-mandates'
  | 'disputes'
  | 'open-disputes'
  | 'all-disputes'
  | 'escalating-disputes'
  | 'resolvable-disputes'
  | 'resolved-disputes'
  | 'deliveries'
  | 'all-deliveries'
  | 'merchants'
  | 'pending-merchants'
  | 'approved-merchants'
  | 'suspended-merchants'
  | 'team'
  | 'staff'
  | 'credentials'
  | 'staff-clients'
  | 'bank-accounts'
  | 'mail'
  | 'banks'
  | 'bank-scenarios'

/** Where the names come from that could stand in a place. */
export type Source =
  | 'files'
  | 'dirs'
  | 'profiles'
  | 'scenarios'
  | 'events'
  | 'methods'
  | 'paths'
  | 'chapters'
  | ServiceList

type Rule = readonly [command: RegExp, name: RegExp, source: Source]

const ARGUMENTS: readonly Rule[] = [
  [/^(payments|sandbox|explain)\b/, /^(id|payment)$/, 'payments'],
  [/^mandates end$/, /^mandate$/, 'standing-mandates'],
  [/^mandates show$/, /^mandate$/, 'mandates'],
  [/^disputes raise$/, /^payment$/, 'payments'],
  [/^disputes (evidence|accept)$/, /^dispute$/, 'open-disputes'],
  [/^disputes refund$/, /^dispute$/, 'resolved-disputes'],
  [/^disputes escalate$/, /^dispute$/, 'escalating-disputes'],
  [/^disputes resolve$/, /^dispute$/, 'resolvable-disputes'],
  [/^disputes /, /^dispute$/, 'all-disputes'],
  [/^webhooks /, /^(delivery|ids)$/, 'deliveries'],
  [/^kyb (approve|refuse)$/, /^merchant$/, 'pending-merchants'],
  [/^kyb suspend$/, /^merchant$/, 'approved-merchants'],
  [/^kyb reinstate$/, /^merchant$/, 'suspended-merchants'],
  [/./, /^(merchant|realm)$/, 'merchants'],
  [/^team /, /^member$/, 'team'],
  [/^staff /, /^member$/, 'staff'],
  [/^credentials /, /^client-id$/, 'credentials'],
  [/^bank-accounts /, /^account-id$/, 'bank-accounts'],
  [/^mail /, /^mail$/, 'mail'],
  [/^profile (use|show|remove)$/, /^name$/, 'profiles'],
  [/^scenarios show$/, /^name$/, 'scenarios'],
  [/./, /^scenarios$/, 'scenarios'],
  [/^((sandbox )?trigger|webhooks test)$/, /^event$/, 'events'],
  [/^api$/, /^method$/, 'methods'],
  [/^api$/, /^path$/, 'paths'],
  [/^docs$/, /^topic$/, 'chapters'],
  [/./, /^(file|path)$/, 'files'],
]

/** By the option, and then by what its value is called. */
const VALUES: readonly Rule[] = [
  [/./, /^--profile\b/, 'profiles'],
  [/./, /^--(file|body-file|data-file|ready-file|env|out) /, 'files'],
  [/./, /^--\S+ (file|path|export)$/, 'files'],
  [/./, /^--\S+ (directory|dir|folder)$/, 'dirs'],
  [/./, /^--\S+ merchant$/, 'merchants'],
  [/^(payments|sandbox|trigger|webhooks)/, /^--payment /, 'payments'],
  [/./, /^--\S+ event$/, 'events'],
  [/./, /^--(debtor-)?bank-id /, 'banks'],
  [/^payments create$/, /^--scenario /, 'bank-scenarios'],
  [/^login$/, /^--realm /, 'merchants'],
]

/** Paths of the output's members are none of the file system. */
const NO_FILE: ReadonlySet<string> = new Set(['--query'])

export function sourceOfArgument({ path, given }: Position, { name }: ArgumentData): Source | undefined {
  const source = find(ARGUMENTS, path, name)
  return source === 'credentials' && given.has('--platform') ? 'staff-clients' : source
}

export function sourceOfValue({ path }: Position, option: OptionData): Source | undefined {
  const { long, valueName } = partsOf(option)
  return NO_FILE.has(long) ? undefined : find(VALUES, path, `${long} ${valueName}`)
}

function find(rules: readonly Rule[], path: readonly string[], name: string): Source | undefined {
  // Before any command a flag may stand, too.
  const command = path.length === 0 ? 'svc' : path.join(' ')
  return rules.find(([ofCommand, ofName]) => ofCommand.test(command) && ofName.test(name))?.[2]
}
