import { longDurationText } from '../../../src/lib/duration.ts'
import { advanceSandboxPayment } from '../../../src/wire/sandbox-faults.ts'
import { advanceSandboxClock, readSandboxClock } from '../../../src/wire/sandbox.ts'
import { quoted } from '../../base/command-hints.ts'
import { CliError } from '../../base/errors.ts'
import { sumText } from '../../base/money-text.ts'
import { endOfId, shortTime } from '../../base/text.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { durationOf } from '../../kit/context.ts'
import { findMerchant } from '../../merchants/find.ts'
import { ADVANCE_TIMEOUT_MS } from '../../sandbox/clock.ts'
import { ADVANCE_TIMEOUT_MS as STEP_TIMEOUT_MS, decideOnPage, decidedBefore } from '../../sandbox/payments.ts'
import { playCase } from '../../scenario/play/play.ts'
import type { CaseResult } from '../../scenario/play/play.ts'
import type { StepResult } from '../../scenario/play/play-plan.ts'
import { listBuiltIns } from '../../scenario/read/find-files.ts'
import { loadScenarios } from '../../scenario/read/load.ts'
import type { Case } from '../../scenario/read/read-case.ts'
import { failureLines } from '../../scenario/reporters/failure-lines.ts'
import type { Line } from '../lines.ts'
import { AGE_WIDTH, UNTIL_WIDTH, ageOf, untilText } from '../../base/ages.ts'
import type { FormValues } from '../model/modal.ts'
import { screen } from '../screen.ts'
import type { Page, Reading, ScreenKey, Tools } from '../screen.ts'
import { listed } from './merchant-text.ts'
import { paymentDetail, idColumns, readPage, whoseColumns } from './payments.ts'
import type { PaymentRow, WholePayment } from './payments.ts'

/** What time it is for a merchant: one's own, or for an operator the one whose clock was advanced last. */
type Clock = { name: string; now: string; aheadMs: number }

/** The permission to control the sandbox. */
const STEERS = { writes: true, permission: 'operate sandbox' } as const

/** Operators decide by the sandbox, merchants on the page of the mock bank, where their payers do. */
function deciding(key: string, decision: 'approve' | 'cancel', side: 'merchant' | 'platform'): ScreenKey<PaymentRow> {
  const to = decision === 'approve' ? ('Authorised' as const) : ('Failed' as const)
  return {
    ...(side === 'merchant' ? { writes: true } : STEERS),
    for: side,
    key,
    label: decision,
    fits: ({ status }) => status === 'AwaitingAuthorisation',
    command: ({ payment_id: id }) => `svc sandbox bank ${decision} ${id}`,
    ask: (rows) => ({
      what: `${decision} ${rows.length === 1 ? `payment ${rows.map(lineOf).join()}` : `${rows.length} payments`} as payer`,
      about: [
        'The payer decides at the mock bank, and comes back to the merchant.',
        ...(rows.length === 1
          ? []
          : [`Together ${sumText(rows.map((row) => [row.gross_amount, row.currency]))}:`, ...listed(rows, lineOf)]),
      ],
    }),
    async run({ payment_id: id }, _given, { client }) {
      const slowClient = { ...client, timeoutMs: STEP_TIMEOUT_MS }
      const before = decidedBefore(
        side === 'merchant'
          ? await decideOnPage(slowClient, id, { to })
          : (await call(slowClient, advanceSandboxPayment, { params: { id }, body: { to } })).body,
        to,
      )
      if (before === undefined) return `${decision === 'approve' ? 'approved' : 'cancelled'} ${endOfId(id)} at the bank`
      throw new CliError('DECIDED_BEFORE', `nothing was decided: ${before}`, {
        hint: `svc explain ${id}`,
      })
    },
  }
}

function lineOf({ payment_id: id, gross_amount: amount, currency }: PaymentRow): string {
  return `${endOfId(id)} of ${amount} ${currency}`
}

const clockKey: ScreenKey<PaymentRow> = {
  ...STEERS,
  key: '+',
  label: 'clock',
  needs: 'nothing',
  command: (_row, { by = '...', merchant = '...' }, who) =>
    `svc sandbox clock advance ${quoted(by)} --merchant ${quoted(who.merchant?.id ?? merchant)}`,
  ask: ([row], { merchant }) => ({
    what: 'advance the clock',
    about: ['What becomes due in that time happens, in its order. The clock cannot go back.'],
    fields: [
      ...(merchant === null
        ? [
            {
              name: 'merchant',
              label: 'Merchant: its realm or id',
              kind: 'line' as const,
              initial: (row as PaymentRow | undefined)?.realm_slug ?? '',
            },
          ]
        : []),
      { name: 'by', label: 'By how much: 90s, 5m, 11h or 7d', kind: 'line' },
    ],
  }),
  async run(_row, given, { client, who, keep }) {
    const { by = '' } = given
    durationOf(by, '<duration>')
    const merchant = await merchantOf(client, given, who)
    const slowClient = { ...client, timeoutMs: ADVANCE_TIMEOUT_MS }
    const { body } = await call(slowClient, advanceSandboxClock, { body: { merchant_id: merchant.id, by } })
    keep({ advanced: merchant })
    return `advanced the clock of ${merchant.name} by ${by}, past ${body.stops} due times`
  },
}

async function merchantOf(client: Client, given: FormValues, { merchant }: Who): Promise<{ id: string; name: string }> {
  if (merchant !== null) return { id: merchant.id, name: merchant.trading_name }
  const { merchant: found } = await findMerchant(client, given['merchant'] ?? '')
  return { id: found.id, name: found.trading_name }
}

async function readQueue(reading: Reading): Promise<Page<PaymentRow, Clock>> {
  const { client, who, kept, cursor } = reading
  const page = await readPage({ ...reading, filter: 'AwaitingAuthorisation' })
  const whose = who.merchant === null ? kept.advanced : { id: who.merchant.id, name: who.merchant.trading_name }
  if (cursor !== undefined || whose === undefined || !who.permissions.includes('operate sandbox'))
    return { rows: page.rows, next: page.next }
  const { body } = await call(client, readSandboxClock, { query: { merchant_id: whose.id } })
  return { rows: page.rows, next: page.next, extra: { name: whose.name, now: body.now, aheadMs: body.ahead_ms } }
}

function clockLine({ name, now, aheadMs }: Clock): Line {
  const ahead = aheadMs === 0 ? 'the real time' : `${longDurationText(aheadMs)} ahead`
  return [
    { text: ` Clock of ${name}  `, tone: 'dim' },
    { text: `${shortTime(now)}, ${ahead}`, tone: aheadMs === 0 ? undefined : 'warn' },
  ]
}

const FIRST = 'happy-path'

/** Runs a scenario that comes with svc, with its steps as they come; closing that stops it. */
const scenarioKey: ScreenKey<PaymentRow> = {
  key: 's',
  label: 'scenario',
  writes: true,
  permission: 'operate sandbox',
  needs: 'nothing',
  command: (_row, { scenario = '...' }) => `svc run ${scenario}`,
  ask: () => {
    const notes = Object.fromEntries(listBuiltIns().map(({ name, title }) => [name, title]))
    return {
      what: 'run a scenario',
      about: ['Each case makes a merchant and a webhook receiver of its own.'],
      fields: [{ name: 'scenario', label: 'Which', kind: 'choice', words: Object.keys(notes), notes, initial: FIRST }],
    }
  },
  run: (_row, { scenario = FIRST }, tools) => play(scenario, tools),
}

const CASE_TIMEOUT_MS = 60_000

/** @throws {CliError} SCENARIO_FAILED, exit code 3, and whatever keeps it from being played */
async function play(name: string, { client, watch }: Tools): Promise<string> {
  const { cases } = loadScenarios([name], { cwd: process.cwd(), vars: {} })
  const done: string[] = []
  const results: CaseResult[] = []
  const failed = (): number => results.filter(({ failure }) => failure !== undefined).length
  const summary = (): string => {
    const passed = results.filter(({ failure, skipped }) => failure === undefined && skipped === undefined).length
    return failed() === 0 ? `${passed} passed` : `${failed()} failed, ${passed} passed`
  }
  const isOver = await watch(`Scenario ${name}`, async ({ signal, write }) => {
    for (const scenario of cases) {
      const steps: StepResult[] = []
      write([...done, ...caseLines(scenario, steps)])
      const result = await playCase(client, scenario, {
        timeoutMs: CASE_TIMEOUT_MS,
        signal,
        reportStep(step) {
          steps.push(step)
          write([...done, ...caseLines(scenario, steps)])
        },
        rerun: () => `svc run ${name} --only ${scenario.number}`,
      })
      if (signal.aborted) break
      results.push(result)
      done.push(...caseLines(scenario, result.steps, true), ...endLines(result), '')
    }
    return [...done, summary()]
  })
  if (!isOver) return `stopped ${name}`
  if (failed() === 0) return `played ${name}: ${summary()}`
  throw new CliError('SCENARIO_FAILED', `${name}: ${summary()}`, { hint: `svc run ${name}` })
}

const MARKS = { passed: 'ok', failed: 'FAILED', skipped: '-' } as const

export function caseLines(
  { name, steps }: { name: string; steps: readonly Pick<Case['steps'][number], 'number' | 'label' | 'title'>[] },
  ended: readonly StepResult[],
  isOver = false,
): string[] {
  const results = new Map(ended.map((step) => [step.number, step]))
  const shown = isOver ? steps : steps.slice(0, ended.length + 1)
  return [
    name,
    ...shown.map(({ number, label, title }) => {
      const result = results.get(number)
      const mark = result === undefined ? (isOver ? '-' : '...') : MARKS[result.status]
      const took = result === undefined || result.status === 'skipped' ? '' : ` (${Math.round(result.durationMs)} ms)`
      return `${mark.padEnd(7)}${label} ${title}${took}`
    }),
  ]
}

function endLines({ failure, skipped }: CaseResult): string[] {
  if (skipped !== undefined) return [`Not played: ${skipped}`]
  return failure === undefined ? [] : ['', ...failureLines(failure, (_style, text) => text)]
}

export const sandbox = screen<PaymentRow, WholePayment, Clock>({
  name: 'sandbox',
  key: '8',
  title: 'Sandbox',
  short: 'Box',
  reads: ['read merchants', 'read payments'],
  sandboxOnly: true,
  limit: 50,
  list: {
    read: readQueue,
    isDirty: (hint) => 'event' in hint && hint.event.payment_id !== null,
  },
  id: ({ payment_id }) => payment_id,
  head: (_rows, _layout, clock) => (clock === undefined ? [] : [clockLine(clock)]),
  columns: ({ now, who }) => [
    { title: 'id', value: (row) => endOfId(row.payment_id) },
    { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'waits', value: (row) => ageOf(row.created_at, now), align: 'right', floor: AGE_WIDTH },
    { title: 'expires', value: (row) => untilText(row.expires_at, now), floor: UNTIL_WIDTH, dropped: 3 },
    ...whoseColumns(who),
    { title: 'status', value: (row) => row.status, onlyWide: true },
    { title: 'created', value: (row) => shortTime(row.created_at), onlyWide: true },
    ...idColumns(who),
  ],
  empty: 'No payment waits for its payer at the mock bank.',
  detail: paymentDetail,
  keys: [
    ...(['merchant', 'platform'] as const).flatMap((side) => [
      deciding('a', 'approve', side),
      deciding('c', 'cancel', side),
    ]),
    clockKey,
    scenarioKey,
  ],
})
