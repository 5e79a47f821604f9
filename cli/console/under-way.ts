import { isUuid } from '../../src/lib/ids.ts'
import type { Who } from '../client/auth/who-is.ts'

/** What is being done right now, in words, and to which row; and how many of all were tried before. */
export type UnderWay = { what: string; row: string; done: number; total: number }

/** What is told of it where the console ends before the answer has come, with the command that tells what came of it. */
export function leftText({ what, row, done, total }: UnderWay, kind: Who['kind']): string {
  const before = `${done} of ${total} ${done === 1 ? 'was' : 'were'} tried before`
  const of = total === 1 ? '' : `; ${before}, and the rest was not begun`
  // What has no id of its own, such as a registration that made no merchant, has no story.
  const next = isUuid(row) ? `\nTry: svc explain ${row}${kind === 'platform' ? ' --platform' : ''}` : ''
  return `Not known: "${what}" was being sent when the console ended${of}${next}`
}
