import { getBankFaults } from '../../../src/wire/sandbox-faults.ts'
import type { BankFaults } from '../../../src/wire/sandbox-faults.ts'
import { readSandboxClock } from '../../../src/wire/sandbox.ts'
import { call } from '../../client/call.ts'
import { aheadText } from '../../sandbox/clock.ts'
import { shortTime } from '../../base/text.ts'
import { cutTo, line } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { Page, Reading } from '../screen.ts'
import { ownerText } from './merchant-text.ts'
import type { PaymentRow } from './payment-lines.ts'
import { readPage as readPayments } from './payments.ts'

/** What time it is for a merchant, and what goes wrong at its bank. */
type Dial = {
  merchantId: string
  name: string
  now: string
  aheadMs: number
  faults: BankFaults
  /** Whether it is the one that was turned last. */
  isTurned?: boolean
}

/** Those that are shown, and how many merchants wait beside them. */
export type Dials = { list: readonly Dial[]; more: number }

/** For an operator the dials of so many merchants are shown. */
const DIALS_MAX = 3

/** Payments that wait for their payers at the mock bank, the newest first; with the dials of whose they are. */
export async function readQueue(reading: Reading): Promise<Page<PaymentRow, Dials>> {
  const page = await readPayments({ ...reading, filter: 'AwaitingAuthorisation' })
  const { rows, next } = page
  if (reading.cursor !== undefined || !reading.who.permissions.includes('operate sandbox')) return { rows, next }
  const all = merchantsOf(reading, rows)
  const list = await Promise.all(all.slice(0, DIALS_MAX).map((merchant) => readDial(reading, merchant)))
  return { rows, next, extra: { list, more: all.length - list.length } }
}

type Named = Pick<Dial, 'merchantId' | 'name' | 'isTurned'>

function merchantsOf({ who, kept }: Pick<Reading, 'who' | 'kept'>, rows: readonly PaymentRow[]): Named[] {
  if (who.merchant !== null) return [{ merchantId: who.merchant.id, name: who.merchant.trading_name }]
  const last = kept.turned
  const waiting = rows.flatMap((row) =>
    row.merchant_id === null ? [] : [{ merchantId: row.merchant_id, name: ownerText(row) }],
  )
  const others = waiting.filter(({ merchantId }) => merchantId !== last?.merchantId)
  const all = [...(last === undefined ? [] : [{ ...last, isTurned: true }]), ...others]
  return [...new Map(all.map((each) => [each.merchantId, each])).values()]
}

async function readDial({ client }: Pick<Reading, 'client'>, { isTurned, ...merchant }: Named): Promise<Dial> {
  const query = { merchant_id: merchant.merchantId }
  const [{ body: clock }, { body: faults }] = await Promise.all([
    call(client, readSandboxClock, { query }),
    call(client, getBankFaults, { query }),
  ])
  const turnedLast = isTurned === true ? { isTurned } : {}
  return { ...merchant, ...turnedLast, now: clock.now, aheadMs: clock.ahead_ms, faults }
}

/** What goes wrong at a bank, in words; empty where nothing does. */
export function faultsText({ latency, drop_callback: lost, duplicate, unavailable }: BankFaults): string {
  return [
    latency === null ? '' : `answers after ${latency}`,
    lost === null ? '' : `${lost} of callbacks lost`,
    duplicate === null ? '' : `${duplicate} of them twice`,
    unavailable === null ? '' : `${unavailable} of calls unanswered`,
  ]
    .filter((text) => text !== '')
    .join(', ')
}

/** The clocks and banks above the queue. */
export function dialLines(
  { list, more }: Dials,
  { width, isOperator }: { width: number; isOperator: boolean },
): Line[] {
  if (list.length === 0)
    return isOperator ? [line(' No merchant waits here; + and b ask whose clock and bank.', 'dim'), line('')] : []
  return [
    ...list.flatMap((dial): Line[] => {
      const whose = isOperator
        ? `${dial.name}${dial.isTurned === true && list.length > 1 ? ' (turned last)' : ''}  `
        : ''
      const faults = faultsText(dial.faults)
      const ahead = dial.aheadMs === 0 ? 'the real time' : `${aheadText(dial.aheadMs)} ahead`
      const bank: Line = [
        { text: isOperator ? '  Bank ' : ' Bank   ', tone: 'dim' },
        { text: faults === '' ? 'nothing goes wrong' : faults, tone: faults === '' ? undefined : 'warn' },
      ]
      const clock: Line = [
        { text: isOperator ? ' ' : ' Clock  ', tone: 'dim' },
        { text: whose, tone: 'bold' },
        {
          text: isOperator ? ahead : `${shortTime(dial.now)}, ${ahead}`,
          tone: dial.aheadMs === 0 ? undefined : 'warn',
        },
      ]
      return isOperator ? [cutTo([...clock, ...bank], width)] : [cutTo(clock, width), cutTo(bank, width)]
    }),
    ...(more === 0 ? [] : [line(` ${more} more wait here, with clocks and banks of their own.`, 'dim')]),
    line(''),
  ]
}
