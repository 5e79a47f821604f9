import t from 'tap'
import { refusal } from '../harness.ts'
import type { Answer } from '../harness.ts'
import { AT, TOKEN, answerTo, hub } from './hub.ts'

const MAIL_ID = '01a1fd03-0000-7eb7-872f-a2b4358c00aa'

function mailOf(id: string, more: object = {}): object {
  const mail = { id, kind: 'PAYER_LINK', recipient: 'ada@example.org', subject: 'Your link', status: 'KEPT' }
  return { ...mail, attempt_count: 0, last_error: null, sent_at: null, created_at: AT, ...more }
}

t.test('--from-mail takes the newest link that works, and passes over mail about something else', async (t) => {
  const newer = MAIL_ID.replace('00aa', '00bb')
  const invitation = MAIL_ID.replace('00aa', '00cc')
  let looks = 0
  const { run, asked } = await hub(t, (request) => {
    const { path, body } = request
    if (path.startsWith('/api/v1/sandbox/mails?')) {
      looks += 1
      const mails = [mailOf(invitation), ...(looks > 1 ? [mailOf(newer)] : []), mailOf(MAIL_ID)]
      return { json: { data: mails, has_more: false, next_cursor: null } }
    }
    const of = (id: string, link: string): Answer => ({ json: mailOf(id, { body: 'Hello', links: [link] }) })
    if (path.endsWith(invitation)) return of(invitation, `https://pay.example/invite#token=${'i'.repeat(43)}`)
    if (path.endsWith(newer)) return of(newer, `https://pay.example/hub#token=${TOKEN}`)
    if (path.endsWith(MAIL_ID)) return of(MAIL_ID, `https://pay.example/hub#token=${'u'.repeat(43)}`)
    return JSON.parse(body).token === TOKEN ? answerTo(request) : refusal(401, 'LINK_INVALID')
  })
  t.match(await run(['verify', '--from-mail', 'ADA@example.org']), { code: 0, stdout: /Signed in +a…@example\.org/ })
  t.match(asked()[0]?.path, /recipient=ada%40example\.org/)
  t.equal((await run(['whoami', '-q', 'contact'])).stdout, 'a…@example.org\n')
})

t.test('--from-mail says that there is no link, that none works, and that live mode keeps none', async (t) => {
  const none = await hub(t, () => ({ json: { data: [], has_more: false, next_cursor: null } }))
  t.match(await none.run(['verify', '--from-mail', 'ada@example.org', '--wait', '0s']), {
    code: 6,
    stderr: /payer link ada@example\.org\n +to wait longer: svc .*verify --from-mail ada@example\.org --wait 30s\n$/,
  })
  t.match(await none.run(['verify', '--from-mail', 'nobody']), { code: 2 })
  await none.run(['verify', '--from-mail', '07700 900123', '--wait', '0s'])
  t.match(none.asked().at(-1)?.path, /recipient=%2B447700900123$/)
  const used = await hub(t, ({ path }) => {
    if (path.endsWith('/verify')) return refusal(401, 'LINK_INVALID')
    if (path.includes('?')) return { json: { data: [mailOf(MAIL_ID)], has_more: false, next_cursor: null } }
    return { json: mailOf(MAIL_ID, { body: '', links: [`https://pay.example/hub#token=${TOKEN}`] }) }
  })
  t.match(await used.run(['verify', '--from-mail', 'ada@example.org', '--wait', '0s']), {
    code: 4,
    stderr: /the newest link for ada@example\.org [^\n]*used already[^]*Try: svc .*payer link ada@example\.org\n/,
  })
  const live = await hub(t, answerTo, 'live')
  t.match(await live.run(['verify', '--from-mail', 'ada@example.org']), { code: 6, stderr: /is live/ })
  t.same(live.asked(), [])
})
