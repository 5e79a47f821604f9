import { quoted } from '../base/command-hints.ts'
import { roleText } from '../base/role-text.ts'
import { isSandbox } from '../client/auth/service-info.ts'
import type { Client } from '../client/call.ts'
import { mustBeWritten } from '../output/flush.ts'
import type { Context } from './context.ts'

/** Secret and endpoint are null without an identity provider. */
type NewSecret = {
  client_id: string
  role: string | null
  name: string | null
  client_secret: string | null
  token_endpoint: string | null
}

/**
 * Prints a client with its secret, which can't be shown again, and how to use both.
 * @param wayOut the command that undoes it, or makes another secret, where this one could not be printed
 * @throws {CliError} RESULT_NOT_WRITTEN, exit code 1
 */
export async function printNewSecret({ io, print, note }: Context, made: NewSecret, wayOut: string): Promise<void> {
  print.record(made, [
    ['Client id', made.client_id],
    ['Client secret', made.client_secret ?? ''],
    ['Role', roleText(made.role)],
    ['Name', made.name ?? ''],
    ['Tokens at', made.token_endpoint ?? ''],
  ])
  const id = made.client_id
  await mustBeWritten(io, `the secret of the client ${id} is lost, and the client is there`, {
    hint: wayOut,
    facts: { client_id: id },
  })
  if (print.isMachine || made.client_secret === null || made.token_endpoint === null) return
  note('\nKeep the secret now: it is shown this once. To work with it here:')
  for (const line of useOf(made.client_id)) note(line)
  note('Or for a token of your own:')
  note(tokenCommand(made.token_endpoint))
}

/** How a client is used by the commands that follow. Its secret stands among the results, and never in a remark. */
export function useOf(clientId: string): string[] {
  return [`  export SVC_CLIENT_ID=${clientId} SVC_CLIENT_SECRET='<the client secret>'`, '  svc whoami']
}

/** How to get a token by client_credentials, with what the line before has put into the environment. */
export function tokenCommand(endpoint: string): string {
  return `  curl -s ${endpoint} -d grant_type=client_credentials -u "$SVC_CLIENT_ID:$SVC_CLIENT_SECRET"`
}

/** Says that an invitation was mailed, and in the sandbox how to read that mail. */
export async function noteInvitation(context: Context, client: Client, { email }: { email: string }): Promise<void> {
  if (context.json) return
  context.note(`An invitation goes to ${email}.`)
  if (await isSandbox(client)) context.note(`In the sandbox: ${readMailCommand(email)}`)
}

/** How to open an invitation in the sandbox, which keeps its mail. */
export function readMailCommand(email: string): string {
  return `svc sandbox mail show --recipient ${quoted(email)} --links --wait 10s`
}
