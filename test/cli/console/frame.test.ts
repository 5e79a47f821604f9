import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { testService } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'

/* The console's frame: how it starts, its filter and command bar, and whom it acts as. */
const service = await testService(t)
const RESTORED = { isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true }

/** A state directory as svc up leaves it: its built-in profile is the merchant and the operator. */
function stateDir(dir: string, clientId: string): string {
  const state = {
    api_url: service.url,
    auth_url: null,
    demo_url: service.url,
    database_url: 'postgres://nobody@127.0.0.1/none',
    state_dir: dir,
    pid: process.pid,
    merchant: { id: 'm', client_id: clientId, webhook_secret: 'none' },
    operator: null,
    customer: null,
  }
  writeFileSync(join(dir, 'svc.json'), JSON.stringify(state))
  return dir
}

t.test('options of every command open it without a word; filter, command bar, both halves', async (t) => {
  const merchant = await service.merchant()
  const harbour = await service.merchant()
  await service.merchant({ kybStatus: 'PENDING' })
  await service.owner.query("update merchants set trading_name = 'Harbour Coffee' where id = $1", [harbour.id])
  const console = openConsole(t, {
    url: '',
    words: ['--state-dir', stateDir(t.testdir({}), merchant.clientId), '--color=auto'],
    isBare: true,
    env: { SVC_PLATFORM_USER: 'ada' },
  })
  await console.until(/ Overview 1/)
  console.type('3')
  await console.until(/Merchants 1\/3/)
  t.match(console.screen()[0], /^ svc {2}platform \(dev\) {2}ada operator OWNER .*SANDBOX/)
  t.match(console.screen()[1], /\[3 Merchants\]/)

  console.type('/appr')
  await console.until(/Merchants 1\/2 of 3/)
  t.notMatch(console.text(), /tab complete/)
  console.press('enter')
  const kept = await console.until(/enter open/)
  t.match(kept, /Merchants 1\/2 of 3 +filter: appr/, 'what was found stays')
  t.match(kept, /Harbour Coffee/)
  console.press('esc')
  t.notMatch(await console.until(/Merchants \d\/3$/m), /^[> ]\+/m, 'what was hidden is not new')
  console.press('w')
  t.notMatch(await console.until(/wide: left, right/), /^[> ]\+/m)
  console.press('w')

  console.type(':merchant harb')
  console.press('tab')
  await console.until(/^:merchant Harbour Coffee/m)
  console.press('ctrl-u')
  console.type('merchant bour cof\r')
  await console.until(/Merchants > Harbour Coffee/)
  console.type(':pro')
  console.press('tab')
  await console.until(/^:profile/m)
  console.type(' ')
  console.press('tab')
  await console.until(/^:profile dev/m)

  // Esc and the next key in one read.
  console.type('\u001b?')
  t.match(await console.until(/Keys of Merchants/), /h {2}hold \(marked rows\)/)
  console.shot('help-frame-80x24')
  console.press('esc')
  await console.until(/esc back/)
  console.type(':\r')
  t.match(await console.until(/ Commands /), /:payments \[filter\]/)
  console.press('esc')
  await console.until(/esc back/)

  console.type(':merchant\r')
  await console.until(/which merchant\? :merchant <name>; to switch to one: :as merchant/)
  t.match(console.screen()[0], / operator OWNER /, 'who names no merchant is still who they are')
  console.type(':as merchant\r')
  await console.until(/now as the merchant/)
  t.match(console.screen()[0], /merchant ADMIN/)
  console.press('3')
  await console.until(/Merchants is for operators: :as operator/)
  console.type(':audit\r')
  await console.until(/Audit is for operators: :as operator/)
  console.type(':as operator\r')
  await console.until(/now as the operator/)
  const before = console.raw().length
  console.press('ctrl-r')
  await console.until(() => console.raw().slice(before).includes('\u001b[2J'))
  await console.until(/ operator OWNER /)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, ...RESTORED })
})

t.test('where nothing answers the terminal is as it was', async (t) => {
  const console: Opened = openConsole(t, { url: 'http://127.0.0.1:9', env: { SVC_PLATFORM_USER: 'ada' } })
  const left = await console.ended()
  t.match(left, RESTORED)
  t.not(left.code, 0)
  t.match(left.text, /Error: /)
})

t.test('a service that hangs is reported, and ctrl-c leaves the console', async (t) => {
  // An address that takes connections and never answers.
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  t.teardown(() => void silent.close())
  await once(silent, 'listening')
  const address = silent.address()
  const port = typeof address === 'object' ? address?.port : 0
  const console = openConsole(t, { url: `http://127.0.0.1:${port}`, env: { SVC_PLATFORM_USER: 'ada' } })
  await console.until(/Connecting to http/)
  console.kill('SIGINT')
  t.match(await console.ended(), { code: 130, ...RESTORED })
})
