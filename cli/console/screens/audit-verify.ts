import { AUDIT_CHAINS } from '../../../src/lib/audit-chain.ts'
import type { OperatorAction } from '../../../src/wire/audit.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { rowsOfService } from '../../audit/rows.ts'
import type { RowSource } from '../../audit/rows.ts'
import { reportLine, verifyAll, whatNext } from '../../audit/verify.ts'
import type { SealedReport } from '../../audit/verify.ts'
import type { Tools } from '../screen.ts'

/** What the last verification from here has found. */
export type Verified = {
  /** When, in milliseconds. */
  at: number
  /** The hashes of the actions, by their ordinals, as they were computed. */
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

/**
 * Computes every hash of the trail again, as `svc audit verify` does, and shows how far it is; closing that stops it.
 * @throws {CliError} AUDIT_BROKEN, exit code 3, and whatever the service refuses
 */
export async function verify({ client, keep, watch }: Tools): Promise<string> {
  const read = new Map<string, number>()
  const hashes = new Map<string, string>()
  let reports: SealedReport[] = []
  let why: string | undefined
  const isOver = await watch('Verifying the audit trail', async ({ signal, write }) => {
    const source: RowSource = async function* pages(chain) {
      for await (const page of rowsOfService({ ...client, signal })(chain)) {
        read.set(chain, (read.get(chain) ?? 0) + page.length)
        write(Array.from(read, ([each, rows]) => `${each}: ${rows} rows read`))
        if (chain === 'operator_actions')
          for (const { ordinal, action_hash: hash } of page) hashes.set(String(ordinal), String(hash))
        yield page
      }
    }
    const nothing = (): undefined => undefined
    reports = await verifyAll(source, { chains: AUDIT_CHAINS, expected: new Map(), told: nothing, at: nothing })
    const broken = reports.filter((report) => report.broken !== null)
    const lines = reports.map(reportLine).map(([chain, text]) => `${chain}: ${text}`)
    why = lines.find((_, index) => reports[index]?.broken !== null)
    markBroken(hashes, reports.find(({ chain }) => chain === 'operator_actions')?.broken?.ordinal)
    keep({ verified: { at: Date.now(), hashes, broken: why } })
    return [...lines.flatMap((text) => [text, '']), ...(why === undefined ? [WHOLE] : whatNext(broken).split('\n'))]
  })
  if (!isOver) return 'stopped; nothing was verified'
  if (why === undefined) return `verified ${reports.reduce((sum, { rows }) => sum + rows, 0)} rows: whole`
  throw new CliError('AUDIT_BROKEN', why, { exit: EXIT.assertion })
}

const WHOLE =
  'The hashes were computed on this machine. That the last rows of a chain were cut off is shown only by a head of before: svc audit verify --expect-head'

/** What is behind a broken row tells nothing, and the row itself is not what was written. */
function markBroken(hashes: Map<string, string>, broken: string | undefined): void {
  if (broken === undefined) return
  for (const ordinal of hashes.keys()) if (BigInt(ordinal) > BigInt(broken)) hashes.delete(ordinal)
  hashes.set(broken, '')
}
