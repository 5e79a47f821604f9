import { randomUUID } from 'node:crypto'
import type { OperationInput } from '../../src/wire/operation.ts'
import { CreatedPayment, Payment, PaymentStatus, createPayment, getPayment } from '../../src/wire/payments.ts'
import { usageError, withFacts } from '../base/errors.ts'
import { browserCommand, openBrowser } from '../client/auth/login-browser.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { stoppable } from '../client/interruptible.ts'
import { actAsPayer } from '../client/mock-bank.ts'
import type { Decision } from '../client/mock-bank.ts'
import { KEY_FLAG } from '../kit/action.ts'
import type { Flags } from '../kit/action.ts'
import { CHANGING, checkBody, dryRun, membersOf } from '../kit/change.ts'
import { command, grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { Context } from '../kit/context.ts'
import { bodyFrom } from '../kit/read-values.ts'
import { waitForStatus } from '../kit/wait.ts'
import { printQr } from '../output/qr.ts'
import { MANDATE_FLAGS, mandateOf } from './mandate.ts'
import { printCreated, printPayment, progressTo } from './view.ts'

const PAYER = grouped('The payer:', {
  payerName: { value: 'name', summary: 'Name of the payer, at most 140 characters' },
  payerEmail: { value: 'address', summary: 'E-mail address for links to the payer' },
  payerPhone: { value: 'number', summary: 'Phone number with country code: +447700900123' },
  remittanceReference: { value: 'text', summary: "Reference on the payer's statement, at most 18 characters" },
  debtorBankId: { value: 'id', summary: "The payer's bank" },
  debtorAccountScheme: { value: 'scheme', summary: 'UK.OBIE.SortCodeAccountNumber or UK.OBIE.IBAN' },
  debtorIdentification: { value: 'number', summary: "The payer's account number in that scheme" },
})

const FLAGS = {
  ...CHANGING,
  amount: { value: 'amount', summary: 'Decimal amount, such as 50.00', required: true },
  currency: { value: 'code', summary: 'Currency code, such as GBP', required: true },
  redirectUri: { value: 'url', summary: 'Where the bank sends the payer back to (a page of the service)' },
  idempotencyKey: {
    ...KEY_FLAG.idempotencyKey,
    summary: 'Idempotency key; repeating it creates no second payment (a new UUID)',
  },
  metadata: { value: 'name=value', summary: 'Metadata of your own; may be repeated', repeats: true },
  open: { summary: "Open the bank's page in your browser" },
  qr: { summary: "Show the bank's page as a QR code for the payer's phone" },
  ...PAYER,
  ...MANDATE_FLAGS,
  ...grouped('Sandbox:', {
    scenario: { value: 'name', summary: 'Behaviour of the mock bank, such as insufficient-funds' },
    approve: { summary: 'Approve at the mock bank as the payer', excludes: ['cancel'] },
    cancel: { summary: 'Cancel at the mock bank as the payer' },
    fromAccount: { value: 'number', summary: 'With --approve: account at the mock bank that pays (one elsewhere)' },
  }),
  ...grouped('Waiting:', {
    wait: {
      value: 'status',
      bare: true,
      summary: 'Wait until the payment has this status (Settled; Failed with --cancel)',
      choices: ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded'],
    },
    timeout: { value: 'duration', summary: 'Maximum time to wait', initial: '30s' },
  }),
} as const satisfies Flags
type CreateOptions = Input<typeof FLAGS>

export const create = command({
  command: 'payments create',
  summary: 'Create a payment',
  examples: [
    'svc payments create --amount 50.00 --currency GBP',
    'svc payments create --amount 50.00 --currency GBP --open --wait',
    'svc payments create --amount 50.00 --currency GBP --approve --wait Settled',
    'svc payments create --amount 12.50 --currency GBP --scenario insufficient-funds --approve --wait Failed',
    'svc payments create --amount 9.99 --currency EUR --idempotency-key order-1 --metadata order=1 -o id',
    'svc payments create --amount 9.99 --currency GBP --mandate --max-amount 20.00 --periodic MONTH:60.00 --approve',
    'svc payments create --amount 9.99 --currency GBP --consent a2b4358c --wait',
  ],
  flags: FLAGS,
  async run(context, input) {
    const timeoutMs = durationOf(input.timeout, '--timeout')
    if (input.fromAccount !== undefined && !input.approve)
      throw usageError('--from-account is the account of a payer who approves: --approve')
    if (input.open && (input.approve || input.cancel))
      throw usageError('--open is for a person who decides at the bank, and --approve and --cancel decide in its place')
    if (input.qr && context.print.isMachine)
      throw usageError('--qr is a picture for people, and the form that was asked for is one for programs')
    const client = context.client()
    // An interruption says which payment there is, and the key that leads to it.
    if (input.dryRun) await createAndSee(context, client, { options: input, timeoutMs })
    else await stoppable(client, (stopped) => createAndSee(context, stopped, { options: input, timeoutMs }))
  },
})

type CreateAndSeeInput = { options: CreateOptions; timeoutMs: number }

async function createAndSee(
  context: Context,
  client: Client,
  { options, timeoutMs }: CreateAndSeeInput,
): Promise<void> {
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
  if (page === null) return note('No page is open to the payer: this payment needs none.')
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
  return {
    amount: options.amount,
    currency: options.currency.toUpperCase(),
    ...mandate,
    // A payment under a mandate has its payer's approval, and leads to no bank page.
    ...(options.consent === undefined ? { redirect_uri: options.redirectUri ?? defaultRedirectUri } : {}),
    ...(options.metadata.length === 0 ? {} : { metadata: Object.fromEntries(options.metadata.map(pairOf)) }),
    ...bodyFrom({ ...PAYER, scenario: FLAGS.scenario }, options),
  }
}

function pairOf(word: string): [string, string] {
  const at = word.indexOf('=')
  if (at < 1) throw usageError(`--metadata: invalid value "${word}": use name=value`, 'svc payments create --help')
  return [word.slice(0, at), word.slice(at + 1)]
}
