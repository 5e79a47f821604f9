import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { NO_FEED, withFirstPage, withNextPage } from '../../../cli/console/model/cache.ts'
import { createPayment, testService } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'

/* Payments by the hundred while somebody works: bench/cases/console.ts measures the same for longer. */
const service = await testService(t)

const BATCHES = 30
const PER_BATCH = 20
const EVERY_MS = 100

/** The ends of the ids of the newest payments, in the order of the list. */
async function newestTwo(): Promise<string[]> {
  const { rows } = await service.owner.query<{ id: string }>(
    'select id from payment_intents order by created_at desc, id desc limit 2',
  )
  return rows.map(({ id }) => id.slice(-8))
}

t.test('while hundreds of payments come every key is answered, and no row that is read goes away', async (t) => {
  const merchant = await service.merchant()
  const console = openConsole(t, {
    url: service.url,
    env: { SVC_PLATFORM_USER: 'ada' },
    words: ['--platform', '--screen', 'payments'],
  })
  await console.until((text) => / fresh/.test(text) && /There are no payments yet/.test(text))
  const ids: string[] = []
  let isOver = false
  const coming = (async () => {
    for (let batch = 0; batch < BATCHES; batch += 1) {
      const [created] = await Promise.all([
        Promise.all(Array.from({ length: PER_BATCH }, () => createPayment(service, merchant))),
        delay(EVERY_MS),
      ])
      ids.push(...created.map(({ body }) => String(body.payment_id)))
    }
    isOver = true
  })()
  const selected = (text: string): string | undefined => /^>[ *+](\w+)/m.exec(text)?.[1]
  await console.until(/ Payments 1\/\d+/)
  while (!isOver) {
    console.press('1')
    await console.until(/\[1 Overview\]/)
    console.press('4')
    await console.until(/\[4 Payments\]/)
    console.press('?')
    await console.until(/Keys of Payments/)
    console.press('q')
    await console.until((text) => !text.includes('Keys of') && / Payments 1\//.test(text))
  }
  await coming
  t.equal(new Set(ids).size, BATCHES * PER_BATCH)
  const [newest, second] = await newestTwo()
  await console.until((text) => selected(text) === newest)

  console.press('j')
  const mine = selected(await console.until((text) => / Payments 2\//.test(text)))
  t.equal(mine, second)
  for (let batch = 0; batch < 6; batch += 1)
    await Promise.all(Array.from({ length: PER_BATCH }, () => createPayment(service, merchant)))
  const last = String((await createPayment(service, merchant)).body.payment_id).slice(-8)
  await console.until(/ Payments \d+\/\d+\+? .*(not following|much has come since): g/)
  t.equal(selected(console.text()), mine, 'whoever has moved keeps the place')
  console.press('g')
  await console.until((text) => selected(text) === last)
  t.notMatch(console.text(), /stale|Error|much has come/)
  console.shot('load-80x24')
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true, isCooked: true })
})

t.test('loading more keeps the rows where too much has come between, and says so', async (t) => {
  const id = (row: string): string => row
  const [at, holds] = [1, true]
  const first = withFirstPage(NO_FEED, { rows: ['d', 'c'], next: '2' }, { id, at, holds })
  t.match(first, { rows: ['d', 'c'], isBehind: false }, 'there was nothing to keep')
  const joined = withFirstPage(first, { rows: ['e', 'd'], next: '3' }, { id, at, holds })
  t.match(joined, { rows: ['e', 'd', 'c'], isBehind: false })
  const behind = withFirstPage(joined, { rows: ['z', 'y'], next: '4' }, { id, at, holds })
  t.match(behind, { rows: ['e', 'd', 'c'], next: '2', isBehind: true })
  t.match(withNextPage(behind, { rows: ['b'], next: null }, { id, at }), { rows: ['e', 'd', 'c', 'b'], isBehind: true })
  t.match(withFirstPage(behind, { rows: ['z', 'y'], next: '4' }, { id, at }), { rows: ['z', 'y'], isBehind: false })
})
