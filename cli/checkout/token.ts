import { z } from 'zod'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { checkToken } from './check.ts'
import { decode } from './decode.ts'
import { DescribeOptions, endOf, makeToken } from './make-token.ts'
import type { MadeToken } from './make-token.ts'
import type { Typed } from './next-steps.ts'

export const TokenOptions = DescribeOptions.extend({
  decode: z.string().optional(),
  check: z.boolean().default(false),
})
export type TokenOptions = z.infer<typeof TokenOptions>

export async function token(context: Context, { options }: CommandInput<TokenOptions>): Promise<CommandResult> {
  if (options.decode !== undefined) return decode(context, { ...options, decode: options.decode })
  const client = context.client()
  const { decode: _none, ...rest } = options
  const typed: Typed = { ...rest, command: 'svc checkout token' }
  const made = await makeToken(context, client, typed)
  if (options.returnUrl === undefined && options.callbackOrigin === undefined) tellWhere(context, made)
  if (options.check) return checkToken(context, client, { ...made, typed })
  printToken(context, made)
  return undefined
}

/** Without a page of the merchant's own it is good for the service's alone. */
function tellWhere({ print, note }: Context, { content }: MadeToken): void {
  if (!print.isMachine)
    note(
      `For pages of ${content.callbackOrigin} alone, the service's own; for one of yours: --callback-origin or --return-url`,
    )
}

/** The token alone, for a page or a variable; with JSON what it says, too. */
function printToken({ print, io }: Context, { token: made, isSigned, content }: MadeToken): void {
  if (print.isMachine)
    print.record({ item: { token: made, signed: isSigned, expires_at: endOf(content), content }, id: made, lines: [] })
  else io.stdout.write(`${made}\n`)
}
