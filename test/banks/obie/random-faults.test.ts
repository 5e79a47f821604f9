import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Fault } from '../../../src/model-bank/faults.ts'
import { seededRandom } from '../../../src/lib/seeded-random.ts'
import { until, untilStatus } from '../../support/app.ts'
import { mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, inVersion, obieService } from '../../support/obie.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const STEPS = 16
const FAULTS: readonly Partial<Fault>[] = [
  { name: 'timeout_after_acceptance' },
  { name: 'server_error_after_acceptance' },
  { name: 'half_a_body' },
  { name: 'oversized_body' },
  { name: 'wrong_signature' },
  { name: 'missing_signature' },
  { name: 'too_many_requests', seconds: 1 },
  { name: 'server_error' },
  { name: 'redirect_elsewhere' },
  { name: 'unsigned_refusal' },
  { name: 'late_settlement', seconds: 1 },
  { name: 'rejected_after_acceptance', seconds: 1 },
  { name: 'down' },
]
/** What a fault hits; without one, what it is about. */
const HITS: readonly (readonly string[])[] = [
  ['createPayment', 'createVrp'],
  ['showPayment', 'showVrp'],
  ['confirmFunds'],
  ['createConsent'],
  [],
]

const seed = process.env['SVC_TEST_SEED'] ?? String(Date.now())
const random = seededRandom(seed)
const version = random.chance(50) ? '4.0' : '3.1'

t.test(`random faults and kills in ${version}: both books agree, nothing twice (SVC_TEST_SEED=${seed})`, async (t) => {
  const world = await obieService(t, { worker: false, change: inVersion(version) })
  const { service, bank, merchant, env } = world
  const work = () => startWorkerProcess(t, service, [], env)
  let worker = await work()
  const first = await authoriseAtBank(world, {
    changes: mandateBody({ control_parameters: { max_amount_per_payment: 60 } }),
  })
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  const story: string[] = []
  for (let step = 0; step < STEPS; step += 1) {
    const fault = random.chance(70) ? { times: random.between(1, 2), ...random.pick(FAULTS) } : undefined
    const on = random.pick(HITS)
    if (fault !== undefined)
      await bank.setFault({ name: 'down', ...fault, ...(on.length === 0 ? {} : { on: [...on] }) })
    const done = random.chance(60)
      ? await authoriseAtBank(world).then(
          () => 'paid',
          (error: unknown) => /"code":"(\w+)"/.exec(String(error))?.[1] ?? String(error),
        )
      : await payUnder(service, merchant, { consentId, changes: { amount: `1.${step + 10}` } }).then(({ status }) =>
          String(status),
        )
    story.push(`${fault?.name ?? 'nothing'} on ${on.join(' and ') || 'anything'}: ${done}`)
    if (random.chance(25)) {
      await delay(random.below(300))
      await worker.kill()
      worker = await work()
      story.push('the worker was killed')
    }
  }
  await bank.clearFaults()
  const ours = async () =>
    (
      await service.owner.query<{ status: string; end_to_end_id: string; redirect_uri: string | null }>(
        'select status, end_to_end_id, redirect_uri from payment_intents',
      )
    ).rows
  // A payment that was never authorised waits for its payer; one under a mandate has none.
  const isUnderWay = ({ status, redirect_uri: payer }: Awaited<ReturnType<typeof ours>>[number]): boolean =>
    status === 'Authorised' || (payer === null && ['Initiated', 'AwaitingAuthorisation'].includes(status))
  const underWay = async () => (await ours()).filter(isUnderWay).length
  await until(async () => (await underWay()) === 0, 90_000).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${story.join('\n')}`)
  })
  const { payments } = await bank.books()
  const paid = payments.filter(({ status }) => status === 'ACSC').map(({ endToEndId }) => endToEndId)
  t.equal(new Set(paid).size, paid.length, `nothing is paid twice\n${story.join('\n')}`)
  const settled = (await ours()).filter(({ status }) => status === 'Settled').map((row) => row.end_to_end_id)
  t.same(
    settled.toSorted(),
    paid.toSorted(),
    `what the bank has paid is settled, and nothing else\n${story.join('\n')}`,
  )
  t.ok(paid.length > 1)
})
