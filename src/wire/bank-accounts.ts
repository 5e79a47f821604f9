import { z } from 'zod'
import { IdParams, NoBody, NoHeaders, None, Timestamp, Uuid, listOf, nameText, text } from './common.ts'
import { operation } from './operation.ts'

/** A payout account, masked: the service never returns more than the last four characters of its number. */
export const BankAccount = z.strictObject({
  id: Uuid,
  account_holder_name: z.string(),
  account_number: z.string().meta({ examples: ['****5678'] }),
  sort_code: z.string().meta({ examples: ['****3456'] }),
  iban: z.string().nullable(),
  is_active: z.boolean(),
  created_at: Timestamp,
  disabled_at: Timestamp.nullable(),
})
export type BankAccount = z.infer<typeof BankAccount>

export const listBankAccounts = operation({
  name: 'listBankAccounts',
  method: 'GET',
  path: '/api/v1/portal/bank-accounts',
  summary: 'List payout accounts, masked',
  access: ['merchant'],
  permission: 'read bank accounts',
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: listOf(BankAccount) },
  errors: [],
})

export const addBankAccount = operation({
  name: 'addBankAccount',
  isRecorded: true,
  needsFreshSignIn: true,
  dryRun: true,
  method: 'POST',
  path: '/api/v1/portal/bank-accounts',
  summary: 'Add a payout account',
  access: ['merchant'],
  permission: 'manage bank accounts',
  params: None,
  query: None,
  headers: NoHeaders,
  body: z.strictObject({
    account_holder_name: nameText(140),
    sort_code: text(16).meta({ description: '6 digits, with or without hyphens', examples: ['12-34-56'] }),
    account_number: text(16).meta({ description: '8 digits', examples: ['12345678'] }),
    iban: text(42).optional(),
  }),
  replies: { 201: BankAccount },
  errors: ['BANK_ACCOUNT_LIMIT_REACHED'],
})

export const disableBankAccount = operation({
  name: 'disableBankAccount',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'DELETE',
  path: '/api/v1/portal/bank-accounts/{id}',
  summary: 'Disable a payout account',
  description: 'No further payout goes to the account. It stays in the list.',
  access: ['merchant'],
  permission: 'manage bank accounts',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: BankAccount },
  errors: ['BANK_ACCOUNT_NOT_FOUND'],
})
