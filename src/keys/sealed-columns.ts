import { bankAccountContext } from '../bank-accounts/numbers.ts'
import type { SealedNumber } from '../bank-accounts/numbers.ts'
import { obieContext } from '../banks/obie/seal-contexts.ts'
import { softwareStatementContext } from '../banks/connections/software-statement.ts'
import { debtorAccountContext } from '../consents/debtor-account.ts'
import type { KeyColumn, Parted, PartKey } from '../db/parts-sql.ts'
import { LOOKUP_KEY_CONTEXT } from '../db/lookup-hash.ts'
import { realmKeysContext } from '../identity/embedded/realms/keys.ts'
import { factorContext } from '../identity/embedded/users/second-factor.ts'
import type { SealContext } from '../lib/seal.ts'
import { mailBodyContext, recipientContext } from '../mail/seal-context.ts'
import { contactContext } from '../payers/contact.ts'
import { payoutFileContext } from '../payout-files/create-payout-file.ts'
import { previousSecretContext, webhookSecretContext } from '../signing/secret.ts'

/** The values of a row's primary key, in order. */
export type RowKey = PartKey

/** A column of sealed values. The key is that of its rows. */
export type SealedColumn = Omit<Parted, 'where'> & {
  column: string
  /** Returns the context that a value is sealed to; null for values that are not resealed because they expire. */
  context: ((key: RowKey, merchantId: string | null) => SealContext) | null
  /** The column with the merchant's id, if the key does not contain it. */
  merchant?: string
}

const BY_ID: SealedColumn['key'] = [{ name: 'id', type: 'uuid' }]
const BY_MERCHANT_AND_ID: SealedColumn['key'] = [
  { name: 'merchant_id', type: 'uuid' },
  { name: 'id', type: 'uuid' },
]
const MAIL: Omit<SealedColumn, 'column' | 'context'> = { table: ['mails'], key: BY_ID, merchant: 'merchant_id' }
const BY_SLUG: SealedColumn['key'] = [{ name: 'slug', type: 'text' }]

/** Every column with sealed values. A test compares it with the rows of a database in use. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  {
    table: ['merchants'],
    column: 'webhook_signing_secret',
    key: BY_ID,
    context: ([id = '']) => webhookSecretContext(id),
  },
  {
    table: ['merchants'],
    column: 'webhook_secret_previous',
    key: BY_ID,
    context: ([id = '']) => previousSecretContext(id),
  },
  bankAccountColumn('encrypted_account_number'),
  bankAccountColumn('encrypted_sort_code'),
  bankAccountColumn('encrypted_iban'),
  { ...MAIL, column: 'body', context: ([id = ''], merchantId) => mailBodyContext({ id, merchantId }) },
  { ...MAIL, column: 'recipient', context: ([id = ''], merchantId) => recipientContext({ id, merchantId }) },
  {
    table: ['payment_consents'],
    column: 'debtor_identification',
    key: BY_MERCHANT_AND_ID,
    context: ([merchantId = '', consentId = '']) => debtorAccountContext({ merchantId, consentId }),
  },
  {
    table: ['payer_link_requests'],
    column: 'contact',
    key: BY_ID,
    context: ([id = '']) => contactContext('payer_link_requests', id),
  },
  {
    table: ['payer_tokens'],
    column: 'contact',
    key: BY_ID,
    context: ([id = '']) => contactContext('payer_tokens', id),
  },
  { table: ['lookup_keys'], column: 'key', key: [{ name: 'id', type: 'text' }], context: () => LOOKUP_KEY_CONTEXT },
  { table: ['payout_files'], column: 'content', key: BY_ID, context: ([id = '']) => payoutFileContext(id) },
  {
    table: ['bank_software_statements'],
    column: 'statement',
    key: [{ name: 'id', type: 'text' }],
    context: ([id = '']) => softwareStatementContext(id),
  },
  {
    table: ['idp', 'realms'],
    column: 'signing_keys',
    key: BY_SLUG,
    context: ([slug = '']) => realmKeysContext(slug, 'signing_keys'),
  },
  {
    table: ['idp', 'realms'],
    column: 'cookie_keys',
    key: BY_SLUG,
    context: ([slug = '']) => realmKeysContext(slug, 'cookie_keys'),
  },
  {
    table: ['idp', 'second_factors'],
    column: 'secret',
    key: [{ name: 'user_id', type: 'uuid' }],
    context: ([userId = '']) => factorContext(userId),
  },
  bankColumn('consents', 'request', { name: 'state', type: 'text' }),
  bankColumn('consents', 'tokens', { name: 'state', type: 'text' }),
  bankColumn('visits', 'verifier', { name: 'nonce', type: 'text' }),
  bankColumn('visits', 'bank_code', { name: 'nonce', type: 'text' }),
  bankColumn('payments', 'request', { name: 'payment_id', type: 'uuid' }),
  // Rows are found by a hash that also depends on the master key: with another key none is found, so there is nothing
  // to reseal, and they expire.
  {
    table: ['idp', 'state'],
    column: 'payload',
    key: [
      { name: 'realm', type: 'text' },
      { name: 'model', type: 'text' },
      { name: 'id_hash', type: 'bpchar' },
    ],
    context: null,
  },
]

function bankColumn(table: string, column: string, key: KeyColumn): SealedColumn {
  return { table: ['obie', table], column, key: [key], context: ([id = '']) => obieContext(`${table}.${column}`, id) }
}

function bankAccountColumn(column: SealedNumber): SealedColumn {
  return {
    table: ['merchant_bank_accounts'],
    column,
    key: BY_MERCHANT_AND_ID,
    context: ([merchantId = '', id = '']) => bankAccountContext({ merchantId, id }, column),
  }
}

/** `merchants.webhook_signing_secret`. */
export function nameOf({ table, column }: SealedColumn): string {
  return [...table, column].join('.')
}
