import { z } from 'zod'
import type { FieldError } from '../../src/lib/errors.ts'
import { parsePart } from '../../src/lib/field-errors.ts'
import type { Operation, OperationInput, OperationReply } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { confirmInLiveMode } from './confirm.ts'
import type { Dangerous } from './confirm.ts'
import type { Context } from './context.ts'
import { CliError, joinedFields } from '../base/errors.ts'
import { urlOf } from '../client/build-request.ts'

/** What was given for them; `--yes` only where something is asked for. */
export type ChangeOptions = { dryRun: boolean; yes?: boolean }

/** The flags of every command that changes something; and of one that asks first in live mode. */
export const CHANGING = { dryRun: { summary: 'Show the request, and change nothing' } } as const
export const DANGEROUS = { ...CHANGING, yes: { short: '-y', summary: 'Skip the confirmation in live mode' } } as const

type Change<O extends Operation> = {
  input: OperationInput<O>
  options: Pick<ChangeOptions, 'dryRun'>
  danger?: Dangerous
  /** What it would come to, for `--dry-run`, where the request alone does not say it. */
  effect?: string | undefined
}

/** Makes a change, and returns the reply; with `--dry-run` it is only tried, and nothing is returned. */
export async function change<O extends Operation>(
  context: Context,
  client: Client,
  operation: O,
  { input, options, danger, effect }: Change<O>,
): Promise<OperationReply<O>['body'] | undefined> {
  if (options.dryRun) {
    await dryRun(context, client, operation, { input, effect })
    return undefined
  }
  expectReply(context, operation)
  if (danger !== undefined) await confirmInLiveMode(context, client, danger)
  return (await call(client, operation, input)).body
}

export function tried(dryRun = true): { dry_run?: 'true' } {
  return dryRun ? { dry_run: 'true' } : {}
}

/**
 * Asks the service what it would answer, and shows a request that it would take: it runs the request and takes back what
 * that has done.
 * @throws {CliError} what the request itself would be refused with
 */
export async function dryRun(
  context: Context,
  client: Client,
  operation: Operation,
  { input, effect }: { input: OperationInput<Operation>; effect?: string | undefined },
): Promise<void> {
  checkBody(operation, input.body)
  if (operation.dryRun === true)
    await call(client, operation, { ...input, query: { ...Object(input.query), ...tried() } })
  showRequest(context, client, operation, { input, effect })
  if (operation.dryRun !== true) context.note('The service cannot try this operation: only the request was checked.')
}

/**
 * The request as it would be sent, once it is one that the service could take; secrets in it are masked, and what proves
 * its caller is left out.
 * @throws {CliError} VALIDATION_FAILED, exit code 2
 */
export function showRequest(
  context: Context,
  client: Client,
  operation: Operation,
  { input, effect }: { input: OperationInput<Operation>; effect?: string | undefined },
): void {
  checkBody(operation, input.body)
  const { method } = operation
  const url = urlOf(client, operation, input)
  const body = masked(input.body ?? null)
  const headers = Object.entries(Object(input.headers ?? {})).map(([name, value]) => [name, String(value)] as const)
  context.print.record(
    {
      dry_run: true,
      method,
      url,
      ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
      body,
      effect: effect ?? null,
    },
    [
      ['Would send', `${method} ${url}`],
      ['Headers', headers.map(([name, value]) => `${name}: ${value}`).join(', ')],
      ['Body', body === null ? 'none' : JSON.stringify(body)],
      ['Effect', effect ?? ''],
    ],
    { id: url },
  )
  context.note('Nothing was changed.')
}

/** Members that let their reader in; code and state are what a bank sends a payer back with. */
const SECRET_NAME = /secret|password|token$|^code$|^state$|^key$|^ssa$/i

function masked(data: unknown): unknown {
  if (Array.isArray(data)) return data.map((each) => masked(each))
  if (typeof data !== 'object' || data === null) return data
  const members = Object.entries(data).map(([name, value]) => {
    return [name, SECRET_NAME.test(name) && typeof value === 'string' ? '***' : masked(value)]
  })
  return Object.fromEntries(members)
}

const SECRETS = ['client_secret', 'webhook_signing_secret']

/**
 * Refuses what a reply could not show, before it is asked for: a secret is shown once, and what has a key is done once.
 * @throws {CliError} exit code 2
 */
export function expectReply({ print }: Pick<Context, 'print'>, { replies }: Operation, isDoneOnce = false): void {
  const members = Object.values(replies).flatMap((reply) => membersOf(reply))
  if (isDoneOnce || SECRETS.some((secret) => members.includes(secret))) print.expect(members)
}

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
  throw new CliError('VALIDATION_FAILED', joinedFields(fields), { fields })
}
