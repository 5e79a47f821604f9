import type { Operation } from '../../../src/wire/operation.ts'
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

/** A list of the service: how it is asked for, and which members of its rows are the name and what it means. */
export type NamedList = {
  operation(): Promise<Pick<Operation, 'name' | 'method' | 'path' | 'access'>>
  query: Readonly<Record<string, string | number>>
  value: string
  meaning: readonly string[]
  /** Of what has a status: those that the command would take. */
  statuses?: readonly string[]
  /** The list for those who may not read this one: a merchant's own. */
  otherwise?: ServiceList
}

const NEWEST = { limit: 50 }
const ALL_DISPUTES: NamedList = {
  operation: async () => (await import('../../../src/wire/disputes.ts')).listAdminDisputes,
  query: NEWEST,
  value: 'id',
  meaning: ['status', 'reason', 'trading_name'],
}
const OWN_DISPUTES: NamedList = {
  operation: async () => (await import('../../../src/wire/disputes.ts')).listDisputes,
  query: NEWEST,
  value: 'id',
  meaning: ['status', 'reason', 'created_at'],
}
const MANDATES: NamedList = {
  operation: async () => (await import('../../../src/wire/consents.ts')).listConsents,
  query: NEWEST,
  value: 'consent_id',
  meaning: ['status', 'created_at'],
}

function merchantsThatAre(status: string): NamedList {
  return {
    operation: async () => (await import('../../../src/wire/admin.ts')).listMerchants,
    query: { limit: 100, kyb_status: status },
    value: 'realm_slug',
    meaning: ['trading_name', 'kyb_status'],
  }
}

export const LISTS: Readonly<Record<ServiceList, NamedList>> = {
  payments: {
    operation: async () => (await import('../../../src/wire/payments.ts')).listPayments,
    query: NEWEST,
    value: 'payment_id',
    meaning: ['status', 'gross_amount', 'currency', 'created_at'],
  },
  mandates: MANDATES,
  'standing-mandates': { ...MANDATES, query: { ...NEWEST, status: 'AUTHORISED' }, statuses: ['AUTHORISED'] },
  disputes: OWN_DISPUTES,
  'open-disputes': { ...OWN_DISPUTES, statuses: ['OPEN', 'UNDER_REVIEW', 'ESCALATED'] },
  'all-disputes': { ...ALL_DISPUTES, otherwise: 'disputes' },
  'escalating-disputes': { ...ALL_DISPUTES, statuses: ['OPEN', 'UNDER_REVIEW'] },
  'resolved-disputes': { ...ALL_DISPUTES, statuses: ['RESOLVED_PAYER_FAVOUR'] },
  'resolvable-disputes': { ...ALL_DISPUTES, statuses: ['UNDER_REVIEW', 'ESCALATED'] },
  deliveries: {
    operation: async () => (await import('../../../src/wire/webhooks.ts')).listWebhooks,
    query: NEWEST,
    value: 'id',
    meaning: ['status', 'event_type', 'created_at'],
  },
  'all-deliveries': {
    operation: async () => (await import('../../../src/wire/webhooks.ts')).listOutbox,
    query: NEWEST,
    value: 'id',
    meaning: ['status', 'event_type', 'realm_slug'],
  },
  merchants: {
    operation: async () => (await import('../../../src/wire/admin.ts')).listMerchants,
    query: { limit: 100 },
    value: 'realm_slug',
    meaning: ['trading_name', 'kyb_status'],
  },
  'pending-merchants': merchantsThatAre('PENDING'),
  'approved-merchants': merchantsThatAre('APPROVED'),
  'suspended-merchants': merchantsThatAre('SUSPENDED'),
  team: {
    operation: async () => (await import('../../../src/wire/team.ts')).listTeam,
    query: {},
    value: 'email',
    meaning: ['role'],
  },
  staff: {
    operation: async () => (await import('../../../src/wire/staff.ts')).listStaff,
    query: {},
    value: 'email',
    meaning: ['role'],
  },
  credentials: {
    operation: async () => (await import('../../../src/wire/team.ts')).listApiCredentials,
    query: {},
    value: 'client_id',
    meaning: ['kind', 'role', 'name'],
  },
  'staff-clients': {
    operation: async () => (await import('../../../src/wire/staff.ts')).listStaffClients,
    query: {},
    value: 'client_id',
    meaning: ['role', 'name'],
  },
  'bank-accounts': {
    operation: async () => (await import('../../../src/wire/bank-accounts.ts')).listBankAccounts,
    query: {},
    value: 'id',
    meaning: ['account_holder_name', 'iban'],
  },
  mail: {
    operation: async () => (await import('../../../src/wire/mails.ts')).listMails,
    query: {},
    value: 'id',
    meaning: ['subject', 'recipient'],
  },
  banks: {
    operation: async () => (await import('../../../src/wire/banks.ts')).listBanks,
    query: {},
    value: 'id',
    meaning: ['name'],
  },
  'bank-scenarios': {
    operation: async () => (await import('../../../src/wire/sandbox-faults.ts')).listBankScenarios,
    query: {},
    value: 'name',
    meaning: ['summary'],
  },
}
