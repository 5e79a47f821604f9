import type { CommonQueryMethods } from 'slonik'
import { formatAmount, parseAmount, toNumeric } from '../lib/money.ts'
import type { TenThousandths } from '../lib/money.ts'
import { storedCaps } from './control-parameters.ts'
import type { Caps } from './control-parameters.ts'
import { periodAt } from './periods.ts'
import type { AllowanceRecord, MandateRecord, MandateWithAllowances } from './record.ts'
import { readUsedAmounts } from './sql.ts'

/** The columns of a mandate that its caps need. */
type CappedMandate = Pick<
  MandateRecord,
  'id' | 'merchant_id' | 'currency' | 'control_parameters' | 'counts_from' | 'now'
>

/** Reads the used and remaining amounts of each mandate's caps in one statement, whether or not caps are enforced. */
export async function readAllowances<M extends MandateRecord>(
  tx: CommonQueryMethods,
  mandates: readonly M[],
): Promise<(M & MandateWithAllowances)[]> {
  const capped = mandates.map((mandate) => ({
    mandate,
    caps: storedCaps(mandate.control_parameters, mandate.currency),
  }))
  const allowances = await allowancesOf(tx, capped)
  return capped.map(({ mandate, caps }, index) => {
    const own = allowances[index] ?? []
    // The first payment counts against the caps, but the payer has not agreed to it yet: it is not shown as used.
    return { ...mandate, caps, allowances: mandate.is_unanswered ? own.map(asUnused) : own }
  })
}

function asUnused(allowance: AllowanceRecord): AllowanceRecord {
  return { ...allowance, used_amount: toNumeric(0n), remaining_amount: allowance.max_amount }
}

/** The allowances of mandates whose caps are parsed already, in the order of `capped`. */
export async function allowancesOf(
  tx: CommonQueryMethods,
  capped: readonly { mandate: CappedMandate; caps: Caps }[],
): Promise<AllowanceRecord[][]> {
  const limits = capped.flatMap(({ mandate, caps }) =>
    caps.limits.map((limit) => ({
      mandate,
      limit,
      ...periodAt(limit, { now: mandate.now, since: mandate.counts_from }),
    })),
  )
  if (limits.length === 0) return capped.map(() => [])
  const used = await readUsedAmounts(
    tx,
    limits.map(({ mandate, start }) => ({ merchantId: mandate.merchant_id, consentId: mandate.id, start })),
  )
  const records = limits.map(({ limit, end }, index) => ({
    period: limit.period,
    max_amount: toNumeric(limit.maxAmount),
    ...usageOf(limit.maxAmount, used[index]?.used_amount),
    resets_at: end,
  }))
  return capped.map(({ caps }) => records.splice(0, caps.limits.length))
}

function usageOf(max: TenThousandths, text: string | undefined): { used_amount: string; remaining_amount: string } {
  if (text === undefined) throw new Error('the used amount of a cap is missing')
  const left = max - parseAmount(text)
  return { used_amount: text, remaining_amount: toNumeric(left > 0n ? left : 0n) }
}

/** A cap that a payment would exceed, and the amount that it leaves. */
export type ExceededCap = { path: string; message: string; available: string | undefined }

/** The cap that an amount exceeds, with a message; undefined where it exceeds none. */
export function exceededCap(
  amount: TenThousandths,
  { caps, allowances, currency }: { caps: Caps; allowances: readonly AllowanceRecord[]; currency: string },
): ExceededCap | undefined {
  if (amount > caps.maxAmountPerPayment) {
    const most = formatAmount(caps.maxAmountPerPayment, currency)
    const message = `the mandate allows at most ${most} ${currency} for one payment`
    return { path: 'max_amount_per_payment', message, available: most }
  }
  const exceeded = allowances.find(({ remaining_amount: left }) => parseAmount(left) < amount)
  if (exceeded === undefined) return undefined
  const [left, max] = [exceeded.remaining_amount, exceeded.max_amount].map((text) =>
    formatAmount(parseAmount(text), currency),
  )
  return {
    path: `periodic_limits.${exceeded.period}`,
    message: `of ${max} ${currency} for a ${exceeded.period} ${left} ${currency} are left until ${exceeded.resets_at}`,
    available: left,
  }
}
