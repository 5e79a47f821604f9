import type { Operation } from '../../../src/wire/operation.ts'
import type { ServiceList } from './sources.ts'

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
