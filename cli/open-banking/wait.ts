import { durationText } from '../../src/lib/duration.ts'
import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { askUntil } from '../kit/wait.ts'
import { statusStyle } from './print.ts'

type Judged = { Status: string; StatusReasonCode?: string | undefined; StatusReason?: string | undefined }

export type Awaited<Item> = {
  /** The thing as it stands, and as it is once it is asked for again. */
  item: Item
  look(): Promise<Item>
  noun: string
  /** Those that end well, the usual one first. */
  good: readonly string[]
  bad: readonly string[]
  timeoutMs: number
  /** Ends a pause at once. */
  signal?: AbortSignal | undefined
  hint: string
}

/** Waits until it has ended. The problem is exit code 3 where that is no good end, and 9 when the time is over. */
export async function awaitEnd<Item extends Judged>(
  { io, note, paint }: Context,
  { item, look, noun, good, bad, timeoutMs, signal, hint }: Awaited<Item>,
): Promise<{ item: Item; problem?: CliError }> {
  let shown = ''
  const reported = (now: Item): Item => {
    if (io.stderr.isTTY && now.Status !== shown) note(paint(statusStyle(now.Status), now.Status))
    shown = now.Status
    return now
  }
  const isEnd = ({ Status }: Judged): boolean => good.includes(Status) || bad.includes(Status)
  reported(item)
  const last = isEnd(item) ? item : await askUntil(async () => reported(await look()), isEnd, timeoutMs, signal)
  if (good.includes(last.Status)) return { item: last }
  if (bad.includes(last.Status))
    return {
      item: last,
      problem: new CliError('STATE_IMPOSSIBLE', `the ${noun} is ${last.Status}${reasonIn(last)}`, {
        hint,
      }),
    }
  return {
    item: last,
    problem: new CliError(
      'WAIT_TIMED_OUT',
      `the ${noun} is still ${last.Status} after ${durationText(timeoutMs)}; awaited was ${good[0] ?? ''}`,
      {
        hint: `${hint}\nto wait longer: the same command with a longer --timeout`,
        retryable: true,
      },
    ),
  }
}

function reasonIn(item: Judged): string {
  const text = reasonText(item)
  return text === '' ? '' : ` (${text})`
}

/** Why something was refused: the code of ISO 20022 with what it means. */
export function reasonText({ StatusReasonCode, StatusReason }: Judged): string {
  return [StatusReasonCode, StatusReason].filter((each) => each !== undefined).join(': ')
}
