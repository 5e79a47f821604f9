import type { Test } from 'tap'
import { authorisedPayment, testService, untilStatus } from '../support/app.ts'
import type { ServiceOptions, TestMerchant, TestService } from '../support/app.ts'
import { runCli } from './harness.ts'
import type { CliSettings, Outcome } from './harness.ts'

export type RealService = TestService & {
  /** A command line as this merchant, and one as the operator ada. */
  as(merchant: TestMerchant, words: readonly string[], settings?: CliSettings): Promise<Outcome>
  operate(words: readonly string[], settings?: CliSettings): Promise<Outcome>
}

/** The whole service with a worker, and commands run against it. */
export async function realService(t: Test, options: ServiceOptions = {}): Promise<RealService> {
  const service = await testService(t, { worker: true, ...options })
  const run = (words: readonly string[], { env = {}, ...settings }: CliSettings, who: NodeJS.ProcessEnv) =>
    runCli(words, { ...settings, env: { SVC_API_URL: service.url, ...who, ...env } })
  return {
    ...service,
    as: (merchant, words, settings = {}) => run(words, settings, { SVC_CLIENT_ID: merchant.clientId }),
    operate: (words, settings = {}) => run(words, settings, { SVC_PLATFORM_USER: 'ada' }),
  }
}

/** A payment that the worker has settled. */
export async function paidPayment(service: TestService, merchant: TestMerchant): Promise<string> {
  const { id } = await authorisedPayment(service, merchant)
  await untilStatus(service, merchant, id, 'Settled')
  return id
}

/** Makes deliveries that nothing tries again by itself, as after six attempts; those of these ids. */
export async function makeDead({ owner }: Pick<TestService, 'owner'>, ids: readonly string[]): Promise<void> {
  await owner.query('delete from webhook_queue where delivery_id = any($1::uuid[])', [ids])
  await owner.query('delete from webhook_attempts where delivery_id = any($1::uuid[])', [ids])
  await owner.query(
    `update webhook_deliveries set status = 'DEAD', attempt_count = 6, next_retry_at = 'infinity', delivered_at = null,
       last_http_status = 500, last_error = 'http_500' where id = any($1::uuid[])`,
    [ids],
  )
}
