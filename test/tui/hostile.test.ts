import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { merchantOf, pageOf } from '../cli/admin-harness.ts'
import { fakeService, refusal } from '../cli/harness.ts'
import type { Answer, Request } from '../cli/harness.ts'
import { openConsole } from '../support/terminal.ts'
import { until } from '../support/until.ts'

/* What nobody means well: names that drive terminals, a clipboard with a line end, an editor that dies of its own. */
const INFO = {
  name: 'svc',
  version: '0.1.0',
  mode: 'live',
  identity: 'none',
  auth_url: null,
  platform_realm: 'platform',
  customers_realm: 'customers',
}
const ADA = {
  kind: 'platform',
  realm: null,
  client_id: null,
  subject: 'ada',
  name: 'ada',
  role: 'OPS',
  permissions: ['read merchants', 'operate merchants'],
  merchant: null,
  expires_at: null,
}
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
  const answer = ({ path, method }: Request): Answer => {
    if (path === '/api/v1/service') return { json: INFO }
    if (path === '/api/v1/whoami') return { json: ADA }
    if (method === 'PUT') return refusal(409, 'KYB_TRANSITION_INVALID', { error: `no ${NAME}` })
    if (path.startsWith('/api/v1/admin/merchants?'))
      return pageOf([merchantOf({ kyb_status: 'APPROVED', trading_name: NAMED, legal_name: NAMED })])
    return refusal(404, 'NOT_FOUND')
  }
  const { url, requests } = await fakeService(t, answer)
  const writes = (): number => requests.filter(({ method }) => method === 'PUT').length
  const env = { SVC_PLATFORM_USER: 'ada', NO_COLOR: '1', EDITOR: dyingEditor(t.testdir({})) }
  const console = openConsole(t, { url, env, words: ['--screen', 'kyb', '--interval', '1s'] })
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
  t.equal(writes(), 0, 'who pastes has not pressed Enter')
  console.press('enter')
  await console.until(/no A\\u001b/)
  console.press('ctrl-l')
  await console.until(isWhole)
  t.equal(writes(), 1)
  for (const hostile of ['\u001b]0;owned', '\u001b[31m', '\u202e']) t.notOk(console.raw().includes(hostile))
  console.press('esc')
  await console.until(/nothing was changed/)

  const stat = (): string => readFileSync(`/proc/${console.pid()}/stat`, 'utf8').replace(/^.*\) /, '')[0] ?? ''
  console.kill('SIGTSTP')
  await until('it is stopped', () => stat() === 'T')
  t.ok(console.raw().endsWith('\u001b[?7h'), 'a shell gets the terminal back')
  console.kill('SIGCONT')
  console.press('?')
  await console.until(/Keys of KYB queue/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true })
  t.ok(console.raw().lastIndexOf('\u001b[?7h') > console.raw().lastIndexOf('\u001b[?7l'), 'lines wrap again')
})
