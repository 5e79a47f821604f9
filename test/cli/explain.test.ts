import t from 'tap'
import { run } from '../../cli/entry/run.ts'
import type { Explanation, TimelineEntry } from '../../src/wire/explain.ts'
import { testService } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { plantDeliveries } from '../support/webhooks.ts'
import { fakeService, makeIo, refusal, runCli } from './harness.ts'
import type { Answer, Request } from './harness.ts'

const ID = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
const DELIVERY = '01a1fd03-f879-7eb7-872f-00000000beef'
const NOW = '2026-11-21T09:30:00.000Z'

function row(kind: TimelineEntry['kind'], at: string, more: Partial<TimelineEntry> = {}): TimelineEntry {
  return { at: `2026-11-21T${at}.000Z`, kind, by: null, text: `${kind} happened`, status: null, ref: null, ...more }
}

function storyOf(more: Partial<Explanation> = {}): Explanation {
  return {
    kind: 'payment',
    id: ID,
    merchant_id: ID,
    title: 'payment of 50.00 GBP',
    status: 'Settled',
    standing: 'settled: the bank has executed it; nothing refunded, 50.00 GBP refundable.',
    as_of: NOW,
    timeline: [
      row('payment', '09:20:00', { by: 'MERCHANT_API', status: 'AwaitingAuthorisation', text: 'created: 50.00 GBP' }),
      row('webhook', '09:20:00', { ref: DELIVERY, status: 'FAILED', text: 'webhook payment.initiated (evt_1)' }),
      row('attempt', '09:21:00', { ref: DELIVERY, status: 'http_500', text: 'attempt 1 of 6: http_500, after 9 ms' }),
      row('payment', '09:25:00', { by: 'BATCH_JOB', status: 'Settled', text: 'executed (job settle-payments)' }),
      row('due', '09:32:00', { ref: DELIVERY, text: 'attempt 2 of 6 of payment.initiated is due' }),
    ],
    left_out: [],
    next: [
      {
        on: 'refund',
        to: 'Refunded',
        by: 'the merchant',
        at: null,
        how: `svc payments refund ${ID}`,
        webhook: 'payment.refunded',
      },
    ],
    also: [{ what: 'dispute it', by: 'the payer', how: null }],
    ...more,
  }
}

type ShowOptions = { columns?: number; tty?: boolean; calledAs?: string; env?: NodeJS.ProcessEnv }

/** Runs the command with a terminal of this width. */
async function show(
  words: readonly string[],
  { columns = 140, tty = true, calledAs = 'svc', env = {} }: ShowOptions = {},
) {
  const { io, stdout, stderr } = makeIo({ tty, calledAs, env: { NO_COLOR: '1', ...env } })
  const code = await run(words, { ...io, stdout: { ...io.stdout, columns } })
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

const answerOf = (story: Explanation) => (): Answer => ({ json: story })

t.test(
  'a person reads where it stands, what happened with attempts below their webhook, and what to type',
  async (t) => {
    const { url, requests } = await fakeService(t, answerOf(storyOf()))
    const { code, stdout } = await show(['explain', ID, '--api-url', url, '--client-id', 'acme'])
    t.equal(code, 0)
    t.equal(requests[0]?.path, `/api/v1/portal/explain/${ID}`)
    t.equal(
      stdout,
      `Payment  ${ID}
Summary  payment of 50.00 GBP
Status   Settled

Settled: the bank has executed it; nothing refunded, 50.00 GBP refundable.

What happened
  2026-11-21 09:20:00Z  10 minutes ago  AwaitingAuthorisation: created: 50.00 GBP (MERCHANT_API)
  2026-11-21 09:20:00Z  10 minutes ago  webhook payment.initiated (evt_1): FAILED [0000beef]
  2026-11-21 09:21:00Z  9 minutes ago     - attempt 1 of 6: http_500, after 9 ms
  2026-11-21 09:25:00Z  5 minutes ago   Settled: executed (job settle-payments)
  2026-11-21 09:32:00Z  in 2 minutes    attempt 2 of 6 of payment.initiated is due

What can happen next
  Refunded (refund): the merchant; sends payment.refunded
      svc --api-url ${url} payments refund ${ID}

Other actions
  dispute it: the payer
`,
    )
  },
)

t.test('in a narrow terminal nothing but ids and commands is wider than it', async (t) => {
  const { url } = await fakeService(t, answerOf(storyOf()))
  const { stdout } = await show(['explain', ID, '--api-url', url, '--client-id', 'acme'], { columns: 60 })
  const wide = stdout.split('\n').filter((line) => line.length > 60)
  t.same(wide, [`      svc --api-url ${url} payments refund ${ID}`])
  t.match(stdout, '  11-21 09:20:00  10 minutes ago\n    AwaitingAuthorisation: created: 50.00 GBP')
})

t.test('colours show how things ended, where there are colours', async (t) => {
  const { url } = await fakeService(t, answerOf(storyOf()))
  const words = ['explain', ID, '--api-url', url, '--client-id', 'acme']
  const { stdout } = await show([...words, '--color', 'always'])
  t.match(stdout, '\u001b[31mattempt 1 of 6: http_500')
  t.match(stdout, '\u001b[32mSettled: executed')
  t.notMatch((await show(words, { tty: false })).stdout, '\u001b')
})

t.test('a long story is cut in the middle, and says so; --all shows it', async (t) => {
  const many = Array.from({ length: 60 }, (_, index) =>
    row('merchant', `08:${String(index).padStart(2, '0')}:00`, { text: `act ${index}` }),
  )
  const attempts = Array.from({ length: 12 }, (_, index) =>
    row('attempt', `09:${String(index + 10)}:00`, {
      ref: DELIVERY,
      status: 'timeout',
      text: `attempt number ${index}`,
    }),
  )
  const webhook = row('webhook', '09:01:00', { ref: DELIVERY, status: 'DEAD', text: 'webhook payment.settled (evt_1)' })
  const story = storyOf({
    timeline: [...many, webhook, ...attempts],
    left_out: ['refunds before the last 50'],
    next: [],
  })
  const { url } = await fakeService(t, answerOf(story))
  const words = ['explain', ID, '--api-url', url, '--client-id', 'acme']
  const { stdout } = await show(words)
  t.match(stdout, /act 9\n {2}\.\.\. 21 more between: --all\n.*act 31\n/)
  t.match(stdout, /\.\.\. 5 earlier attempts: --all\n.*attempt number 5\n/)
  t.match(stdout, '\n  Not shown: refunds before the last 50.\n')
  t.match(stdout, '\n  No further transitions (final).\n')
  const all = (await show([...words, '--all'])).stdout
  for (let index = 0; index < 60; index += 1) t.match(all, `act ${index}\n`)
  t.match(all, 'attempt number 0\n')
  const one = await fakeService(t, answerOf(storyOf({ timeline: [webhook, ...attempts.slice(0, 8)] })))
  const { stdout: short } = await show(['explain', ID, '--api-url', one.url, '--client-id', 'acme'])
  t.match(short, /\.\.\. 1 earlier attempt: --all\n/)
})

t.test('programs get the explanation, and its timeline row by row', async (t) => {
  const story = storyOf()
  const { url } = await fakeService(t, answerOf(story))
  const words = ['explain', ID, '--api-url', url, '--client-id', 'acme']
  t.same(JSON.parse((await show([...words, '-o', 'json'])).stdout), story)
  const rows = (await show([...words, '-o', 'jsonl'])).stdout.trim().split('\n')
  t.same(
    rows.map((line) => JSON.parse(line)),
    story.timeline,
  )
  t.match((await show([...words, '-o', 'csv'])).stdout, /^at,kind,by,text,status,ref\r?\n/)
  t.equal((await show([...words, '-q', 'standing'])).stdout, `${story.standing}\n`)
  t.equal((await show([...words, '-o', 'id'])).stdout, `${ID}\n`)
})

t.test('what the merchant does not have, the operator is asked about; --platform asks it at once', async (t) => {
  const answer = ({ path }: Request): Answer =>
    path.startsWith('/api/v1/portal/') ? refusal(404, 'RESOURCE_NOT_FOUND') : { json: storyOf() }
  const { url, requests } = await fakeService(t, answer)
  const words = ['explain', ID, '--api-url', url, '--client-id', 'acme']
  t.equal((await show(words)).code, 0)
  t.same(
    requests.map(({ path }) => path),
    [`/api/v1/portal/explain/${ID}`, `/api/v1/admin/explain/${ID}`],
  )
  await show([...words, '--platform'], { env: { SVC_PLATFORM_USER: 'ada' } })
  t.equal(requests.length, 3, 'one request more')
  t.equal(requests.at(-1)?.headers['x-platform-user'], 'ada')
})

t.test('what neither sees is not found, and a broken service is no reason to ask the other', async (t) => {
  const none = await fakeService(t, () => refusal(404, 'RESOURCE_NOT_FOUND'))
  const words = (url: string) => ['explain', ID, '--api-url', url, '--client-id', 'acme']
  t.match(await runCli(words(none.url)), {
    code: 6,
    stderr:
      /payment, dispute, delivery, settlement, payout or merchant not found: 01a1.*as the merchant and as the operator/,
  })
  const broken = await fakeService(t, () => refusal(500, 'INTERNAL_ERROR'))
  t.equal((await runCli(words(broken.url))).code, 1)
  t.ok(broken.requests.every(({ path }) => path.includes('/portal/')))
  t.match(await runCli(['explain', '--api-url', none.url]), { code: 2 })
})

t.test('parts of ids, realms and end-to-end ids are understood by a real service', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const payment = await settledPayment(service, merchant)
  const [delivery = ''] = await plantDeliveries(service.owner, merchant.id, { nextRetryAt: 'infinity' })
  const common = ['--api-url', service.url, '-q', 'id']
  const idOf = async (words: readonly string[]): Promise<string> =>
    (await runCli(['explain', ...words, ...common])).stdout
  const as = ['--client-id', merchant.clientId]
  const { body } = await service.call('GET', `/api/v1/payments/${payment}`, { merchant })
  for (const given of [payment, payment.slice(-8), payment.slice(-12), body.end_to_end_id])
    t.equal(await idOf([given, ...as]), `${payment}\n`, given)
  t.equal(await idOf([delivery.slice(-8), ...as]), `${delivery}\n`)
  t.equal(await idOf([merchant.clientId, ...as]), `${merchant.id}\n`, 'its own name')
  t.equal(await idOf([merchant.realm]), `${merchant.id}\n`, 'an operator names it by its realm')
  t.equal(await idOf([delivery.slice(-8)]), `${delivery}\n`, 'and any delivery by its end')
  t.equal(await idOf([payment.slice(-8), '--platform']), `${payment}\n`, 'and a payment that has sent something')
  t.match(await runCli(['explain', 'no-such-realm', ...as, ...common]), { code: 6 })
})

t.test('where only one side is signed in, its word counts, with what to look at next', async (t) => {
  const { url } = await fakeService(t, () => refusal(404, 'RESOURCE_NOT_FOUND'))
  t.match(await runCli(['explain', ID, '--api-url', url]), {
    code: 6,
    stderr:
      /RESOURCE_NOT_FOUND[\s\S]*Try: svc .*merchants list\n +svc .*webhooks list --all-merchants\n +svc .*disputes list/,
  })
  const forbidden = await fakeService(t, ({ path }) =>
    path.startsWith('/api/v1/portal/') ? refusal(403, 'FORBIDDEN_ROLE') : refusal(404, 'RESOURCE_NOT_FOUND'),
  )
  const { code, stderr } = await runCli(['explain', ID, '--api-url', forbidden.url, '--client-id', 'acme'])
  t.equal(code, 5, 'what the merchant may not see is there')
  t.match(stderr, /FORBIDDEN_ROLE/)
})
