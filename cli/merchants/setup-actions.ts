import { commaProblem, isAmountText, parseAmount, percentText, toNumeric } from '../../src/lib/money.ts'
import { setFees } from '../../src/wire/fees.ts'
import { CORRECTED_AGAINST, correctBalance } from '../../src/wire/ledger.ts'
import { setLimits } from '../../src/wire/limits.ts'
import { SettlementSchedule } from '../../src/wire/admin.ts'
import { setSettlementSchedule } from '../../src/wire/settlements.ts'
import { repairRegistration } from '../../src/wire/registration.ts'
import { usageError } from '../base/errors.ts'
import { action, wordSubject } from '../kit/action.ts'
import type { Flags } from '../kit/action.ts'
import { optionalReason, reason, upperCase } from '../kit/read-values.ts'
import { printFees } from './fees-view.ts'
import { merchant } from './subject.ts'
import { limitsText, printCorrection, printLimits, printRepaired } from './view.ts'

const PERCENT = /^(\d{1,2}(?:\.\d{1,2})?)\s?%$/

/** `1.25%` as the fraction `0.0125`. What has no percent sign is a fraction already, and the service checks it. */
function fractionOf(text: string): string {
  const percent = PERCENT.exec(text)?.[1]
  if (percent !== undefined) return toNumeric(parseAmount(percent) / 100n)
  if (/^0(\.\d{1,4})?$/.test(text)) return text
  throw usageError(
    `"${text}" is neither a share below 100% with at most two decimals nor a fraction such as 0.0125`,
    PERCENT.test(`${text}%`) ? `with its sign: ${text}%` : 'a share such as 1.25%',
  )
}

function amountOf(text: string): string {
  if (isAmountText(text)) return text
  throw usageError(commaProblem(text) ?? `invalid amount "${text}"`, 'an amount such as 0.20')
}

const feesSet = action({
  command: 'merchants fees set',
  summary: "Set a merchant's fees for new payments",
  details: 'Existing payments keep their fees.',
  examples: [
    'svc merchants fees set acme-ltd --percentage 1.25% --reason "contract of 2027"',
    'svc merchants fees set acme-ltd --percentage 0 --flat 0.50 --reason "flat price"',
  ],
  subject: merchant,
  flags: {
    percentage: {
      value: 'share',
      summary: 'Share of the amount: 1.25%, or as the fraction 0.0125',
      label: 'Share of the amount',
      member: 'fee_percentage',
      read: fractionOf,
    },
    flat: {
      value: 'amount',
      summary: 'Flat fee per payment, in its currency: 0.20',
      label: 'For each payment',
      member: 'fee_flat',
      read: amountOf,
    },
    reason,
  },
  operation: setFees,
  expected: ['fee_percentage', 'fee_flat'],
  effect: ({ trading_name: name, ...fees }, { percentage = fees.fee_percentage, flat = fees.fee_flat }) =>
    `charge ${name} ${percentText(percentage)} and ${flat} for each payment from now on`,
  done: ({ trading_name: name }, fees) =>
    `${name} pays ${percentText(fees.fee_percentage)} + ${fees.fee_flat} from now on`,
  confirm: true,
  key: { letter: 'f', label: 'fees', needs: 'one' },
  initial: (thing) => ({ percentage: percentText(thing.fee_percentage), flat: thing.fee_flat }),
  view: (context, fees, thing) => printFees(context, thing, fees),
})

/** `GBP, EUR` as `GBP,EUR`. */
function currenciesOf(text: string): string {
  const list = text
    .toUpperCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  if (list.length > 0 && list.every((currency) => /^[A-Z]{3}$/.test(currency))) return list.join(',')
  throw usageError(`"${text}" is not a list of currencies`, 'currencies such as GBP,EUR')
}

const limitsSet = action({
  command: 'merchants limits set',
  summary: "Set a merchant's currencies and largest payment",
  details: 'For new payments. Existing payments and their refunds continue.',
  examples: [
    'svc merchants limits set acme-ltd --max-payment 500 --reason "new shop"',
    'svc merchants limits set acme-ltd --currencies GBP,EUR --max-payment 1000000 --reason "reviewed"',
  ],
  subject: merchant,
  flags: {
    currencies: { value: 'list', summary: 'Allowed currencies: GBP,EUR', label: 'Currencies', read: currenciesOf },
    maxPayment: {
      value: 'amount',
      summary: 'Largest payment, in its currency: at most 1000000.00',
      label: 'Largest payment',
      member: 'payment_amount_max',
      read: amountOf,
    },
    reason,
  },
  operation: setLimits,
  request: (id, { currencies, maxPayment, reason: why }) => ({
    params: { id },
    body: { currencies: currencies?.split(','), payment_amount_max: maxPayment, reason: why },
  }),
  expected: ['currencies', 'payment_amount_max'],
  effect: ({ trading_name: name, ...limits }, { currencies, maxPayment = limits.payment_amount_max }) =>
    `let ${name} take payments of ${limitsText({ currencies: currencies?.split(',') ?? limits.currencies, payment_amount_max: maxPayment })} from now on`,
  done: ({ trading_name: name }, limits) => `${name} takes payments of ${limitsText(limits)} from now on`,
  confirm: true,
  key: { letter: 'l', label: 'limits', needs: 'one' },
  initial: (thing) => ({ currencies: thing.currencies.join(','), maxPayment: thing.payment_amount_max }),
  view: (context, limits, thing) => printLimits(context, thing, limits),
})

/** When periods are settled, of the two commands that set it: an operator's and the merchant's own. */
export const SCHEDULE = {
  schedule: {
    value: 'schedule',
    summary: 'DAILY, WEEKLY or MANUAL',
    choices: SettlementSchedule.options,
    member: 'settlement_schedule',
    positional: true,
    required: true,
  },
} as const satisfies Flags

const schedule = action({
  command: 'merchants schedule',
  summary: "Set when a merchant's periods are settled",
  details: 'Also for the period that is open. The merchant can set it too, and close a period at any time.',
  examples: ['svc merchants schedule acme-ltd WEEKLY --reason "agreed"'],
  subject: merchant,
  flags: {
    ...SCHEDULE,
    reason,
  },
  operation: setSettlementSchedule,
  expected: ['settlement_schedule'],
  effect: ({ trading_name: name }, { schedule: wanted }) => `settle with ${name} ${wanted} from now on`,
  done: ({ trading_name: name }, { settlement_schedule: now }) => `${name} is settled ${now}`,
  confirm: true,
  view: (context, settled) =>
    context.print.record(settled, [['Schedule', settled.settlement_schedule]], { id: settled.merchant_id }),
})

const correct = action({
  command: 'merchants correct',
  summary: "Add to a merchant's balance, or take from it",
  details:
    'Where no payment, refund or payout is the reason. The next settlement has it as a line. BANK is money that the bank got or gave, FEES the fees of the platform.',
  examples: [
    'svc merchants correct acme-ltd --amount 0.70 --currency GBP --against FEES --reason "a fee charged twice"',
    'svc merchants correct acme-ltd --amount=-12.50 --currency GBP --against BANK --reference "chargeback of May" --reason "the bank took it"',
  ],
  subject: merchant,
  flags: {
    amount: { value: 'amount', summary: 'What the merchant gets; with a minus, what it gives', required: true },
    currency: { value: 'code', summary: 'Currency of the balance', required: true, read: upperCase },
    against: {
      value: 'account',
      summary: 'Other side of the booking',
      choices: CORRECTED_AGAINST,
      member: 'booked_against',
      required: true,
    },
    reference: { value: 'text', summary: 'What the merchant reads in its settlement' },
    payment: {
      value: 'id',
      summary: 'Failed payment that its bank has settled, added up to its amount',
      member: 'payment_id',
    },
    reason: { value: 'text', summary: 'Reason, for the audit trail', required: true },
  },
  operation: correctBalance,
  effect: ({ trading_name: name }, { amount, currency, against }) =>
    amount.startsWith('-')
      ? `take ${amount.slice(1)} ${currency} from the balance of ${name}, for ${against}`
      : `add ${amount} ${currency} to the balance of ${name}, from ${against}`,
  done: ({ trading_name: name }, { amount, currency }) =>
    `the balance of ${name} is corrected by ${amount} ${currency}`,
  confirm: true,
  view: printCorrection,
})

/** A registration, by the realm that it makes or has made. */
const registration = wordSubject('realm', 'Realm, from svc merchants registrations or svc merchants list')

const repair = action({
  command: 'merchants repair',
  summary: 'Repair an incomplete merchant registration',
  examples: [
    'svc merchants repair acme-ltd',
    'svc merchants repair acme-ltd --rollback',
    'svc merchants repair acme-ltd --admin-email ada@acme.example',
  ],
  subject: registration,
  flags: {
    rollback: { summary: 'Delete an incomplete realm instead, and free its name' },
    adminEmail: {
      value: 'address',
      summary: 'Set the administrator, while no ADMIN has signed up',
    },
    reason: optionalReason,
  },
  operation: repairRegistration,
  effect: ({ word: slug }, { rollback, adminEmail }) =>
    rollback === true
      ? `take the realm ${slug} away, as far as it was made, and free its name`
      : `make again what the realm ${slug} is without${adminEmail === undefined ? '' : `, with ${adminEmail} as its administrator`}`,
  done: ({ word: slug }, { repaired }) => `${slug}: ${repaired.join('; ') || 'nothing had to be repaired'}`,
  confirm: ({ rollback, adminEmail }) => rollback === true || adminEmail !== undefined,
  key: { letter: 'r', label: 'repair' },
  view: printRepaired,
})

export const TERMS_ACTIONS = [feesSet, limitsSet, schedule, correct] as const
export const REPAIR_ACTIONS = [repair] as const
