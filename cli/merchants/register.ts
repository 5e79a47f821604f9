import { registerMerchant } from '../../src/wire/registration.ts'
import type { RegisteredMerchant } from '../../src/wire/registration.ts'
import { whoami } from '../../src/wire/service.ts'
import { CliError, withFacts } from '../base/errors.ts'
import { headerCredentials, serviceCredentials } from '../client/auth/credentials.ts'
import { isSandbox } from '../client/auth/service-info.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CHANGING, change } from '../kit/change.ts'
import { command } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { Context } from '../kit/context.ts'
import { readMailCommand, tokenCommand, useOf } from '../kit/new-secret.ts'
import { askUntil } from '../kit/wait.ts'
import { mustBeWritten } from '../output/flush.ts'

export const register = command({
  command: 'register',
  summary: 'Register a merchant',
  details: 'The client secret and the secret that webhooks are signed with are printed this once.',
  examples: [
    'svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example',
    'svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example --json > acme.json',
    'svc register --company "Acme Ltd" --trading-name Acme --email ada@acme.example --wait-kyb --timeout 1h',
  ],
  flags: {
    ...CHANGING,
    company: {
      value: 'name',
      summary: 'Legal name; the realm is derived from it',
      member: 'company_name',
      required: true,
    },
    tradingName: { value: 'name', summary: 'Name that payers see', required: true },
    email: {
      value: 'address',
      summary: 'E-mail address of the first administrator, who is invited',
      member: 'admin_email',
      required: true,
    },
    waitKyb: { summary: 'Wait for KYB approval; exit code 3 if it is rejected' },
    timeout: { value: 'duration', summary: 'Maximum time to wait', initial: '10m' },
  },
  async run(context, input) {
    const timeoutMs = durationOf(input.timeout, '--timeout')
    const client = context.client()
    const body = { company_name: input.company, trading_name: input.tradingName, admin_email: input.email }
    const registered = await change(context, client, registerMerchant, { input: { body }, options: input })
    if (registered === undefined) return undefined
    // The secrets come first: whatever goes wrong after this must not lose them.
    printRegistered(context, registered)
    await mustBeWritten(context.io, 'the secrets of its client are lost, and the merchant is registered', {
      hint: `once its administrator is invited: svc login --realm ${registered.realm_slug}\nsvc credentials rotate ${registered.client_id}`,
      facts: { merchant_id: registered.merchant_id, client_id: registered.client_id },
    })
    if (!input.waitKyb) {
      if (!context.print.isMachine)
        for (const line of nextSteps(registered, { ...input, inSandbox: await isSandbox(client) })) context.note(line)
      return undefined
    }
    context.note('Waiting for an operator to approve it.')
    try {
      await untilApproved(asMerchant(client, registered), { merchant: registered, timeoutMs, timeout: input.timeout })
    } catch (error) {
      throw withFacts(error, { merchant_id: registered.merchant_id })
    }
    context.note('Approved: it can create payments.')
  },
})

function printRegistered({ print }: Context, merchant: RegisteredMerchant): void {
  print.record(merchant, registeredLines(merchant), { id: merchant.merchant_id })
}

/** A new merchant with its secrets, which can't be shown again. */
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

type NextStepsOptions = { email: string; inSandbox: boolean }

function nextSteps(merchant: RegisteredMerchant, { email, inSandbox }: NextStepsOptions): string[] {
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
      hint: `svc kyb list\nan operator approves it: svc kyb approve ${merchant.realm_slug} --reason "..."`,
      retryable: true,
    })
  throw new CliError('KYB_REFUSED', `the merchant is ${status ?? 'unknown'}: an operator has rejected it`, {
    hint: 'ask the operator for the reason',
  })
}
