import t from 'tap'
import { request } from 'undici'
import { makeTokenBuckets } from '../../src/lib/token-buckets.ts'
import { embeddedHarness, makeRealm } from '../support/identity.ts'

t.test('a bucket gives its burst at once, and then one after the other', async (t) => {
  let now = 0
  const { take: wait } = makeTokenBuckets({ burst: 3, perHour: 60 }, () => now)
  t.same([wait('a'), wait('a'), wait('a')], [0, 0, 0])
  t.equal(wait('a'), 60)
  now += 20
  t.equal(wait('a'), 40, 'who is early is told how long is left, and loses nothing by asking')
  now += 40
  t.equal(wait('a'), 0)
  t.equal(wait('a'), 60)
  t.equal(wait('b'), 0, 'others have their own')
  now += 86_400
  t.same([wait('a'), wait('a'), wait('a')], [0, 0, 0])
  t.equal(wait('a'), 60, 'a day saves up no more than the burst')
})

t.test('a flood of addresses uses limited memory', async (t) => {
  const { take: wait } = makeTokenBuckets({ burst: 1, perHour: 1 }, () => 0)
  for (let address = 0; address < 20_000; address += 1) wait(`10.0.${address >> 8}.${address & 255}`)
  t.not(wait('10.0.78.31'), 0, 'the last ones are remembered')
  t.equal(wait('10.0.0.0'), 0, 'the first ones are forgotten')
})

/** How soon one more guess is allowed when the first thirty are used up. */
const SECONDS_PER_GUESS = 6

/** Sends a form as a client behind this address. */
async function send(url: string, form: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  })
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
}

t.test('too many link requests are throttled with a waiting time', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const realm = await makeRealm(harness)
  const url = `${harness.authUrl}/realms/${realm.slug}/forgot`
  const began = performance.now()
  const answers = await Promise.all(
    Array.from({ length: 25 }, (_, index) =>
      send(url, { email: `nobody-${index}@example.com` }, { 'x-forwarded-for': `192.0.2.${index}` }),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 20, 'headers of the caller change nothing')
  const refused = answers.find(({ status }) => status === 429)
  const seconds = Number(refused?.headers['retry-after'])
  t.ok(seconds <= 180 && seconds >= 180 - (performance.now() - began) / 1_000, `${seconds} s until the next one`)
  t.match(refused?.text, /Wait 3 minutes/)
  const page = await request(url)
  t.equal(page.statusCode, 200, 'looking is free')
  await page.body.dump()
})

t.test('behind a trusted proxy each client has its own limit and cannot forge it', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_RATE_LIMITS: 'true', SVC_TRUST_PROXY: 'true' } })
  const realm = await makeRealm(harness)
  const url = `${harness.authUrl}/realms/${realm.slug}/device`
  const from = (forwarded: string) => send(url, { user_code: 'BCDF-GHJK' }, { 'x-forwarded-for': forwarded })
  const statuses = await Promise.all(
    Array.from({ length: 21 }, async (_, index) => (await from(`192.0.2.${index}, 203.0.113.7`)).status),
  )
  t.equal(statuses.filter((status) => status === 429).length, 1, 'the last hop counts, not what stands before it')
  t.not((await from('203.0.113.8')).status, 429)
  const network = await Promise.all(
    Array.from({ length: 21 }, async (_, index) => (await from(`2001:db8:1:2::${index + 1}`)).status),
  )
  t.equal(network.filter((status) => status === 429).length, 1, 'a network of IPv6 is one client')
  t.not((await from('2001:db8:1:3::1')).status, 429)
})

t.test('guesses are throttled per address, for all users', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const realm = await makeRealm(harness)
  const url = `${harness.authUrl}/realms/${realm.slug}/interaction/none`
  const began = performance.now()
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async (_, index) => (await send(url, { email: `${index}@example.com` })).status),
  )
  const refused = statuses.filter((status) => status === 429).length
  const given = Math.ceil((performance.now() - began) / SECONDS_PER_GUESS / 1_000)
  t.ok(refused <= 10 && refused >= 10 - given, `${refused} refused, ${given} allowed meanwhile`)
})

t.test('without rate limits nothing is throttled', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const url = `${harness.authUrl}/realms/${realm.slug}/forgot`
  const answers = await Promise.all(Array.from({ length: 40 }, () => send(url, { email: 'nobody@example.com' })))
  t.ok(answers.every(({ status }) => status === 200))
})

t.test('a flood at protocol endpoints is throttled per address', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_RATE_LIMITS: 'true', SVC_TRUST_PROXY: 'true' } })
  const realm = await makeRealm(harness)
  const doors = [
    { path: 'token', form: { grant_type: 'x', client_id: 'nobody' }, burst: 600 },
    { path: 'auth/device', form: { client_id: 'nobody' }, burst: 60 },
  ]
  for (const { path, form, burst } of doors) {
    const url = `${harness.authUrl}/realms/${realm.slug}/protocol/openid-connect/${path}`
    const from = (address: string) => send(url, form, { 'x-forwarded-for': address })
    const began = performance.now()
    const answers = await Promise.all(Array.from({ length: burst + 40 }, () => from('203.0.113.7')))
    const refused = answers.filter(({ status }) => status === 429)
    const given = Math.ceil(((performance.now() - began) / 1_000) * (burst / 60))
    t.ok(refused.length >= 40 - given && refused.length <= 40, `${path}: ${String(refused.length)} refused`)
    if (refused.length === 0) continue
    t.match(JSON.parse(refused[0]?.text ?? ''), { error: 'temporarily_unavailable' })
    t.ok(Number(refused[0]?.headers['retry-after']) >= 1)
    t.not((await from('203.0.113.8')).status, 429)
  }
})

t.test('a flood of sign-ins is answered with a page', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const realm = await makeRealm(harness)
  const url = `${harness.authUrl}/realms/${realm.slug}/protocol/openid-connect/auth`
  const answers: { status: number; type: unknown; text: string }[] = []
  const refusals = () => answers.filter(({ status }) => status === 429)
  // Five more are allowed in each second: until one is refused, however slow the machine is.
  while (refusals().length === 0 && answers.length < 4_200) {
    const wave = Array.from({ length: 420 }, async () => {
      const { statusCode, headers, body } = await request(url)
      return { status: statusCode, type: headers['content-type'], text: await body.text() }
    })
    answers.push(...(await Promise.all(wave)))
  }
  const refused = refusals()
  t.ok(refused.length > 0 && refused.length <= answers.length - 300, String(refused.length))
  t.match(refused[0], { type: /text\/html/, text: /Too many attempts/ })
  const preflight = await request(`${url.replace(/auth$/, 'token')}`, { method: 'OPTIONS' })
  await preflight.body.dump()
  t.not(preflight.statusCode, 429)
})
