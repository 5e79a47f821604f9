import type { Context } from './context.ts'
import { printable } from '../base/text.ts'

/** A warning for people on standard error, and what to type; left out with JSON, where only errors stand there. */
export function warn({ note, paint }: Context, message: string, hint?: string): void {
  note(`${paint('yellow', 'Warning:')} ${printable(message)}`)
  if (hint !== undefined) note(`${paint('yellow', 'Try:')} ${printable(hint, 'lines').replaceAll('\n', '\n     ')}`)
}
