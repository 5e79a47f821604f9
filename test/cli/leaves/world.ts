import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { atBank, authorisedPayment, createPayment, untilStatus } from '../../support/app.ts'
import type { TestMerchant } from '../../support/app.ts'
import { addCustomer } from '../../support/customers.ts'
import type { TestCustomer } from '../../support/customers.ts'
import { OPERATOR, accept, escalate, raiseAsPayer, resolve, submitEvidence } from '../../support/disputes.ts'
import { authorisedMandate } from '../../support/mandates.ts'
import { completeSca, refund, unansweredPayment } from '../../support/payments.ts'
import { startReceiver } from '../../support/receiver.ts'
import { until } from '../../support/until.ts'
import { SCRATCH } from '../../support/scratch.ts'
import { runCli } from '../harness.ts'
import type { CliSettings, Outcome } from '../harness.ts'
import { makeDead, realService } from '../real-service.ts'
import type { RealService } from '../real-service.ts'
import type { Who } from './row.ts'

export const PAYER = 'priya@home.example'
const OF_PAYER = { payer_name: 'Priya', payer_email: PAYER }
/** An id that is none of anything. */
export const NOBODY = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'

type DisputeStatus = 'OPEN' | 'UNDER_REVIEW' | 'ESCALATED' | 'RESOLVED_MERCHANT_FAVOUR' | 'RESOLVED_PAYER_FAVOUR'

/** A service with something of everything, and what makes more of it. */
export type World = {
  service: RealService
  /** What the operator of a machine has in the environment, for what asks the database itself. */
  env: NodeJS.ProcessEnv
  /** A folder for what commands read and write; they run in it. */
  dir: string
  /** Whose commands those of a merchant are; its webhooks go to a receiver. */
  shop: TestMerchant
  receiver: string
  /** Two customers of the bank. */
  grace: TestCustomer
  ada: TestCustomer
  merchant(): Promise<TestMerchant>
  pending(): Promise<TestMerchant>
  /** A payment of the shop that waits for its payer; one that failed; one that is paid. */
  unanswered(): Promise<string>
  waiting(): Promise<string>
  failed(): Promise<string>
  /** What the bank sends the payer back with, as words of `svc payments sca-complete`. */
  broughtBack(): Promise<string[]>
  paid(): Promise<string>
  refunded(): Promise<string>
  dispute(status?: DisputeStatus): Promise<string>
  /** A resolved dispute whose refund the bank has rejected. */
  rejectedRefund(): Promise<string>
  mandate(): Promise<string>
  /** A delivery that nobody tries again. */
  dead(): Promise<string>
  run(who: Who, words: readonly string[], settings?: CliSettings): Promise<Outcome>
  /** What a command is expected to print with `-o id`. */
  idFrom(who: Who, words: readonly string[], env?: NodeJS.ProcessEnv): Promise<string>
}

export async function makeWorld(t: Test): Promise<World> {
  const SVC_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const service = await realService(t, { env: { SVC_ENCRYPTION_KEY } })
  const receiver = await startReceiver(t)
  const shop = await service.merchant({ webhookUrl: receiver.url })
  const [grace, ada] = [
    await addCustomer(service, { accounts: [{}, { currency: 'EUR' }] }),
    await addCustomer(service, { name: 'Ada Payee' }),
  ]
  const dir = mkdtempSync(join(SCRATCH, 'svc-leaves-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const payerDir = join(dir, 'payer')
  const envOf: Readonly<Record<Who, NodeJS.ProcessEnv>> = {
    operator: { SVC_PLATFORM_USER: 'ada' },
    merchant: { SVC_CLIENT_ID: shop.clientId },
    customer: { SVC_CUSTOMER_ID: grace.externalId },
    payer: { SVC_CONFIG_DIR: payerDir },
    nobody: {},
  }
  const run: World['run'] = (who, words, { env = {}, ...settings } = {}) =>
    runCli(words, { cwd: dir, ...settings, env: { SVC_API_URL: service.url, ...envOf[who], ...env } })
  const world: World = {
    service,
    env: {
      SVC_DATABASE_URL: service.databaseUrl,
      SVC_ENCRYPTION_KEY,
      SVC_IDENTITY: 'none',
      SVC_LOG_LEVEL: 'silent',
      SVC_API_URL: '',
    },
    dir,
    shop,
    receiver: receiver.url,
    grace,
    ada,
    ...paymentsOf(service, shop),
    merchant: () => service.merchant({ webhookUrl: receiver.url }),
    pending: () => service.merchant({ kybStatus: 'PENDING' }),
    run,
    idFrom: async (who, words, env = {}) => {
      const { code, stdout, stderr } = await run(who, [...words, '-o', 'id'], { env })
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
      return stdout.trim()
    },
  }
  await fill(world)
  return world
}

type Made =
  | 'broughtBack'
  | 'unanswered'
  | 'waiting'
  | 'failed'
  | 'paid'
  | 'refunded'
  | 'dispute'
  | 'rejectedRefund'
  | 'mandate'
  | 'dead'

function paymentsOf(service: RealService, shop: TestMerchant): Pick<World, Made> {
  const paid = async (): Promise<string> => {
    const { id } = await authorisedPayment(service, shop, OF_PAYER)
    await untilStatus(service, shop, id, 'Settled')
    return id
  }
  return {
    unanswered: () => unansweredPayment(service, shop),
    waiting: async () => (await createPayment(service, shop, OF_PAYER)).body.payment_id,
    paid,
    broughtBack: async () => {
      const { body } = await createPayment(service, shop, OF_PAYER)
      const back = await atBank(body.redirect_url, 'approve')
      return [body.payment_id, '--state', back.state, '--code', 'code' in back ? back.code : '']
    },
    failed: async () => {
      const { body } = await createPayment(service, shop, OF_PAYER)
      await completeSca(service, body.payment_id, await atBank(body.redirect_url, 'cancel'))
      return body.payment_id
    },
    refunded: async () => {
      const id = await paid()
      await refund(service, shop, { id })
      await untilStatus(service, shop, id, 'Refunded')
      return id
    },
    dispute: async (status = 'OPEN') => {
      const { body } = await raiseAsPayer(service, await paid())
      if (status !== 'OPEN') await submitEvidence(service, shop, body.id)
      if (status === 'ESCALATED') await escalate(service, body.id)
      if (status === 'RESOLVED_MERCHANT_FAVOUR') await resolve(service, body.id, { status })
      if (status === 'RESOLVED_PAYER_FAVOUR') await accept(service, shop, body.id)
      return body.id
    },
    rejectedRefund: async () => {
      const { id } = await authorisedPayment(service, shop, { ...OF_PAYER, scenario: 'refund-fails' })
      await untilStatus(service, shop, id, 'Settled')
      const { body } = await raiseAsPayer(service, id)
      await submitEvidence(service, shop, body.id)
      await resolve(service, body.id, { refund: true })
      await until('the bank rejects the refund', async () => {
        const { body: now } = await service.call('GET', `/api/v1/admin/disputes/${body.id}`, { headers: OPERATOR })
        return now.refund.refund_status === 'FAILED'
      })
      return body.id
    },
    mandate: async () => (await authorisedMandate(service, shop, OF_PAYER)).consentId,
    dead: async () => {
      const id = await tested(service, shop)
      await makeDead(service, [id])
      return id
    },
  }
}

/** A delivery of a test event, which the receiver has taken. */
async function tested(service: RealService, shop: TestMerchant): Promise<string> {
  const { stdout } = await service.as(shop, ['webhooks', 'test', '--wait', '-o', 'id'])
  return stdout.trim()
}

/** Something in every state, for the lists. */
async function fill(world: World): Promise<void> {
  const { service } = world
  await Promise.all([world.waiting(), world.failed(), world.refunded(), world.mandate(), world.dead(), world.pending()])
  const all = ['OPEN', 'UNDER_REVIEW', 'ESCALATED', 'RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR'] as const
  await Promise.all(all.map((status) => world.dispute(status)))
  const [suspended, held, disabled] = [await world.merchant(), await world.merchant(), await world.merchant()]
  for (const words of [
    ['kyb', 'suspend', suspended.realm],
    ['hold', 'set', held.realm],
    ['merchants', 'disable', disabled.realm],
  ])
    await service.operate([...words, '--reason', 'for the tests'])
  await world.idFrom('payer', ['payer', 'verify', await newLink(world, PAYER)])
}

let count = 0

/** The link in the mail to a payer who has never asked for one: of no other mail to the same address. */
export async function newLink({ service, shop, idFrom }: World, email = `payer-${(count += 1)}@home.example`) {
  await createPayment(service, shop, { payer_name: 'Priya', payer_email: email })
  await idFrom('nobody', ['payer', 'link', email])
  return idFrom('nobody', ['sandbox', 'mail', 'show', '--recipient', email, '--links', '--wait', '20s'])
}
