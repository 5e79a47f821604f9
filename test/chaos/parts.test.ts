import assert from 'node:assert'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createInterface } from 'node:readline'
import t from 'tap'
import { differencesOf } from './bank.ts'
import { makeClock } from './clocks.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { makeFaults } from './faults.ts'
import { startIdentity } from './identity.ts'
import { newTraffic } from './clients.ts'
import { idleParts } from './judge.ts'
import { recovery } from './recovery.ts'

/* What a run of faults trusts: the comparison of two books, and a clock that jumps. */

const OURS = { id: 'p', reference: 'SVC1', amount: '12.50', status: 'Settled' }
const THEIRS = { id: 'b', endToEndId: 'SVC1', consentId: 'c', amount: '12.50', status: 'ACSC' }
/** What the bank's accounts have after payments of so much. */
const after = (paid: number) => [{ Identification: 'a', balance: (255_000.5 - paid).toFixed(2) }]

t.test('books that have each payment once agree', async (t) => {
  const rejected = { ...THEIRS, endToEndId: 'SVC2', status: 'RJCT' }
  const failed = { ...OURS, reference: 'SVC2', status: 'Failed' }
  const open = { ...OURS, reference: 'SVC3', status: 'AwaitingAuthorisation' }
  t.same(differencesOf([OURS, failed, open], { payments: [THEIRS, rejected], accounts: after(12.5) }), [])
})

t.test('money that moved twice, without a payment, unnoticed or in another amount is a difference', async (t) => {
  for (const [rows, payments, paid, what] of [
    [[OURS], [THEIRS, { ...THEIRS, id: 'b2' }], 25, /2 payments at the bank/],
    [[], [THEIRS], 12.5, /unknown to the service/],
    [[OURS], [], 0, /Settled, and nothing at the bank/],
    [[{ ...OURS, status: 'Failed' }], [THEIRS], 12.5, /Failed, and ACSC at the bank/],
    [[{ ...OURS, status: 'Authorised' }], [THEIRS], 12.5, /Authorised, and ACSC at the bank/],
    [[{ ...OURS, amount: '12.51' }], [THEIRS], 12.5, /12\.51 and 12\.50/],
    [[OURS], [THEIRS], 25, /pennies/],
  ] as const)
    t.match(differencesOf(rows, { payments: [...payments], accounts: after(paid) }), [what])
})

t.test(
  'a webhook after the death of its worker is timed at shops that always answer, and apart from them',
  async (t) => {
    const faults = [{ kind: 'kill worker', at: 1_000, until: 1_000 }]
    const repeated = [
      { shop: 0, first: 990, second: 1_400 },
      { shop: 1, first: 995, second: 61_000 },
      { shop: 0, first: 9_000, second: 9_100 },
    ]
    const found = recovery({ traffic: newTraffic(), backAt: [], faults, repeated, manners: ['good', 'failing'] })
    t.match(found, {
      webhook_after_worker: { count: 1, median: 400, max: 400 },
      webhook_after_worker_at_other_shops: { count: 1, median: 60_000 },
    })
  },
)

t.test('a fault that fails ends the faults, and not the run', async (t) => {
  const fails = async (): Promise<never> => Promise.reject(new Error('it has gone'))
  const part = { name: 'api 0', kill: () => assert.fail('it has gone'), pauseFor: fails, restart: fails }
  const { failure, faults } = await makeFaults({
    random: seededRandom('1'),
    runMs: 60_000,
    parts: [{ ...part, stop: fails, ownEnds: () => [] }],
    link: { port: 0, cut: fails, silence: fails, slow: fails, close: () => undefined } as never,
    database: { pid: 2 ** 30 } as never,
    disk: undefined,
    bank: undefined,
    identity: undefined,
    clocks: [],
    ask: fails,
    rotateSecret: fails,
    rotateKey: fails,
    realms: [],
  })
  t.match(failure, /it has gone/)
  t.ok(faults.length > 0 && faults.every(({ until }) => Number.isFinite(until)), 'each has an end to judge by')
})

t.test('a run in which something never happened is not a good one', async (t) => {
  t.same(idleParts({ payments: 3, 'payments at the bank': 0, 'forged tokens': undefined }), ['payments at the bank'])
})

t.test('an identity provider that goes down while it answers ends no run', async (t) => {
  const identity = await startIdentity(() => 0)
  t.teardown(() => identity.close())
  await identity.addRealm('shop', 'a merchant')
  const keys = async (): Promise<number> =>
    fetch(`${identity.url}/realms/shop/protocol/openid-connect/certs`).then(
      ({ status }) => status,
      () => 0,
    )
  t.equal(await keys(), 200)
  const answers: Promise<number>[] = []
  let back: Promise<void> | undefined
  for (let asked = 0; asked < 20; asked += 1) {
    answers.push(keys())
    if (asked === 10) back = identity.away(50, 'away')
    await delay(1)
  }
  t.ok((await Promise.all(answers)).includes(0))
  await back
  t.equal(await keys(), 200)
})

t.test('a clock jumps in a process that runs, and comes back', async (t) => {
  const clock = makeClock(join(t.testdir({}), 'clock'))
  const show = 'setInterval(() => console.log(Date.now(), new Date().getTime(), new Date(7).getTime()), 20)'
  const child = spawn(process.execPath, ['-e', show], { env: { PATH: process.env['PATH'], ...clock.env } })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hour = 3_600_000
  for (const shift of [0, -hour, hour, 0]) {
    clock.shift(shift)
    for (;;) {
      const { done, value } = await lines.next()
      if (done === true) throw new Error('the process has ended')
      const [now = 0, made = 0, given] = String(value).split(' ').map(Number)
      t.equal(given, 7, 'a date that is given stays')
      const by = now - Date.now()
      if (Math.abs(by - shift) < hour / 2 && Math.abs(made - now) < hour / 2) break
    }
  }
  t.pass('each was seen')
  child.kill('SIGKILL')
  await ended
})
