import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { lineOf, withProgress } from '../../cli/output/progress.ts'
import { makeIo } from './harness.ts'
import { until } from '../support/until.ts'

const STATE = { title: 'Exporting', unit: 'rows', total: 1_000, done: 250, what: '' }

t.test('it prints how much of what is known, how fast, and how long already', async (t) => {
  t.equal(lineOf(STATE, { turn: 1, elapsedMs: 2_000 }), 'Exporting [#####...............] 250 of 1000 rows, 125/s, 2s')
  t.equal(lineOf({ ...STATE, total: undefined, what: 'x' }, { turn: 1, elapsedMs: 500 }), 'Exporting / 250 rows, 0s: x')
  t.match(lineOf({ ...STATE, done: 2_000 }, { turn: 1, elapsedMs: 125_000 }), /\[#{20}\].*, 2m 05s$/)
})

t.test('it is drawn for a person at a terminal, no wider than that, and is gone afterwards', async (t) => {
  const { io, stderr, stdout } = makeIo({ tty: true, columns: 30 })
  const context = { io, json: false, note: (text: string) => io.stderr.write(`${text}\n`) }
  const result = await withProgress(context, { title: 'Working', unit: 'things', total: 3 }, async (progress) => {
    progress.at(1, 'something with a \u001b[31mlong name')
    await until('a line is drawn', () => stderr.length > 0)
    progress.note('a remark')
    await until('and once more', () => stderr.at(-1)?.includes('Working') === true)
    return 7
  })
  t.equal(result, 7)
  const lines = stderr.join('').split('\r\u001b[K')
  t.ok(lines.every((line) => line.length < 30 && !line.includes('\u001b')))
  t.equal(stderr.at(-1), '\r\u001b[K')
  t.ok(stderr.join('').includes('\r\u001b[Ka remark\n'))
  t.same(stdout, [])
  await t.rejects(
    withProgress(context, { title: 'x', unit: 'y' }, async () => Promise.reject(new Error('it failed'))),
    {
      message: 'it failed',
    },
  )
})

t.test('nothing is drawn elsewhere, with JSON, in CI, or over results', async (t) => {
  for (const { tty, json, env, isHidden } of [
    { tty: false, json: false, env: {}, isHidden: false },
    { tty: true, json: true, env: {}, isHidden: false },
    { tty: true, json: false, env: { CI: 'true' }, isHidden: false },
    { tty: true, json: false, env: { TERM: 'dumb' }, isHidden: false },
    { tty: true, json: false, env: {}, isHidden: true },
  ]) {
    const { io, stderr } = makeIo({ tty, env, columns: 80 })
    const context = { io, json, note: () => undefined }
    await withProgress(context, { title: 'Working', unit: 'things', isHidden }, async ({ isShown }) => {
      t.notOk(isShown)
      await delay(200)
    })
    t.same(stderr, [])
  }
})
