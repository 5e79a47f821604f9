import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { merchantOf } from '../admin-harness.ts'
import { refusal } from '../harness.ts'
import { until } from '../../support/until.ts'
import { liveService } from './live-service.ts'

/* What nobody means well: names that drive terminals, a clipboard with a line end, an editor that dies of its own. */
/** A title, a clipboard and a turn of the text; and signs that terminals and we draw in another width. */
const NAME = 'A\u001b]0;owned\u0007\u001b[31m\u202e\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u{1f1e9}\u{1f1ea} $(id)'
const NAMED = `${NAME} ${'x'.repeat(300)}`

/** Takes the terminal as an editor does, and is killed. */
function dyingEditor(dir: string): string {
  const file = join(dir, 'editor.sh')
  writeFileSync(file, '#!/bin/sh\nstty raw -echo\nkill -9 $$\n')
  chmodSync(file, 0o755)
  return file
}

t.test('a hostile name, paste and editor change nothing, and the picture stays whole', async (t) => {
  const named = merchantOf({ kyb_status: 'APPROVED', trading_name: NAMED, legal_name: NAMED })
  const { open, writes } = await liveService(t, [named], ({ method }) =>
    method === 'PUT' ? refusal(409, 'KYB_TRANSITION_INVALID', { error: `no ${NAME}` }) : undefined,
  )
  const console = open({ env: { EDITOR: dyingEditor(t.testdir({})) }, words: ['--interval', '1s'] })
  const paste = (text: string): void => console.type(`\u001b[200~${text}\u001b[201~`)
  const isWhole = (text: string): boolean =>
    text.startsWith(' svc  platform') &&
    !/^│[^│]*$/m.test(text) &&
    text.split('\n').slice(-2).join(' ').includes('enter')
  await console.until(/s suspend/)
  paste('s\rwhy\racme\r')
  console.press('s')
  await console.until(/LIVE: suspend A\\u001b/)
  await console.until(isWhole)
  console.press('ctrl-e')
  await console.until((text) => /--reason/.test(text) && /nothing was sent|ended with/.test(text))
  await console.until(isWhole)
  console.type('why\r')
  await console.until(/LIVE: type acme or /)
  paste('acme\r\n')
  await console.until(/> acme/)
  t.equal(writes().length, 0, 'who pastes has not pressed Enter')
  console.press('enter')
  await console.until(/no A\\u001b/)
  console.press('ctrl-l')
  await console.until(isWhole)
  t.equal(writes().length, 1)
  for (const hostile of ['\u001b]0;owned', '\u001b[31m', '\u202e']) t.notOk(console.raw().includes(hostile))
  console.press('esc')
  await console.until(/nothing was changed/)

  const stat = (): string => readFileSync(`/proc/${console.pid()}/stat`, 'utf8').replace(/^.*\) /, '')[0] ?? ''
  console.kill('SIGTSTP')
  await until('it is stopped', () => stat() === 'T')
  // What it wrote last may still be on its way.
  await until('a shell gets the terminal back', () => console.raw().endsWith('\u001b[?7h'))
  console.kill('SIGCONT')
  console.press('?')
  await console.until(/Keys of KYB queue/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true })
  t.ok(console.raw().lastIndexOf('\u001b[?7h') > console.raw().lastIndexOf('\u001b[?7l'), 'lines wrap again')
})
