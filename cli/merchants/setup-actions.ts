import { parseAmount, percentText, toNumeric } from '../../src/lib/money.ts'
import { setFees } from '../../src/wire/fees.ts'
import { repairRegistration } from '../../src/wire/registration.ts'
import { usageError } from '../base/errors.ts'
import { action } from '../kit/action.ts'
import type { Subject } from '../kit/action.ts'
import { optionalReason, reason } from '../kit/read-values.ts'
import { printFees } from './fees-view.ts'
import { merchant } from './subject.ts'
import { printRepaired } from './view.ts'

const PERCENT = /^(\d{1,2}(?:\.\d{1,2})?)\s?%$/

/** `1.25%` as the fraction `0.0125`. What has no percent sign is a fraction already, and the service checks it. */
function fractionOf(text: string): string {
  const percent = PERCENT.exec(text)?.[1]
  if (percent !== undefined) return toNumeric(parseAmount(percent) / 100n)
  if (/^0(\.\d{1,4})?$/.test(text)) return text
  throw usageError(
    `"${text}" is neither a share below 100% with at most two decimals nor a fraction such as 0.0125`,
    'a share such as 1.25%',
  )
}

function amountOf(text: string): string {
  try {
    parseAmount(text)
    return text
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error), 'an amount such as 0.20')
  }
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
  request: (id, { percentage, flat, reason: why }) => ({
    params: { id },
    body: {
      ...(percentage === undefined ? {} : { fee_percentage: percentage }),
      ...(flat === undefined ? {} : { fee_flat: flat }),
      reason: why,
    },
  }),
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

/** A registration, by the realm that it makes or has made. */
const registration: Subject<{ slug: string }> = {
  noun: 'realm',
  summary: 'Realm, from svc merchants registrations or svc merchants list',
  find: async (_client, slug) => ({ thing: { slug }, isExact: true }),
  id: ({ slug }) => slug,
  name: ({ slug }) => slug,
  handle: ({ slug }) => slug,
  confirmBy: ({ slug }) => [slug],
}

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
  request: (slug, { rollback = false, adminEmail, reason: why }) => ({
    params: { slug },
    body: {
      rollback,
      ...(adminEmail === undefined ? {} : { admin_email: adminEmail }),
      ...(why === undefined ? {} : { reason: why }),
    },
  }),
  effect: ({ slug }, { rollback, adminEmail }) =>
    rollback === true
      ? `take the realm ${slug} away, as far as it was made, and free its name`
      : `make again what the realm ${slug} is without${adminEmail === undefined ? '' : `, with ${adminEmail} as its administrator`}`,
  done: ({ slug }, { repaired }) => `${slug}: ${repaired.join('; ') || 'nothing had to be repaired'}`,
  confirm: ({ rollback, adminEmail }) => rollback === true || adminEmail !== undefined,
  key: { letter: 'r', label: 'repair' },
  view: printRepaired,
})

/** How operators set merchants up. */
export const FEE_ACTIONS = [feesSet] as const
export const REPAIR_ACTIONS = [repair] as const
