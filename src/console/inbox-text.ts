import type { InboxKind } from '../wire/console.ts'
import { formatNumeric } from '../lib/money.ts'
import type { DisputeFacts } from './inbox-disputes-sql.ts'
import type { InboxRecord } from './inbox-sql.ts'

type Words = { summary: string; command: string }
type Tell = (item: InboxRecord) => Words

/** The name that commands find the merchant by. */
function merchant({ realm_slug, merchant_id, id }: InboxRecord): string {
  return realm_slug ?? merchant_id ?? id
}

function deadText(count: number, whose: string): string {
  return count === 1 ? `1 delivery ${whose} is DEAD` : `${count} deliveries ${whose} are DEAD`
}

/** What operators are told, and what they type. */
const FOR_OPERATORS: Partial<Record<InboxKind, Tell>> = {
  kyb_pending: (item) => ({
    summary: 'the merchant waits for a decision',
    command: `svc kyb show ${merchant(item)}`,
  }),
  registration_stuck: (item) => ({
    summary: 'the registration is not whole, or its administrator has not been invited',
    command: `svc merchants repair ${item.realm_slug ?? ''}`,
  }),
  dispute_evidence_due: ({ id }) => ({
    summary: 'a dispute waits for the evidence of its merchant',
    command: `svc disputes show ${id}`,
  }),
  dispute_under_review: ({ id }) => ({
    summary: 'a dispute waits for its resolution',
    command: `svc disputes show ${id}`,
  }),
  dispute_escalated: ({ id }) => ({
    summary: 'an escalated dispute waits for an OWNER',
    command: `svc disputes show ${id}`,
  }),
  deliveries_dead: (item) => ({
    summary: deadText(item.count, 'to the merchant'),
    command: `svc outbox list --merchant ${merchant(item)} --status DEAD`,
  }),
}

/** What a merchant's people are told, and what they type. */
const FOR_MERCHANTS: Partial<Record<InboxKind, Tell>> = {
  kyb_pending: ({ id }) => ({ summary: 'you wait for an approval', command: `svc explain ${id}` }),
  kyb_suspended: ({ id }) => ({
    summary: 'you are suspended: no payment can be created; ask an operator',
    command: `svc explain ${id}`,
  }),
  payouts_held: ({ id }) => ({
    summary: 'your payouts are held: no payment can be created; ask an operator',
    command: `svc explain ${id}`,
  }),
  dispute_evidence_due: ({ id }) => ({
    summary: 'a dispute waits for your evidence',
    command: `svc portal disputes show ${id}`,
  }),
  deliveries_dead: ({ count }) => ({
    summary: deadText(count, 'to you'),
    command: 'svc webhooks replay --status DEAD',
  }),
  webhook_endpoint_gone: () => ({
    summary: 'the address of your webhooks answers 410 Gone',
    command: 'svc webhooks endpoint get',
  }),
  secret_overlap_ending: () => ({
    summary: 'the secret before your last rotation signs only until then',
    command: 'svc secret show',
  }),
}

/** An item in words; with the facts of a dispute, it is told which. */
export function wordsOf(item: InboxRecord, side: 'operator' | 'merchant', facts: DisputeFacts | undefined): Words {
  const tell = (side === 'operator' ? FOR_OPERATORS : FOR_MERCHANTS)[item.kind]
  if (tell === undefined) throw new Error(`${item.kind} is nothing for the ${side}`)
  const words = tell(item)
  return facts === undefined ? words : { ...words, summary: `${whichText(facts)}: ${words.summary}` }
}

/** `37.04 GBP item not received (a2b4358c)`: with the end of its id, for ids of one minute begin alike. */
function whichText({ id, reason, gross_amount: amount, currency }: DisputeFacts): string {
  return `${formatNumeric(amount, currency)} ${currency} ${reason.toLowerCase().replaceAll('_', ' ')} (${id.slice(-8)})`
}
