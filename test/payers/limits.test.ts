import { randomBytes } from 'node:crypto'
import t from 'tap'
import { listMails } from '../../src/mail/list-mails.ts'
import { withHash } from '../../src/payers/contact.ts'
import { networkHashes } from '../../src/lib/network-hash.ts'
import { PAYER_NETWORK, requestLink } from '../../src/payers/request-link.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import type { PayerContact } from '../../src/wire/payer.ts'
import { verifyLink } from '../../src/payers/verify-link.ts'
import { forgetSignIns } from '../../src/payers/forget-sign-ins.ts'
import { signOutPayer } from '../../src/payers/sign-out-payer.ts'
import { testService } from '../support/app.ts'
import { AUTH, linkToken, paymentOf } from '../support/payers.ts'

const service = await testService(t, { env: { SVC_RATE_LIMITS: 'true' } })
const { app, owner } = service
const merchant = await service.merchant()
await paymentOf(service, merchant, { payer_email: 'ada@payer.example' })

const network = (): string => `203.0.113.${randomBytes(1)[0]}`
const ask = (email: string, clientAddress: string): Promise<unknown> =>
  requestLink(app, { body: { email }, clientAddress }).then(
    () => 'sent',
    ({ code }: { code: string }) => code,
  )
const TABLES = ['payer_link_requests', 'payer_tokens', 'payer_failed_verifications', 'payer_sessions_ended'] as const
const count = async (table: (typeof TABLES)[number]): Promise<number> =>
  Number((await owner.query(`select count(*) from ${table}`)).rows[0].count)
const empty = async (): Promise<void> => {
  for (const table of TABLES) await owner.query(`delete from ${table}`)
}

t.beforeEach(empty)

/** Requests a link from a network of its own, and runs the job. */
const askAndSend = async (body: PayerContact): Promise<void> => {
  await requestLink(app, { body, clientAddress: `198.18.${randomBytes(2).join('.')}` })
  await sendPayerLinks(app, new AbortController().signal)
}
const sentTo = async (contact: string): Promise<number> =>
  Number(
    (
      await owner.query('select count(*) from payer_tokens where contact_hash = any($1)', [
        await Promise.all([app.lookupHash('EMAIL', contact), app.lookupHash('PHONE', contact)]),
      ])
    ).rows[0].count,
  )
const age = async (hours: number): Promise<void> => {
  await owner.query(
    `update payer_tokens set created_at = created_at - make_interval(hours => $1),
       expires_at = expires_at - make_interval(hours => $1)`,
    [hours],
  )
}

t.test('a contact is sent at most five links an hour and twenty a day, and no response reveals it', async (t) => {
  const ADA = 'ada@payer.example'
  for (let at = 0; at < 8; at += 1) await askAndSend({ email: ADA })
  t.equal(await sentTo(ADA), 5)
  const mails = await listMails(app, { recipient: ADA })
  t.equal(mails.filter(({ status }) => status === 'KEPT').length, 5)
  t.match(mails[0], { status: 'DEAD', last_error: 'limit_reached', subject: 'Not sent: too many links' })
  for (let hour = 1; hour <= 5; hour += 1) {
    await age(1)
    for (let at = 0; at < 6; at += 1) await askAndSend({ email: ADA })
    t.equal(await sentTo(ADA), Math.min(5 * (hour + 1), 20))
  }
  await age(24)
  await askAndSend({ email: ADA })
  t.equal(await sentTo(ADA), 21, 'and again the day after')
})

t.test('requests that two workers handle concurrently are each counted', async (t) => {
  const ask = (at: number) =>
    requestLink(app, { body: { email: 'ada@payer.example' }, clientAddress: `198.18.7.${at}` })
  await Promise.all(Array.from({ length: 12 }, (_, at) => ask(at)))
  const signal = new AbortController().signal
  await Promise.all(Array.from({ length: 4 }, () => sendPayerLinks(app, signal)))
  t.equal(await sentTo('ada@payer.example'), 5)
})

t.test('the response is the same however many links were sent, known contact or not', async (t) => {
  for (const email of ['ada@payer.example', 'nobody@payer.example']) {
    const answers = new Set<string>()
    for (let at = 0; at < 8; at += 1) {
      answers.add(String(await ask(email, `198.18.${randomBytes(2).join('.')}`)))
      await sendPayerLinks(app, new AbortController().signal)
    }
    t.same([...answers], ['sent'], email)
  }
})

t.test("capitals and number formats don't bypass the limit", async (t) => {
  await paymentOf(service, merchant, { payer_phone: '+447700900123' })
  const texts = ['07700 900123', '+447700900123', '0044 7700 900123', '(07700) 900123', '07700900123', '+44 7700900123']
  for (const phone of texts) await askAndSend({ phone })
  t.equal(await sentTo('+447700900123'), 5)
})

t.test('a network may request twenty links an hour, for however many payers', async (t) => {
  const outcomes = []
  for (let at = 0; at < 25; at += 1) outcomes.push(await ask(`p${at}@payer.example`, '203.0.113.7'))
  t.same(outcomes, [...Array(20).fill('sent'), ...Array(5).fill('RATE_LIMITED')])
  t.equal(await ask('another@payer.example', '203.0.113.8'), 'sent', 'another network does')
  const ofOne = []
  for (let at = 0; at < 21; at += 1) ofOne.push(await ask(`q${at}@payer.example`, `2001:db8:0:7::${at + 1}`))
  t.equal(ofOne.filter((outcome) => outcome === 'sent').length, 20, 'an IPv6 customer is one network')
  const burst = Array.from({ length: 40 }, (_, at) => ask(`r${at}@payer.example`, '203.0.113.9'))
  const count = (await Promise.all(burst)).filter((outcome) => outcome === 'sent').length
  t.ok(count >= 1 && count <= 20, `${count} of a burst`)
  await owner.query(`update payer_link_requests set created_at = created_at - interval '1 hour'`)
  t.equal(await ask('another@payer.example', '203.0.113.7'), 'sent', 'and again an hour later')
})

t.test('no request waits for a network whose requests come at the same moment', async (t) => {
  const clientAddress = '203.0.113.77'
  const { own: hash } = networkHashes(app.config.encryptionKey, { purpose: PAYER_NETWORK, clientAddress })
  await owner.query('begin')
  await owner.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`payer link ${hash}`])
  // A waiting request would wait as long as this test holds the lock.
  t.equal(await ask('ada@payer.example', clientAddress), 'RATE_LIMITED')
  await owner.query('rollback')
  t.equal(await ask('ada@payer.example', clientAddress), 'sent')
})

t.test('a rate limit reports the wait, the same for every contact', async (t) => {
  const slow = await testService(t, { env: { SVC_RATE_LIMITS: 'true', SVC_TRUST_PROXY: 'true' } })
  const asked = (email: string, from: string) =>
    slow.call('POST', `${AUTH}/request-link`, { body: { email }, headers: { 'x-forwarded-for': from } })
  for (const email of ['ada@payer.example', 'nobody@payer.example']) {
    const from = `198.18.${randomBytes(2).join('.')}`
    const clientAddress = from
    for (let at = 0; at < 20; at += 1) await requestLink(slow.app, { body: { email }, clientAddress })
    const { status, headers, body } = await asked(email, from)
    t.same([status, body.code], [429, 'RATE_LIMITED'])
    const seconds = Number(headers['retry-after'])
    t.ok(seconds > 3_000 && seconds <= 3_600, `${seconds}`)
    t.notMatch(body.error, /payer\.example/)
  }
})

t.test('a flood of sign-ins from one network reaches the tables only a few times', async (t) => {
  const slow = await testService(t, { env: { SVC_RATE_LIMITS: 'true', SVC_TRUST_PROXY: 'true' } })
  const send = (path: string, body: object, from: string) =>
    slow.call('POST', `${AUTH}/${path}`, { body, headers: { 'x-forwarded-for': from } })
  for (const [path, body] of [
    ['verify', { token: 'guess' }],
    ['request-link', { email: 'nobody@payer.example' }],
  ] as const) {
    const started = performance.now()
    const answers = await Promise.all(Array.from({ length: 100 }, () => send(path, body, '192.0.2.9')))
    const earned = 10 + 2 * ((performance.now() - started) / 1_000)
    const heard = answers.filter(({ status }) => status !== 429).length
    t.ok(heard <= earned, `${heard} of ${path}`)
    t.match(
      answers.find(({ status }) => status === 429),
      { body: { code: 'RATE_LIMITED' }, headers: { 'retry-after': String } },
    )
    t.not((await send(path, body, '192.0.2.10')).status, 429, 'another network is heard')
  }
  t.ok(Number((await slow.owner.query('select count(*) from payer_failed_verifications')).rows[0].count) < 40)
})

t.test("only the hash of a network's address is stored", async (t) => {
  await ask('ada@payer.example', '203.0.113.7')
  await verifyLink(app, { token: 'x', clientAddress: '203.0.113.7' }).catch(() => undefined)
  const { rows: asked } = await owner.query('select request_ip_hash from payer_link_requests')
  const { rows: tried } = await owner.query('select request_ip_hash from payer_failed_verifications')
  t.match(asked[0].request_ip_hash, /^[0-9a-f]{64}$/)
  t.same(tried, asked)
})

t.test('after sixty invalid tokens a network is limited, and others are not', async (t) => {
  const token = await linkToken(service, { email: 'ada@payer.example' })
  const tryOne = (text: string, clientAddress: string): Promise<unknown> =>
    verifyLink(app, { token: text, clientAddress }).then(
      () => 'in',
      ({ code }: { code: string }) => code,
    )
  for (let at = 0; at < 60; at += 1) t.equal(await tryOne(`guess ${at}`, '203.0.113.9'), 'LINK_INVALID')
  t.equal(await tryOne('guess 61', '203.0.113.9'), 'RATE_LIMITED')
  t.equal(await tryOne(token, '203.0.113.9'), 'RATE_LIMITED')
  t.equal(await count('payer_failed_verifications'), 60, 'who is refused unheard adds nothing')
  t.equal(await tryOne(token, '203.0.113.10'), 'in')
  await owner.query(`update payer_failed_verifications set created_at = created_at - interval '1 hour'`)
  t.equal(await tryOne('guess 62', '203.0.113.9'), 'LINK_INVALID', 'an hour later it is heard again')
})

t.test('rows without further use are deleted, and no others', async (t) => {
  const fill = async (age: string): Promise<void> => {
    await ask(`p${randomBytes(4).toString('hex')}@payer.example`, network())
    await verifyLink(app, { token: 'x', clientAddress: network() }).catch(() => undefined)
    await linkToken(service, { email: 'ada@payer.example' })
    await signOutPayer(app, {
      id: app.ids.uuid(),
      contact: await withHash(app, { type: 'EMAIL', value: 'ada@payer.example' }),
      expiresAt: new Date(Date.now() + 900_000).toISOString(),
    })
    for (const table of ['payer_link_requests', 'payer_failed_verifications'])
      await owner.query(`update ${table} set created_at = created_at - $1::interval`, [age])
    await owner.query(
      `update payer_tokens set created_at = created_at - $1::interval, expires_at = expires_at - $1::interval`,
      [age],
    )
    await owner.query(`update payer_sessions_ended set expires_at = expires_at - $1::interval`, [age])
  }
  await fill('25 hours')
  await fill('1 second')
  t.same(await Array.fromAsync(TABLES, count), [4, 2, 2, 2])
  t.same(await forgetSignIns(app), { more: false })
  t.same(await Array.fromAsync(TABLES, count), [2, 1, 1, 1])
})

t.test('many rows are deleted in bounded steps', async (t) => {
  await owner.query(`
    insert into payer_failed_verifications (request_ip_hash, created_at)
    select repeat('0', 64), now() - interval '2 hours' from generate_series(1, 1500)
  `)
  t.same(await forgetSignIns(app), { more: true })
  t.equal(await count('payer_failed_verifications'), 500)
  t.same(await forgetSignIns(app), { more: false })
  t.equal(await count('payer_failed_verifications'), 0)
})
