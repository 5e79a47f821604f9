import { randomBytes } from 'node:crypto'
import { request } from 'undici'
import t from 'tap'
import type { App } from '../../src/app.ts'
import { requestLink } from '../../src/payers/request-link.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import { testService } from '../support/app.ts'
import { capturedLog } from '../support/captured-log.ts'
import { AUTH, askForLink, comparable, lastToken, linkToken, messagesTo, paymentOf, verify } from '../support/payers.ts'

const service = await testService(t)
const merchant = await service.merchant()
const KNOWN = 'ada@payer.example'
const UNKNOWN = 'nobody@payer.example'
await paymentOf(service, merchant, { payer_email: KNOWN, payer_phone: '+447700900123' })

/** The pool of an app, which records every statement. */
function recording(pool: App['pool']): { pool: App['pool']; statements: string[] } {
  const statements: string[] = []
  const wrap = <T extends object>(handle: T): T =>
    new Proxy(handle, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const [first, ...rest] = args
          if (typeof first === 'function') {
            return member.call(target, (inner: object, ...others: unknown[]) => first(wrap(inner), ...others), ...rest)
          }
          if (typeof first === 'object' && first !== null && 'sql' in first) statements.push(String(first.sql))
          return member.apply(target, args)
        }
      },
    })
  return { pool: wrap(pool), statements }
}

t.test('no response reveals whether a contact is known', async (t) => {
  for (const [known, unknown] of [
    [{ email: KNOWN }, { email: UNKNOWN }],
    [{ phone: '+447700900123' }, { phone: '+447700900999' }],
  ]) {
    const ask = async (contact: unknown) =>
      comparable(await service.call('POST', `${AUTH}/request-link`, { body: contact }))
    t.same(await ask(known), await ask(unknown))
  }
  await sendPayerLinks(service.app, new AbortController().signal)
  t.equal((await messagesTo(service, KNOWN)).length, 1)
  t.equal((await messagesTo(service, UNKNOWN)).length, 0, 'who is not known hears nothing')
  t.equal((await messagesTo(service, '+447700900999')).length, 0)
})

t.test('nor does its time: the same statements run, and none reads consents', async (t) => {
  for (const rateLimits of [false, true]) {
    const done = async (email: string): Promise<string[]> => {
      const { pool, statements } = recording(service.app.pool)
      const app = { ...service.app, pool, config: { ...service.app.config, rateLimits } }
      await requestLink(app, { body: { email }, clientAddress: randomBytes(4).join('.') })
      return statements
    }
    const statements = await done(KNOWN)
    t.ok(statements.length > 0)
    t.same(statements, await done(UNKNOWN))
    t.notMatch(statements.join('\n'), /payment_consents|payment_intents|payer_tokens|mails/)
  }
  await sendPayerLinks(service.app, new AbortController().signal)
})

t.test('a thousand guesses get the same error, and the real token still works', async (t) => {
  const token = await linkToken(service, { email: KNOWN })
  const near = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  const guesses = [near, token.toUpperCase(), `${token} `, `${token}\t`, token.slice(1), '0', 'x'.repeat(256)]
  while (guesses.length < 1_000) guesses.push(randomBytes(32).toString('base64url'))
  const answers = new Set<string>()
  while (guesses.length > 0) {
    const batch = guesses.splice(0, 50)
    for (const answer of await Promise.all(batch.map((guess) => verify(service, guess)))) {
      answers.add(JSON.stringify(comparable(answer)))
    }
  }
  const refusals = [...answers].map((text) => JSON.parse(text))
  t.same(
    refusals.map(({ status, body }) => [status, body.code]),
    [[401, 'LINK_INVALID']],
    'the same to the byte',
  )
  t.equal((await verify(service, token)).status, 200)
})

t.test('a token works once, and ends after ten minutes', async (t) => {
  const used = await linkToken(service, { email: KNOWN })
  t.equal((await verify(service, used)).status, 200)
  const late = await linkToken(service, { email: KNOWN })
  await service.owner.query(`
    update payer_tokens
    set created_at = created_at - interval '10 minutes', expires_at = expires_at - interval '10 minutes'
    where used_at is null
  `)
  const unknown = await verify(service, randomBytes(32).toString('base64url'))
  for (const token of [used, late]) t.same(comparable(await verify(service, token)), comparable(unknown))
})

t.test('of fifty concurrent uses of a token one succeeds', async (t) => {
  const token = await linkToken(service, { email: KNOWN })
  const answers = await Promise.all(Array.from({ length: 50 }, () => verify(service, token)))
  const statuses = answers.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 200).length, 1)
  t.equal(statuses.filter((status) => status === 401).length, 49)
})

t.test("a sign-in invalidates the contact's other links, and no other contact's", async (t) => {
  await paymentOf(service, merchant, { payer_email: 'bea@payer.example' })
  const other = await linkToken(service, { email: 'bea@payer.example' })
  const tokens = [await linkToken(service, { email: KNOWN }), await linkToken(service, { email: KNOWN })]
  const tries = Array.from({ length: 50 }, (_, at) => verify(service, tokens[at % 2] ?? ''))
  const statuses = (await Promise.all(tries)).map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 200).length, 1)
  t.equal(statuses.filter((status) => status === 401).length, 49, 'none waits for another in a circle')
  for (const token of tokens) t.equal((await verify(service, token)).status, 401)
  t.equal((await verify(service, other)).status, 200)
})

t.test('a scanner that opens the link a thousand times does not use it up', async (t) => {
  const token = await linkToken(service, { email: KNOWN })
  // Browsers never send the part after #; some scanners send it anyway, as a query.
  const paths = ['/hub', `/hub?token=${token}`, `${AUTH}/verify?token=${token}`]
  for (let at = 0; at < 1_000; at += 1) {
    const path = paths[at % paths.length] ?? ''
    const { body, statusCode } = await request(service.url + path, { method: at % 2 === 0 ? 'GET' : 'HEAD' })
    await body.dump()
    if (path.startsWith(AUTH) && statusCode < 400) t.fail(`${path} was answered ${statusCode}`)
  }
  t.equal((await verify(service, token)).status, 200)
})

t.test('many workers send one link for one request', async (t) => {
  const before = (await messagesTo(service, KNOWN)).length
  for (let at = 0; at < 8; at += 1) await service.call('POST', `${AUTH}/request-link`, { body: { email: KNOWN } })
  const never = new AbortController().signal
  await Promise.all(Array.from({ length: 4 }, () => sendPayerLinks(service.app, never)))
  t.equal((await messagesTo(service, KNOWN)).length, before + 8)
})

t.test('a request that no worker handled in time is dropped', async (t) => {
  const before = (await messagesTo(service, KNOWN)).length
  await service.call('POST', `${AUTH}/request-link`, { body: { email: KNOWN } })
  await service.owner.query(
    `update payer_link_requests set created_at = now() - interval '11 minutes' where handled_at is null`,
  )
  await sendPayerLinks(service.app, new AbortController().signal)
  t.equal((await messagesTo(service, KNOWN)).length, before)
  const { rows } = await service.owner.query('select from payer_link_requests where handled_at is null')
  t.equal(rows.length, 0)
})

t.test('contacts, tokens and sessions are not logged', async (t) => {
  const { log, lines } = capturedLog()
  const logged = await testService(t, { overrides: { log } })
  await paymentOf(logged, await logged.merchant(), { payer_email: KNOWN, payer_phone: '+447700900123' })
  await askForLink(logged, { phone: '07700 900123' })
  const token = await linkToken(logged, { email: KNOWN })
  const { body } = await verify(logged, token)
  await verify(logged, token)
  const headers = { authorization: `Bearer ${body.session_token}` }
  await logged.call('GET', '/api/v1/payer/payments', { headers })
  await logged.call('GET', `/hub?token=${token}`)
  await logged.call('POST', `${AUTH}/sign-out`, { headers })
  log.error({ err: new Error(`no page at ${logged.app.publicUrl}/hub#token=${token}`) }, 'planted')
  const text = lines().join('\n')
  t.match(text, /requestLink/)
  t.match(text, /verifyLink/)
  for (const secret of [KNOWN, 'payer.example', '7700900123', token, body.session_token]) {
    t.notOk(text.includes(secret), secret)
  }
  t.ok(await lastToken(logged, '+447700900123'))
})
