import { sha256Hex } from './hmac.ts'

/**
 * The hash chains of the audit trail, recomputed here without the database, so that an auditor has to trust neither the
 * service nor its database. A test compares every function below with the SQL function that hashes the rows.
 */

export const AUDIT_CHAINS = [
  'operator_actions',
  'payment_events',
  'refund_events',
  'dispute_events',
  'payout_events',
  'ledger_entries',
  'checkpoints',
] as const
export type AuditChain = (typeof AUDIT_CHAINS)[number]

/**
 * A row as it is exported: every column as the text that was hashed. Beside it are the current values of the payment,
 * refund, dispute or payout itself, which are part of no hash: its status as `standing` on its last event, and the
 * values that the first event seals as `standing_<column>` on that one. They are null on all other rows.
 */
export type AuditRow = Readonly<Record<string, string | null>>

export type ChainProblem =
  | 'changed'
  | 'payload changed'
  | 'status edited'
  | 'value edited'
  | 'path broken'
  | 'row missing before it'
  | 'ordinal order'
  | 'not as sealed'
  | 'not as before'

/**
 * The first row of a chain that differs from what was written, or the checkpoint or head that does not match the rows.
 */
export type ChainBreak = { ordinal: string; id: string | null; problem: ChainProblem; detail: string }

/** The previous hash of a chain's first row. */
export const NO_HASH = '0'.repeat(64)

/** How a chain is built: the input of a row's hash, and which rows follow each other. */
export type ChainShape = {
  /** The column that holds the row's own hash. */
  hashColumn: string
  hashOf(row: AuditRow): string
  /**
   * The chain within the table that the row belongs to; the rows of one chain follow each other. Undefined where rows are
   * not linked, and checkpoints alone seal their order.
   */
  linkOf?(row: AuditRow): string
  /** What a chain within the table is about, and the column of its id. */
  subject?: readonly [noun: string, column: string]
  /** The columns whose current values the first row is compared with. */
  sealed?: readonly string[]
  /** Whether the row's own columns mark it as the first of its chain; undefined for chains without such a mark. */
  saysFirst?(row: AuditRow): boolean
}

export const CHAIN_SHAPES: Readonly<Record<AuditChain, ChainShape>> = {
  operator_actions: { hashColumn: 'action_hash', hashOf: operatorActionHash, linkOf: () => '' },
  payment_events: {
    hashColumn: 'event_hash',
    hashOf: paymentEventHash,
    linkOf: (row) => `${row['merchant_id']}/${row['payment_intent_id']}`,
    subject: ['payment', 'payment_intent_id'],
    sealed: ['merchant_id', 'gross_amount', 'fee_amount', 'net_amount', 'currency'],
    saysFirst: (row) => row['previous_status'] === null,
  },
  refund_events: {
    hashColumn: 'event_hash',
    hashOf: refundEventHash,
    linkOf: (row) => `${row['merchant_id']}/${row['refund_id']}`,
    subject: ['refund', 'refund_id'],
    sealed: ['payment_intent_id', 'amount', 'currency'],
    saysFirst: (row) => row['previous_status'] === null,
  },
  dispute_events: {
    hashColumn: 'event_hash',
    hashOf: disputeEventHash,
    linkOf: (row) => `${row['merchant_id']}/${row['dispute_id']}`,
    subject: ['dispute', 'dispute_id'],
    sealed: ['merchant_id', 'payment_intent_id', 'gross_amount', 'currency'],
    saysFirst: (row) => row['previous_status'] === null,
  },
  payout_events: {
    hashColumn: 'event_hash',
    hashOf: payoutEventHash,
    linkOf: (row) => `${row['merchant_id']}/${row['payout_id']}`,
    subject: ['payout', 'payout_id'],
    sealed: ['bank_account_id', 'amount', 'currency'],
    saysFirst: (row) => row['previous_status'] === null,
  },
  ledger_entries: { hashColumn: 'entry_hash', hashOf: ledgerEntryHash },
  checkpoints: { hashColumn: 'checkpoint_hash', hashOf: checkpointHash, linkOf: () => '' },
}

/** The hash of migrations/functions/operator_action_hash.sql. */
export function operatorActionHash(row: AuditRow): string {
  return joined([
    row['prev_hash'],
    row['ordinal'],
    row['id'],
    quoted(row['actor_id']),
    quoted(row['actor_name']),
    row['actor_role'],
    row['action'],
    row['merchant_id'] ?? '-',
    quoted(row['subject_id']),
    quoted(row['reason']),
    row['before'] ?? '-',
    row['after'] ?? '-',
    row['created_at'],
  ])
}

/** The hash of migrations/functions/payment_event_hash.sql. The payload goes into it as its own hash. */
export function paymentEventHash(row: AuditRow): string {
  return joined([
    row['prev_hash'],
    row['ordinal'],
    row['id'],
    row['merchant_id'],
    row['payment_intent_id'],
    row['previous_status'] ?? '-',
    row['new_status'],
    row['changed_by'],
    row['raw_payload_sha256'],
    row['created_at'],
    row['gross_amount'],
    row['fee_amount'],
    row['net_amount'],
    row['currency'],
  ])
}

/** The hash of migrations/functions/refund_event_hash.sql. */
function refundEventHash(row: AuditRow): string {
  return joined([
    row['prev_hash'],
    row['ordinal'],
    row['id'],
    row['merchant_id'],
    row['refund_id'],
    row['previous_status'] ?? '-',
    row['new_status'],
    row['created_at'],
    row['payment_intent_id'],
    row['amount'],
    row['currency'],
  ])
}

/** The hash of migrations/functions/payout_event_hash.sql. */
function payoutEventHash(row: AuditRow): string {
  return joined([
    row['prev_hash'],
    row['ordinal'],
    row['id'],
    row['merchant_id'],
    row['payout_id'],
    row['previous_status'] ?? '-',
    row['new_status'],
    row['changed_by'],
    row['created_at'],
    row['bank_account_id'],
    row['amount'],
    row['currency'],
  ])
}

/** The hash of migrations/functions/dispute_event_hash.sql. */
function disputeEventHash(row: AuditRow): string {
  return joined([
    row['prev_hash'],
    row['ordinal'],
    row['id'],
    row['merchant_id'],
    row['dispute_id'],
    row['previous_status'] ?? '-',
    row['new_status'],
    quoted(row['event']),
    row['changed_by'],
    quoted(row['actor_id']),
    quoted(row['actor_name']),
    quoted(row['note']),
    row['created_at'],
    row['payment_intent_id'],
    row['gross_amount'],
    row['currency'],
  ])
}

/** The hash of migrations/functions/ledger_entry_hash.sql. */
function ledgerEntryHash(row: AuditRow): string {
  return joined([
    row['ordinal'],
    row['merchant_id'],
    row['movement'],
    row['subject_id'],
    row['debit'],
    row['credit'],
    row['amount'],
    row['currency'],
    row['created_at'],
  ])
}

/** The hash of migrations/functions/audit_checkpoint_hash.sql. */
function checkpointHash(row: AuditRow): string {
  return joined([
    row['prev_hash'],
    row['ordinal'],
    row['id'],
    row['chain'],
    row['up_to_ordinal'],
    row['row_count'],
    row['digest'],
    row['created_at'],
  ])
}

/** Skips nulls, as concat_ws does. */
function joined(parts: readonly (string | null | undefined)[]): string {
  return sha256Hex(parts.filter((part) => typeof part === 'string').join('|'))
}

/**
 * to_json() of a text: PostgreSQL escapes the same characters as JSON.stringify, in the same spelling. They differ only
 * in unpaired surrogates, which no PostgreSQL text can contain.
 */
function quoted(text: string | null | undefined): string {
  return typeof text === 'string' ? JSON.stringify(text) : '-'
}
