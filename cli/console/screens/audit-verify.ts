import { AUDIT_CHAINS } from '../../../src/lib/audit-chain.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { rowsOfService } from '../../audit/rows.ts'
import type { RowSource } from '../../audit/rows.ts'
import { reportLine, verifyAll, whatNext } from '../../audit/verify.ts'
import type { Tools } from '../screen.ts'

/** What the last verification from here has found. */
export type Verified = {
  /** When, in milliseconds. */
  at: number
  /** The hashes of the newest actions, by their ordinals, as they were computed. */
  hashes: ReadonlyMap<string, string>
  /** The first row that is not as it was written, in words. */
  broken: string | undefined
}

type Mark = 'ok' | 'CHANGED' | '-'

/** Whether an action is what was verified; `-` where it was not, as what came later. */
export function markOf(
  { ordinal, action_hash: hash }: Pick<OperatorAction, 'ordinal' | 'action_hash'>,
  verified: Verified | undefined,
): Mark {
  const computed = verified?.hashes.get(ordinal)
  if (computed === undefined) return '-'
  return computed === hash ? 'ok' : 'CHANGED'
}

/** So many of the newest actions keep their mark. */
const MARKS_MAX = 5_000

/**
 * Computes every hash of the trail again, as `svc audit verify` does, and shows how far it is; closing that stops it.
 * @throws {CliError} AUDIT_BROKEN, exit code 3, and whatever the service refuses
 */
export async function verify({ client, keep, watch }: Tools): Promise<string> {
  const shown = watch('Verifying the audit trail')
  const read = new Map<string, number>()
  const hashes = new Map<string, string>()
  const source: RowSource = async function* pages(chain) {
    const service = rowsOfService({ ...client, signal: shown.signal })
    for await (const page of service(chain)) {
      read.set(chain, (read.get(chain) ?? 0) + page.length)
      shown.write(progressLines(read))
      if (chain === 'operator_actions') keepNewest(hashes, page)
      yield page
    }
  }
  try {
    const reports = await verifyAll(source, {
      chains: AUDIT_CHAINS,
      expected: new Map(),
      told: () => undefined,
      at: () => undefined,
    })
    const broken = reports.filter((report) => report.broken !== null)
    const lines = reports.map(reportLine).map(([chain, text]) => `${chain}: ${text}`)
    const [first] = broken
    const why = first === undefined ? undefined : lines[reports.indexOf(first)]
    markBroken(hashes, reports.find(({ chain }) => chain === 'operator_actions')?.broken?.ordinal)
    keep({ verified: { at: Date.now(), hashes, broken: why } })
    const rows = reports.reduce((sum, each) => sum + each.rows, 0)
    shown.end(
      [...lines.flatMap((text) => [text, '']), ...(first === undefined ? [WHOLE] : whatNext(broken).split('\n'))],
      'first',
    )
    if (why === undefined) return `verified ${rows} rows: whole`
    throw new CliError('AUDIT_BROKEN', why, { exit: EXIT.assertion })
  } catch (error) {
    if (shown.signal.aborted) return 'stopped; nothing was verified'
    shown.end([error instanceof Error ? error.message : String(error)])
    throw error
  }
}

const WHOLE =
  'The hashes were computed on this machine. That the last rows of a chain were cut off is shown only by a head of before: svc audit verify --expect-head'

function progressLines(read: ReadonlyMap<string, number>): string[] {
  return ['Esc stops it.', '', ...Array.from(read, ([chain, rows]) => `${chain}: ${rows} rows read`)]
}

/** What is behind a broken row tells nothing, and the row itself is not what was written. */
function markBroken(hashes: Map<string, string>, broken: string | undefined): void {
  if (broken === undefined) return
  for (const ordinal of hashes.keys()) if (BigInt(ordinal) > BigInt(broken)) hashes.delete(ordinal)
  hashes.set(broken, '')
}

function keepNewest(hashes: Map<string, string>, page: readonly Readonly<Record<string, string | null>>[]): void {
  for (const { ordinal, action_hash: hash } of page)
    if (typeof ordinal === 'string' && typeof hash === 'string') hashes.set(ordinal, hash)
  for (const ordinal of hashes.keys()) {
    if (hashes.size <= MARKS_MAX) break
    hashes.delete(ordinal)
  }
}
