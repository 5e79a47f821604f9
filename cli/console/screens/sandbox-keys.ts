import { BankFaultSettings, advanceSandboxPayment, setBankFaults } from '../../../src/wire/sandbox-faults.ts'
import { advanceSandboxClock } from '../../../src/wire/sandbox.ts'
import { getPayment } from '../../../src/wire/payments.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { durationOf } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { findMerchant } from '../../merchants/find.ts'
import { actAsPayer } from '../../client/mock-bank.ts'
import type { Decision } from '../../client/mock-bank.ts'
import { wishesOf } from '../../sandbox/bank-fault.ts'
import { ADVANCE_TIMEOUT_MS as STEP_TIMEOUT_MS, decidedBefore } from '../../sandbox/payments.ts'
import { ADVANCE_TIMEOUT_MS } from '../../sandbox/clock.ts'
import { endOfId } from '../../base/text.ts'
import type { Field, Given } from '../model/modal.ts'
import type { ScreenKey } from '../screen.ts'
import { sumText } from '../../base/money-text.ts'
import { listed } from './merchant-text.ts'
import type { PaymentRow } from './payment-lines.ts'
import { scenarioKey } from './sandbox-play.ts'
import { faultsText } from './sandbox-queue.ts'
import { triggerKey } from './sandbox-trigger.ts'

/** The payer's decision at the mock bank. */
function deciding(key: string, decision: Decision, past: string): ScreenKey<PaymentRow> {
  return {
    key,
    label: decision,
    writes: true,
    fits: ({ status }) => status === 'AwaitingAuthorisation',
    facts: ({ status }) => status,
    command: ({ payment_id: id }) => `svc sandbox bank ${decision} ${id}`,
    ask: (rows) => ({
      what: `${decision} ${named(rows)} as ${rows.length === 1 ? 'its payer' : 'their payers'}`,
      about: [
        rows.length === 1
          ? 'The payer decides at the mock bank, and comes back to the merchant.'
          : 'The payers decide at the mock bank, and come back to the merchants.',
        ...manyOf(rows),
      ],
    }),
    async run(row, _given, { client, who }) {
      const { payment_id: id } = row
      if (who.permissions.includes('operate sandbox')) await decide(client, id, decision)
      else await decideAtPage(client, row, decision)
      return `${past} ${endOfId(id)} at the bank`
    },
  }
}

/** Which they are, where their number alone stands above, and what they are together. */
function manyOf(rows: readonly PaymentRow[]): string[] {
  if (rows.length === 1) return []
  const lines = listed(rows, (row) => `${endOfId(row.payment_id)}  ${row.gross_amount} ${row.currency}  ${row.status}`)
  return [`Together ${sumText(rows.map((row) => [row.gross_amount, row.currency]))}:`, ...lines]
}

function named(rows: readonly PaymentRow[]): string {
  const [row] = rows
  return rows.length === 1 && row !== undefined
    ? `payment ${endOfId(row.payment_id)} of ${row.gross_amount} ${row.currency}`
    : `${rows.length} payments`
}

/** As the command does. @throws {CliError} exit code 3 where the payer has decided otherwise before */
async function decide(client: Client, id: string, decision: Decision): Promise<void> {
  const to = decision === 'approve' ? ('Authorised' as const) : ('Failed' as const)
  const patient = { ...client, timeoutMs: STEP_TIMEOUT_MS }
  const { body } = await call(patient, advanceSandboxPayment, { params: { id }, body: { to } })
  const before = decidedBefore(body, to)
  if (before !== undefined) throw refusedAtBank(before, id)
}

/** On the bank's own page, for a merchant that is no operator: the address that its payer is sent to is all that it takes. */
async function decideAtPage(client: Client, row: PaymentRow, decision: Decision): Promise<void> {
  await actAsPayer(client, row, decision)
  const { body } = await call(client, getPayment, { params: { id: row.payment_id } })
  const isOther = decision === 'approve' ? body.status === 'Failed' : body.status !== 'Failed'
  if (isOther) throw refusedAtBank(`it is ${body.status}, and the first decision at the bank counts`, row.payment_id)
}

function refusedAtBank(why: string, id: string): CliError {
  return new CliError('DECIDED_BEFORE', `nothing was decided: ${why}`, {
    exit: EXIT.assertion,
    hint: `svc explain ${id}`,
  })
}

/** Whose clock or bank it is: a merchant's own, or the one that an operator names. */
function merchantField(rows: readonly (PaymentRow | undefined)[], { merchant }: Who): Field[] {
  if (merchant !== null) return []
  const initial = rows[0]?.realm_slug ?? rows[0]?.merchant_id ?? ''
  return [{ name: 'merchant', label: 'Whose: a realm or an id', kind: 'line', initial }]
}

function merchantWords(given: Given, { merchant }: Who): string {
  return `--merchant ${quoted(merchant?.id ?? given['merchant'] ?? '...')}`
}

async function merchantOf(client: Client, given: Given, { merchant }: Who): Promise<{ id: string; name: string }> {
  if (merchant !== null) return { id: merchant.id, name: merchant.trading_name }
  const { merchant: found } = await findMerchant(client, [given['merchant'] ?? ''])
  return { id: found.id, name: found.trading_name }
}

const clock: ScreenKey<PaymentRow> = {
  key: '+',
  label: 'clock',
  writes: true,
  permission: 'operate sandbox',
  needs: 'nothing',
  command: (_row, given, who) =>
    `svc sandbox clock advance ${quoted(given['by'] ?? '...')} ${merchantWords(given, who)}`,
  ask: (rows, who) => ({
    what: 'let time pass',
    about: ['What becomes due on the way happens, in its order. Time does not go back.'],
    fields: [...merchantField(rows, who), { name: 'by', label: 'By how much: 90s, 5m, 11h or 7d', kind: 'line' }],
  }),
  async run(_row, given, { client, who, keep }) {
    const { by = '' } = given
    durationOf(by, '<duration>')
    const { id, name } = await merchantOf(client, given, who)
    const patient = { ...client, timeoutMs: ADVANCE_TIMEOUT_MS }
    const { body } = await call(patient, advanceSandboxClock, { body: { merchant_id: id, by } })
    keep({ turned: { merchantId: id, name } })
    return `${by} have passed for ${name}, with ${body.stops} due times on the way`
  },
}

const FAULTS = ['latency', 'drop_callback', 'duplicate', 'unavailable'] as const
const FAULT_LABELS = {
  latency: 'Before each answer, such as 3s',
  drop_callback: 'Callbacks that get lost, such as 20%',
  duplicate: 'Callbacks that come twice',
  unavailable: 'Calls that get no answer',
} as const

const faults: ScreenKey<PaymentRow> = {
  key: 'b',
  label: 'bank faults',
  writes: true,
  permission: 'operate sandbox',
  needs: 'nothing',
  command: (_row, given, who) => {
    const flags = FAULTS.flatMap((name) => {
      const value = given[name]
      return value === undefined ? [] : [`--${name.replaceAll('_', '-')} ${quoted(value)}`]
    })
    return ['svc sandbox bank fault', ...(flags.length === 0 ? ['--clear'] : flags), merchantWords(given, who)].join(
      ' ',
    )
  },
  ask: (rows, who) => ({
    what: 'let things go wrong at the bank',
    about: ['What is left empty goes well; all of it empty ends every fault.'],
    fields: [
      ...merchantField(rows, who),
      ...FAULTS.map((name): Field => ({ name, label: FAULT_LABELS[name], kind: 'line', optional: true })),
    ],
  }),
  async run(_row, given, { client, who, keep }) {
    const { latency, drop_callback: dropCallback, duplicate, unavailable } = given
    const isClear = FAULTS.every((name) => given[name] === undefined)
    // Checked as the command checks its flags, and sent as the service takes them.
    const wishes = BankFaultSettings.parse(
      wishesOf({ latency, dropCallback, duplicate, unavailable, clear: isClear, dryRun: false, yes: false }),
    )
    const { id, name } = await merchantOf(client, given, who)
    const { body } = await call(client, setBankFaults, { body: { merchant_id: id, ...wishes } })
    keep({ turned: { merchantId: id, name } })
    return `at the bank of ${name}: ${faultsText(body) || 'nothing goes wrong any more'}`
  },
}

/** What can be done at the mock bank, to time, and with stories. */
export const SANDBOX_KEYS: readonly ScreenKey<PaymentRow>[] = [
  ...(['platform', 'merchant'] as const).flatMap((kind) =>
    // An operator needs the right to steer the sandbox; a merchant's payer needs the address of the bank's page.
    [deciding('a', 'approve', 'approved'), deciding('c', 'cancel', 'cancelled')].map((key) => ({
      ...key,
      for: kind,
      permission: kind === 'platform' ? ('operate sandbox' as const) : ('create payments' as const),
    })),
  ),
  clock,
  scenarioKey,
  triggerKey,
  faults,
]
