import type { AdminDisputeWithEvents, DisputeWithEvents } from '../../../src/wire/disputes.ts'
import { printDispute } from '../../disputes/view.ts'
import type { ListedDispute } from '../../disputes/view.ts'
import { line } from '../lines.ts'
import type { Line } from '../lines.ts'
import { recordLines } from '../record-lines.ts'
import type { Layout } from '../screen.ts'

/** A dispute with its evidence and all that has happened to it. */
export type WholeDispute = DisputeWithEvents | AdminDisputeWithEvents

/** A dispute in detail: what it is about, what each side says beside the other, what has happened. */
export function disputeLines(
  { row, whole }: { row: ListedDispute; whole: WholeDispute | undefined },
  { width }: Layout,
): Line[] {
  const lines = recordLines(width, (context) => printDispute(context, whole ?? row))
  return whole === undefined ? [...lines, line('Loading ...', 'dim')] : lines
}
