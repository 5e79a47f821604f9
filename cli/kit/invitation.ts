import { quoted } from '../base/command-hints.ts'
import type { Client } from '../client/call.ts'
import type { Context } from './context.ts'
import { isSandbox } from '../client/auth/service-info.ts'

/** Says that somebody is invited by mail, and in the sandbox how to read that mail. */
export async function noteInvitation(context: Context, client: Client, { email }: { email: string }): Promise<void> {
  if (context.json) return
  context.note(`An invitation goes to ${email}.`)
  if (await isSandbox(client)) context.note(`In the sandbox: ${readMailCommand(email)}`)
}

/** How to open an invitation in the sandbox, which keeps its mail. */
export function readMailCommand(email: string): string {
  return `svc mail show --recipient ${quoted(email)} --links --wait 10s`
}
