import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { CreatedPayment, Payment, PaymentStatus, createPayment, getPayment } from '../../src/wire/payments.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { browserCommand, openBrowser } from '../client/auth/login-browser.ts'
import { checkBody, dryRun, membersOf } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError, withFacts } from '../base/errors.ts'
import { actAsPayer } from '../client/mock-bank.ts'
import type { Decision } from '../client/mock-bank.ts'
import { printQr } from '../output/qr.ts'
import { stoppable } from '../client/interruptible.ts'
import { waitForStatus } from '../kit/wait.ts'
import { MandateOptions, mandateOf } from './mandate.ts'
import { printCreated, printPayment, progressTo } from './view.ts'

const text = z.string().optional()

export const CreateOptions = MandateOptions.extend({
  amount: z.string(),
  currency: z.string(),
  redirectUri: text,
  idempotencyKey: text,
  metadata: z.array(z.string()).optional(),
  payerName: text,
  payerEmail: text,
  payerPhone: text,
  remittanceReference: text,
  debtorBankId: text,
  debtorAccountScheme: z.enum(['UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN']).optional(),
  debtorIdentification: text,
  scenario: text,
  approve: z.boolean().default(false),
  cancel: z.boolean().default(false),
  fromAccount: text,
  /** True is the end that the payer's decision leads to. */
  wait: z.union([z.literal(true), PaymentStatus]).optional(),
  timeout: z.string(),
  qr: z.boolean().default(false),
  dryRun: z.boolean().default(false),
  open: z.boolean().default(false),
})
export type CreateOptions = z.infer<typeof CreateOptions>

/** `svc payments create`: one request, and on demand the payer's part and the wait for the end. */
export async function create(context: Context, { options }: CommandInput<CreateOptions>): Promise<CommandResult> {
  const timeoutMs = durationOf(options.timeout, '--timeout')
  if (options.fromAccount !== undefined && !options.approve)
    throw usageError('--from-account is the account of a payer who approves: --approve')
  if (options.open && (options.approve || options.cancel))
    throw usageError('--open is for a person who decides at the bank, and --approve and --cancel decide in its place')
  if (options.qr && context.print.isMachine)
    throw usageError('--qr is a picture for people, and the form that was asked for is one for programs')
  const client = context.client()
  // An interruption says which payment there is, and the key that leads to it.
  if (options.dryRun) await createAndSee(context, client, { options, timeoutMs })
  else await stoppable(client, (stopped) => createAndSee(context, stopped, { options, timeoutMs }))
}

type Wishes = { options: CreateOptions; timeoutMs: number }

async function createAndSee(context: Context, client: Client, { options, timeoutMs }: Wishes): Promise<void> {
  const key = options.idempotencyKey ?? randomUUID()
  const facts: Record<string, string> = { idempotency_key: key }
  try {
    const created = await createOnce(context, client, { options, key })
    if (created === undefined) return
    facts['payment_id'] = created.payment_id
    const decision = options.approve ? 'approve' : options.cancel ? 'cancel' : undefined
    if (decision === undefined && options.wait === undefined) printCreated(context, created, { hasQr: options.qr })
    if (options.qr && created.redirect_url !== null) await printQr(context, shortAddress(client, created.redirect_url))
    if (options.open) await openPage(context, created.redirect_url, options)
    if (decision !== undefined || options.wait !== undefined)
      await seeThrough(context, client, {
        created,
        decision,
        account: options.fromAccount,
        wait: options.wait === true ? (options.cancel ? 'Failed' : 'Settled') : options.wait,
        timeoutMs,
      })
  } catch (error) {
    // With these a program can repeat the command, or go on from where it stopped.
    throw withFacts(error, facts)
  }
}

/** The payment is there, and its record has the address: that no browser opens is no failure. */
async function openPage({ io, note, print }: Context, page: string | null, { wait }: CreateOptions): Promise<void> {
  if (page === null) return note('No page is open to the payer: this payment waits for nobody.')
  const command = browserCommand(io.env, process.platform, page)
  if (command === undefined || !(await openBrowser(command)))
    note(`No browser could be opened: ${print.isMachine || wait !== undefined ? page : 'the address is above.'}`)
}

/** Leads on to the bank, whose own address may be too long for a camera; both have the payment's `state` (decision 53). */
function shortAddress({ apiUrl }: Client, redirectUrl: string): string {
  const state = new URL(redirectUrl).searchParams.get('state')
  return state === null ? redirectUrl : `${apiUrl}/go?${new URLSearchParams({ state })}`
}

async function createOnce(
  context: Context,
  client: Client,
  { options, key }: { options: CreateOptions; key: string },
): Promise<CreatedPayment | undefined> {
  const body = bodyOf(options, await mandateOf(client, options), `${client.apiUrl}/payments/return`)
  const input = { headers: { 'x-idempotency-key': key }, body }
  if (options.dryRun) {
    await dryRun(context, client, createPayment, { input, effect: effectOf(options) })
    return undefined
  }
  checkBody(createPayment, body)
  // Which of the two is printed depends on what is waited for.
  context.print.expect([...membersOf(CreatedPayment), ...membersOf(Payment)])
  if (options.idempotencyKey === undefined) context.note(`Idempotency key: ${key}`)
  const { status, body: created } = await call(client, createPayment, input)
  if (status === 200) context.note('This key was used before: the payment existed already.')
  return created
}

/** What it makes, and what comes after. */
function effectOf({ amount, currency, approve, cancel, wait }: CreateOptions): string {
  const acts = [
    ...(approve || cancel ? [`${approve ? 'approve' : 'cancel'} it as its payer`] : []),
    ...(wait === undefined ? [] : [`wait until it is ${wait === true ? (cancel ? 'Failed' : 'Settled') : wait}`]),
  ]
  return [`this would create a payment of ${amount} ${currency.toUpperCase()}`, ...acts].join(', and then ')
}

type Rest = {
  created: CreatedPayment
  decision: Decision | undefined
  account: string | undefined
  wait: PaymentStatus | undefined
  timeoutMs: number
}

/** Plays the payer, waits, and prints the payment as it is then, whether or not it came to what was awaited. */
async function seeThrough(
  context: Context,
  client: Client,
  { created, decision, account, wait, timeoutMs }: Rest,
): Promise<void> {
  const paymentId = created.payment_id
  context.note(`Payment: ${paymentId}`)
  // A repeat of a finished creation has no payer to wait for any more.
  if (decision !== undefined && created.status === 'AwaitingAuthorisation') {
    const end = await actAsPayer(client, created, decision, { account })
    if (end === 'stranded') context.note('In this scenario the bank does not send the payer back.')
  }
  const { payment, problem } =
    wait === undefined
      ? { payment: (await call(client, getPayment, { params: { id: paymentId } })).body, problem: undefined }
      : await waitForStatus(client, { paymentId, status: wait, timeoutMs, onProgress: progressTo(context) })
  printPayment(context, payment)
  if (problem !== undefined) throw problem
}

type CreateBody = NonNullable<OperationInput<typeof createPayment>['body']>

function bodyOf(
  options: CreateOptions,
  mandate: Readonly<Record<string, unknown>>,
  defaultRedirectUri: string,
): CreateBody {
  // A payment under a mandate has its payer's approval, and sends nobody anywhere.
  const isUnderMandate = options.consent !== undefined
  const optional = {
    redirect_uri: isUnderMandate ? undefined : (options.redirectUri ?? defaultRedirectUri),
    payer_name: options.payerName,
    payer_email: options.payerEmail,
    payer_phone: options.payerPhone,
    remittance_reference: options.remittanceReference,
    debtor_bank_id: options.debtorBankId,
    debtor_account_scheme: options.debtorAccountScheme,
    debtor_identification: options.debtorIdentification,
    metadata: options.metadata === undefined ? undefined : Object.fromEntries(options.metadata.map(pairOf)),
    scenario: options.scenario,
  }
  return {
    amount: options.amount,
    currency: options.currency.toUpperCase(),
    ...mandate,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  }
}

function pairOf(word: string): [string, string] {
  const at = word.indexOf('=')
  if (at < 1) throw usageError(`--metadata: "${word}" is no name=value`, 'svc payments create --help')
  return [word.slice(0, at), word.slice(at + 1)]
}
