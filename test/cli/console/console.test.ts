import t from 'tap'
import type { Test } from 'tap'
import { testService } from '../../support/app.ts'
import { openConsole, openCrashing } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'
import { provesLeaves } from '../ran.ts'

/*
 * The console in a real pseudo-terminal, on a real service: keys in, pictures out, and the terminal as it was before,
 * whatever ended it.
 */
const service = await testService(t, { worker: true })

const AS_ADA = { SVC_PLATFORM_USER: 'ada' }
const RESTORED = { isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true }

async function opened(test: Test, more: Partial<Parameters<typeof openConsole>[1]> = {}): Promise<Opened> {
  const { env, words = [], ...rest } = more
  return openConsole(test, { url: service.url, env: { ...AS_ADA, ...env }, words: ['--platform', ...words], ...rest })
}

t.test('the overview leads to the queue, where a merchant is approved; q goes back and quits', async (t) => {
  const { id } = await service.merchant({ kybStatus: 'PENDING' })
  const console = await opened(t)
  await console.until(/KYB waiting +1/)
  await console.until(/ fresh/)
  console.shot('overview-80x24')
  console.press('enter')
  await console.until(/PENDING/)
  console.shot('kyb-80x24')
  console.press('enter')
  await console.until((text) => /Fee +1%/.test(text) && !text.includes('Loading'))
  console.shot('kyb-detail-80x24')
  console.press('q')
  await console.until(/KYB queue 1\/1/)
  console.press('a')
  console.type("the company's papers")
  await console.until(/papers'/)
  console.shot('kyb-approve-80x24')
  // The command that does the same.
  await console.until(/svc kyb approve m-\w+ --reason 'the company'\\''s papers'/)
  console.press('enter')
  await console.until(/Done: approved Acme/)
  await console.until(/No merchant waits/)
  const { rows } = await service.owner.query('select kyb_status from merchants where id = $1', [id])
  t.same(rows, [{ kyb_status: 'APPROVED' }])
  console.press('q')
  await console.until(/KYB waiting +0/)
  console.press('q')
  t.match(await console.ended(), { code: 0, ...RESTORED })
})

t.test('many are marked, and refused one after the other', async (t) => {
  const ids = await Promise.all([1, 2, 3].map(async () => (await service.merchant({ kybStatus: 'PENDING' })).id))
  const console = await opened(t, { words: ['--screen', 'kyb'] })
  await console.until(/KYB queue 1\/3/)
  console.press('*')
  await console.until(/3 marked/)
  console.shot('kyb-marked-80x24')
  console.press('s')
  await console.until(/refuse 3 merchants/)
  console.type('not in the register')
  console.press('enter')
  await console.until(/Enter will refuse 3 merchants/)
  console.press('enter')
  await console.until(/Done: refused Acme, refused Acme, refused Acme/)
  const { rows } = await service.owner.query('select distinct kyb_status from merchants where id = any($1)', [ids])
  t.same(rows, [{ kyb_status: 'SUSPENDED' }])
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, ...RESTORED })
})

t.test('with --readonly nothing can be changed, and no key says that it could', async (t) => {
  await service.merchant({ kybStatus: 'PENDING' })
  const console = await opened(t, { words: ['--screen', 'kyb', '--readonly'] })
  await console.until(/Acme/)
  await console.until(/read-only/)
  t.notMatch(console.text(), /approve/)
  console.press('a')
  console.press('?')
  await console.until(/Keys of KYB queue/)
  t.notMatch(console.text(), /approve/)
  console.shot('help-80x24')
  console.kill('SIGTERM')
  t.match(await console.ended(), { code: 143, ...RESTORED })
})

t.test('it fits from 60x16 on, says so below that, and follows a resize', async (t) => {
  const console = await opened(t, { columns: 60, rows: 16 })
  await console.until(/KYB waiting/)
  console.shot('overview-60x16')
  console.press('2')
  await console.until(/Acme/)
  console.shot('kyb-60x16')
  console.press('a')
  await console.until(/The same as a command/)
  console.shot('kyb-approve-60x16')
  console.resize(50, 12)
  await console.until(/svc needs 60x16, this is 50x12/)
  console.resize(140, 40)
  await console.until(/The same as a command/)
  console.shot('kyb-approve-140x40')
  console.press('esc')
  await console.until(/nothing was changed/)
  console.shot('kyb-140x40')
  console.kill('SIGHUP')
  t.match(await console.ended(), { code: 143, ...RESTORED })
})

t.test("a screen that can't be drawn, a key that fails, and an unhandled rejection end it cleanly", async (t) => {
  for (const [key, why] of [
    ['t', /the console failed: this row can not be drawn/],
    ['k', /the console failed: this key can not be pressed/],
    ['u', /the console failed: nobody waits for this/],
  ] as const) {
    const console = openCrashing(t, service.url)
    await console.until(/the only row/)
    console.press(key)
    const left = await console.ended()
    t.match(left, { code: 1, ...RESTORED }, key)
    t.match(left.text, why)
  }
})

t.test('it needs a terminal that can draw', async (t) => {
  const dumb = await opened(t, { env: { TERM: 'dumb' } })
  const left = await dumb.ended()
  t.match(left, { code: 2, ...RESTORED })
  t.match(left.text, /TERM=dumb[^]*Try: svc status/)
})

provesLeaves(t, import.meta.filename)
