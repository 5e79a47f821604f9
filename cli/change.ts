import type { Command } from 'commander'
import { z } from 'zod'
import type { Operation, OperationInput, OperationReply } from '../src/wire/operation.ts'
import { call } from './client.ts'
import type { Client } from './client.ts'
import { confirmInLiveMode } from './confirm.ts'
import type { Dangerous } from './confirm.ts'
import type { Context } from './context.ts'
import { CliError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import { urlOf } from './prepare.ts'

/** The options that every command which changes something has; `--yes` only where something is asked for. */
export const ChangeOptions = z.object({ dryRun: z.boolean().default(false), yes: z.boolean().default(false) })
export type ChangeOptions = z.infer<typeof ChangeOptions>

/** Why: it stands in the audit trail, so a blank is none. */
export const Reason = z
  .string()
  .trim()
  .min(1, 'must say why; it stands in the audit trail')
  .max(500, 'must have 500 characters or fewer')

/** Adds `--dry-run`. */
export function changing(command: Command): Command {
  return command.option('--dry-run', 'show the request, and change nothing')
}

/** Adds `--dry-run` and `--yes`, for what asks first in live mode. */
export function dangerous(command: Command): Command {
  return changing(command).option('-y, --yes', 'do not ask in live mode')
}

type Change<O extends Operation> = {
  input: OperationInput<O>
  options: Pick<ChangeOptions, 'dryRun'>
  /** Where it asks first in live mode. */
  danger?: Dangerous
}

/** Makes a change, and returns the reply; with `--dry-run` shows its request instead, and returns nothing. */
export async function change<O extends Operation>(
  context: Context,
  client: Client,
  operation: O,
  { input, options, danger }: Change<O>,
): Promise<OperationReply<O>['body'] | undefined> {
  if (options.dryRun) {
    printRequest(context, client, operation, input)
    return undefined
  }
  if (danger !== undefined) await confirmInLiveMode(context, client, danger)
  return (await call(client, operation, input)).body
}

/** The request as it would be sent, once it is one that the service could take. */
function printRequest(context: Context, client: Client, operation: Operation, input: OperationInput<Operation>): void {
  const parsed = operation.body.safeParse(input.body)
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path, code, message }) => ({ path: path.join('.'), code, message }))
    throw new CliError('VALIDATION_FAILED', fields.map(({ path, message }) => `${path}: ${message}`).join('; '), {
      exit: EXIT.usage,
      fields,
    })
  }
  const { method } = operation
  const url = urlOf(client, operation, input)
  const body = input.body ?? null
  context.print.record({
    item: { dry_run: true, method, url, body },
    id: url,
    lines: [
      ['Would send', `${method} ${url}`],
      ['Body', body === null ? 'none' : JSON.stringify(body)],
    ],
  })
  context.note('Nothing was changed.')
}
