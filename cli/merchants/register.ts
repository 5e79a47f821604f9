import type { Command } from 'commander'
import { z } from 'zod'
import { registerMerchant } from '../../src/wire/registration.ts'
import type { RegisteredMerchant } from '../../src/wire/registration.ts'
import { whoami } from '../../src/wire/service.ts'
import { CliError, withFacts } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { headerCredentials, serviceCredentials } from '../client/auth/credentials.ts'
import { isSandbox } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { ChangeOptions, change, changing } from '../kit/change.ts'
import { action, durationOf } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { readMailCommand, tokenCommand, useOf } from '../kit/new-secret.ts'
import { askUntil } from '../kit/wait.ts'
import { mustBeWritten } from '../output/flush.ts'

const RegisterOptions = ChangeOptions.extend({
  company: z.string(),
  tradingName: z.string(),
  email: z.string(),
  waitKyb: z.boolean().default(false),
  timeout: z.string(),
})

export function addRegister(command: Command, runtime: Runtime): void {
  changing(command)
    .requiredOption('--company <name>', 'Legal name; the realm is derived from it')
    .requiredOption('--trading-name <name>', 'Name that payers see')
    .requiredOption('--email <address>', 'E-mail address of the first administrator, who is invited')
    .option('--wait-kyb', 'Wait for KYB approval; exit code 3 if it is rejected')
    .option('--timeout <duration>', 'Maximum time to wait', '10m')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, RegisterOptions, register))
}

const EXAMPLES = `
The client secret and the secret that webhooks are signed with are printed this once.

Examples:
  svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example
  svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example --json > acme.json
  svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example --wait-kyb --timeout 1h
`

async function register(context: Context, { options }: InputOf<typeof RegisterOptions>): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const client = context.client()
  const body = { company_name: options.company, trading_name: options.tradingName, admin_email: options.email }
  const registered = await change(context, client, registerMerchant, { input: { body }, options })
  if (registered === undefined) return undefined
  // The secrets come first: whatever goes wrong after this must not lose them.
  printRegistered(context, registered)
  await mustBeWritten(context.io, 'the secrets of its client are lost, and the merchant is registered', {
    hint: `once its administrator is invited: svc login --realm ${registered.realm_slug}\nsvc credentials rotate ${registered.client_id}`,
    facts: { merchant_id: registered.merchant_id, client_id: registered.client_id },
  })
  if (!options.waitKyb) {
    if (!context.print.isMachine)
      for (const line of nextSteps(registered, { ...options, inSandbox: await isSandbox(client) })) context.note(line)
    return undefined
  }
  context.note('Waiting for an operator to approve it.')
  try {
    await untilApproved(asMerchant(client, registered), { merchant: registered, timeoutMs, timeout: options.timeout })
  } catch (error) {
    throw withFacts(error, { merchant_id: registered.merchant_id })
  }
  context.note('Approved: it can create payments.')
}

function printRegistered({ print }: Context, merchant: RegisteredMerchant): void {
  print.record({ item: merchant, id: merchant.merchant_id, lines: registeredLines(merchant) })
}

/** A new merchant with its secrets, which nobody can ask for again. */
export function registeredLines(merchant: RegisteredMerchant): [string, string][] {
  return [
    ['Merchant', merchant.merchant_id],
    ['Realm', merchant.realm_slug],
    ['KYB', merchant.kyb_status],
    ['Client id', merchant.client_id],
    ['Client secret', merchant.client_secret ?? ''],
    ['Webhook secret', merchant.webhook_signing_secret],
    ['Issuer', merchant.issuer ?? ''],
    ['Warnings', merchant.warnings.join(', ')],
  ]
}

type Told = { email: string; inSandbox: boolean }

function nextSteps(merchant: RegisteredMerchant, { email, inSandbox }: Told): string[] {
  const { client_id, client_secret, realm_slug, issuer } = merchant
  const create = 'svc payments create --amount 50.00 --currency GBP'
  return [
    '',
    'Keep what is secret of this: it is shown this once.',
    'What comes next:',
    ...(issuer === null
      ? []
      : inSandbox
        ? [`  ${email} is invited by mail. In the sandbox the mail is here:`, `  ${readMailCommand(email)}`]
        : [`  ${email} is invited by mail.`]),
    '  An operator approves the merchant; until then it can create no payments:',
    `  svc kyb approve ${realm_slug} --reason "documents checked"`,
    '  Then its server works with these:',
    ...(client_secret === null || issuer === null
      ? [`  ${create} --client-id ${client_id}`]
      : [...useOf(client_id), `  ${create}`, tokenCommand(`${issuer}/protocol/openid-connect/token`)]),
  ]
}

/** The same service, as the merchant that has just registered. */
function asMerchant(client: Client, { realm_slug, client_id, client_secret, issuer }: RegisteredMerchant): Client {
  const credentials =
    issuer === null || client_secret === null
      ? headerCredentials({ clientId: client_id, platformUser: undefined })
      : serviceCredentials({
          authUrl: issuer.replace(/\/realms\/[^/]+$/, ''),
          merchant: { realm: realm_slug, clientId: client_id, clientSecret: client_secret },
        })
  return { ...client, credentials }
}

type Wait = { merchant: RegisteredMerchant; timeoutMs: number; timeout: string }

async function untilApproved(client: Client, { merchant, timeoutMs, timeout }: Wait): Promise<void> {
  const status = await askUntil(
    async () => (await call(client, whoami, {})).body.merchant?.kyb_status,
    (last) => last !== 'PENDING',
    timeoutMs,
  )
  if (status === 'APPROVED') return
  if (status === 'PENDING')
    throw new CliError('WAIT_TIMED_OUT', `the merchant is still PENDING after ${timeout}`, {
      exit: EXIT.waitTimedOut,
      hint: `svc kyb list\nan operator approves it: svc kyb approve ${merchant.realm_slug} --reason "..."`,
      retryable: true,
    })
  throw new CliError('KYB_REFUSED', `the merchant is ${status ?? 'unknown'}: an operator has refused it`, {
    exit: EXIT.assertion,
    hint: 'ask the operator for the reason',
  })
}
