import type { Command } from 'commander'
import { z } from 'zod'
import type { FieldError } from '../src/lib/errors.ts'
import { parsePart } from '../src/lib/field-errors.ts'
import type { Operation, OperationInput, OperationReply } from '../src/wire/operation.ts'
import { call } from './client.ts'
import type { Client } from './client.ts'
import { confirmInLiveMode } from './confirm.ts'
import type { Dangerous } from './confirm.ts'
import type { Context } from './context.ts'
import { CliError, joinedFields } from './errors.ts'
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
  /** What it would come to, for `--dry-run`, where the request alone does not say it. */
  effect?: string
}

/** Makes a change, and returns the reply; with `--dry-run` shows its request instead, and returns nothing. */
export async function change<O extends Operation>(
  context: Context,
  client: Client,
  operation: O,
  { input, options, danger, effect }: Change<O>,
): Promise<OperationReply<O>['body'] | undefined> {
  if (options.dryRun) {
    printRequest(context, urlOf(client, operation, input), { operation, input, effect })
    return undefined
  }
  context.print.expect(shownOnceBy(operation))
  if (danger !== undefined) await confirmInLiveMode(context, client, danger)
  return (await call(client, operation, input)).body
}

/** The request as it would be sent, once it is one that the service could take. */
function printRequest(
  context: Context,
  url: string,
  { operation, input, effect }: { operation: Operation; input: OperationInput<Operation>; effect: string | undefined },
): void {
  checkBody(operation, input.body)
  const { method } = operation
  const body = input.body ?? null
  context.print.record({
    item: { dry_run: true, method, url, body, effect: effect ?? null },
    id: url,
    lines: [
      ['Would send', `${method} ${url}`],
      ['Body', body === null ? 'none' : JSON.stringify(body)],
      ['Effect', effect ?? ''],
    ],
  })
  context.note('Nothing was changed.')
}

const SECRETS = ['client_secret', 'webhook_signing_secret']

/** The members of a reply that shows a secret, this once; none of any other. */
function shownOnceBy({ replies }: Operation): string[] {
  const members = Object.values(replies).flatMap((reply) => membersOf(reply))
  return SECRETS.some((secret) => members.includes(secret)) ? members : []
}

/** The members that a record of this schema has; none where that is not known. */
export function membersOf(schema: z.ZodType): string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

/**
 * Holds a body against the contract, before anything is sent.
 * @throws {CliError} VALIDATION_FAILED, exit code 2, with everything that is wrong
 */
export function checkBody(operation: Operation, body: unknown): void {
  const fields: FieldError[] = []
  parsePart(operation.body, body, fields)
  if (fields.length === 0) return
  throw new CliError('VALIDATION_FAILED', joinedFields(fields), { exit: EXIT.usage, fields })
}
