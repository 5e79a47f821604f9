import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPayment, testService } from '../../support/app.ts'
import { openConsole } from '../../support/terminal.ts'
import type { Opened } from '../../support/terminal.ts'

/* What a person does at the keyboard beside the screens' own keys, on a real service. */
const service = await testService(t)
const AS_ADA = { SVC_PLATFORM_USER: 'ada' }

/** An editor that writes so much, whatever was there before. */
function editorIn(dir: string, text: string): string {
  const file = join(dir, 'editor.sh')
  writeFileSync(file, `#!/bin/sh\nprintf '%s' '${text}' > "$1"\n`)
  chmodSync(file, 0o755)
  return file
}

function paste(console: Opened, text: string): void {
  console.type(`\u001b[200~${text}\u001b[201~`)
}

t.test('an editor, pasting, copying, wide columns, a filter and the command bar', async (t) => {
  const [first, second] = [
    await service.merchant({ kybStatus: 'PENDING' }),
    await service.merchant({ kybStatus: 'PENDING' }),
  ]
  const EDITOR = editorIn(t.testdir({}), 'papers of the bank\nseen on Monday')
  const console = openConsole(t, {
    url: service.url,
    env: { ...AS_ADA, EDITOR },
    words: ['--platform', '--screen', 'kyb'],
  })
  await console.until(/KYB queue 1\/2/)

  console.press('y')
  await console.until(new RegExp(`copied ${first.id}`))
  t.ok(console.raw().includes(`\u001b]52;c;${Buffer.from(first.id).toString('base64')}\u0007`), 'to the clipboard')

  console.press('w')
  await console.until(/wide: left, right/)
  const header = (text: string): string => text.split('\n').find((each) => /WAITS|CREATED|FEE/.test(each)) ?? ''
  const before = header(console.text())
  console.press('right')
  await console.until((text) => header(text) !== before)
  console.press('left')
  await console.until((text) => header(text) === before)
  console.press('w')
  await console.until((text) => !text.includes('wide:'))

  console.press('/')
  paste(console, second.realm)
  await console.until(/KYB queue 1\/1 of 2/)
  console.press('esc')
  await console.until(/KYB queue 2\/2$/m)

  console.type(':merchant ')
  await console.until(/^:merchant/m)
  console.type('nobody-ltd\r')
  await console.until(/Error: .*nobody-ltd/)
  console.type(':nonsense\r')
  await console.until(/unknown command :nonsense/)
  console.type(':mer\t')
  await console.until(/^:merchants/m)
  console.press('esc')
  await console.until((text) => !text.includes(':merchants'))
  console.type(`:merchant ${second.realm}\r`)
  await console.until(/Merchants > /)
  await console.until(new RegExp(second.realm))
  console.press('2')
  await console.until(/KYB queue \d\/2/)

  console.press('g')
  await console.until(/KYB queue 1\/2/)
  console.press('a')
  await console.until(/approve Acme/)
  paste(console, 'pasted\nin two lines')
  await console.until(/--reason 'pasted in two lines'/)
  await console.until(/its lines were joined with blanks/)
  console.resize(60, 16)
  await console.until((text) => /approve Acme/.test(text) && /pasted in two lines/.test(text))
  console.shot('kyb-pasted-60x16')
  console.resize(80, 24)
  console.press('ctrl-e')
  await console.until(/--reason 'papers of the bank/)
  console.press('esc')
  await console.until(/nothing was changed/)

  console.press('s')
  await console.until(/svc kyb refuse/)
  console.press('ctrl-e')
  await console.until(new RegExp(`svc kyb refuse ${first.realm} --reason 'papers`))
  console.shot('kyb-editor-80x24')
  console.press('enter')
  await console.until(/Enter will refuse Acme/)
  console.press('enter')
  await console.until(/Done: refused Acme/)
  await console.until(/KYB queue 1\/1/)
  const { rows } = await service.owner.query('select kyb_status from merchants where id = $1', [first.id])
  t.same(rows, [{ kyb_status: 'SUSPENDED' }])
  const { rows: told } = await service.owner.query('select reason from operator_actions where subject_id = $1', [
    first.id,
  ])
  t.match(told[0]?.reason, /^papers of the bank\s+seen on Monday$/)
  console.press('?')
  t.match(await console.until(/Keys of KYB queue/), /"marked rows" is then done/)
  console.shot('kyb-help-80x24')
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true })
})

t.test('while it is paused nothing moves; what came is there when it goes on', async (t) => {
  const merchant = await service.merchant()
  const env = { SVC_CLIENT_ID: merchant.clientId }
  const console = openConsole(t, { url: service.url, env, words: ['--screen', 'payments'] })
  await console.until((text) => / fresh/.test(text) && /There are no payments yet/.test(text))
  console.press('p')
  await console.until(/ paused/)
  const { body } = await createPayment(service, merchant)
  // The selection of the next screen and back is drawn after the event has come, and still without it.
  console.press('1')
  await console.until(/Payments AwaitingAuthorisation +1/)
  console.press('4')
  await console.until(/There are no payments yet/)
  console.press('p')
  await console.until(new RegExp(body.payment_id.slice(-8)))
  await console.until(/ fresh/)
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true, isCooked: true })
})

t.test('where the locale is not UTF-8 nothing else than ASCII is drawn, in forms and bars too', async (t) => {
  await service.merchant({ kybStatus: 'PENDING' })
  const env = { ...AS_ADA, LANG: 'C', LC_ALL: 'C' }
  const console = openConsole(t, { url: service.url, env, words: ['--platform'], columns: 60, rows: 16 })
  const isAscii = (text: string): boolean => [...text].every((character) => character < '\u007f')
  t.ok(isAscii(await console.until(/Last hour/)))
  console.press('2')
  t.ok(isAscii(await console.until(/PENDING/)))
  console.press('a')
  const drawn = await console.until(/\+---/)
  t.ok(isAscii(drawn), drawn)
  console.shot('ascii-60x16')
  console.press('ctrl-c')
  await console.ended()
})

t.test('for a screen reader a form is lines to hear, and what was typed is done', async (t) => {
  const { rows } = await service.owner.query(
    "update merchants set trading_name = 'Heard' where id = (select id from merchants where kyb_status = 'PENDING' limit 1) returning id",
  )
  const env = { ...AS_ADA, INK_SCREEN_READER: 'true' }
  const console = openConsole(t, { url: service.url, env, words: ['--platform', '--screen', 'kyb'], rows: 40 })
  await console.until(/Row 1 of \d: name Heard/)
  console.press('?')
  await console.until(/Keys: j\/k scroll/)
  t.match(console.raw(), /Keys of KYB queue/)
  console.press('q')
  await console.until(/Keys: a approve/)
  console.press('a')
  await console.until(/Reason, kept in the audit trail/)
  console.type('heard\r')
  await console.until(/Done: approved Heard/)
  console.shot('spoken-kyb-80x40')
  t.notMatch(console.text(), /[│╭]/)
  const { rows: after } = await service.owner.query('select kyb_status from merchants where id = $1', [rows[0].id])
  t.same(after, [{ kyb_status: 'APPROVED' }])
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isCursorShown: true, isCooked: true })
})
