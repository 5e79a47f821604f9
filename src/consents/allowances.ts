import type { CommonQueryMethods } from 'slonik'
import { formatAmount, parseAmount, toNumeric } from '../lib/money.ts'
import type { TenThousandths } from '../lib/money.ts'
import { storedCaps } from './control-parameters.ts'
import type { Caps } from './control-parameters.ts'
import { periodAt } from './periods.ts'
import type { AllowanceRecord, MandateRecord, MandateWithAllowances } from './record.ts'
import { readUsedAmounts } from './sql.ts'

/** A mandate as far as its caps go. */
type CappedMandate = Pick<
  MandateRecord,
  'id' | 'merchant_id' | 'currency' | 'control_parameters' | 'counts_from' | 'now'
>

/** Reads what is left of each mandate's caps, in one statement for all of them, whether caps are enforced or not. */
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
    // The first payment is held against the caps, but nobody has agreed to it: that is no use of them to show.
    return { ...mandate, caps, allowances: mandate.is_unanswered ? own.map(unused) : own }
  })
}

function unused(allowance: AllowanceRecord): AllowanceRecord {
  return { ...allowance, used_amount: toNumeric(0n), remaining_amount: allowance.max_amount }
}

/** The same of mandates whose caps are read already, in their order. */
export async function allowancesOf(
  tx: CommonQueryMethods,
  capped: readonly { mandate: CappedMandate; caps: Caps }[],
): Promise<AllowanceRecord[][]> {
  const asked = capped.flatMap(({ mandate, caps }) =>
    caps.limits.map((limit) => ({
      mandate,
      limit,
      ...periodAt(limit, { now: mandate.now, since: mandate.counts_from }),
    })),
  )
  if (asked.length === 0) return capped.map(() => [])
  const used = await readUsedAmounts(
    tx,
    asked.map(({ mandate, start }) => ({ merchantId: mandate.merchant_id, consentId: mandate.id, start })),
  )
  const records = asked.map(({ limit, end }, index) => ({
    period: limit.period,
    max_amount: toNumeric(limit.maxAmount),
    ...usageOf(limit.maxAmount, used[index]?.used_amount),
    resets_at: end,
  }))
  return capped.map(({ caps }) => records.splice(0, caps.limits.length))
}

function usageOf(max: TenThousandths, text: string | undefined): { used_amount: string; remaining_amount: string } {
  if (text === undefined) throw new Error('a cap was not answered')
  const left = max - parseAmount(text)
  return { used_amount: text, remaining_amount: toNumeric(left > 0n ? left : 0n) }
}

/** Which cap an amount would break, in words; undefined where it fits them all. */
export function exceededCap(
  amount: TenThousandths,
  { caps, allowances, currency }: { caps: Caps; allowances: readonly AllowanceRecord[]; currency: string },
): { path: string; message: string } | undefined {
  if (amount > caps.maxAmountPerPayment) {
    const most = formatAmount(caps.maxAmountPerPayment, currency)
    return { path: 'max_amount_per_payment', message: `the mandate allows at most ${most} ${currency} for one payment` }
  }
  const broken = allowances.find(({ remaining_amount: left }) => parseAmount(left) < amount)
  if (broken === undefined) return undefined
  const [left, max] = [broken.remaining_amount, broken.max_amount].map((text) =>
    formatAmount(parseAmount(text), currency),
  )
  return {
    path: `periodic_limits.${broken.period}`,
    message: `of ${max} ${currency} for a ${broken.period} ${left} ${currency} are left until ${broken.resets_at}`,
  }
}
