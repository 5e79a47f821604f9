import { join } from 'node:path'
import t from 'tap'
import { fakeIdentity } from '../auth/fake-identity.ts'
import { refusal, runCli } from '../harness.ts'
import { openConsole } from '../../support/terminal.ts'

/* Who signs in while the console is open, and who goes on as another. */

t.test('L signs in where the console was, and another profile is taken without leaving it', async (t) => {
  let isOut = false
  const fake = await fakeIdentity(t, {
    answer: ({ path }) =>
      isOut && path.startsWith('/api/v1/') && path !== '/api/v1/service' ? refusal(401, 'UNAUTHENTICATED') : undefined,
  })
  const cwd = t.testdir({})
  const SVC_CONFIG_DIR = join(cwd, 'config')
  for (const realm of ['other-ltd', 'acme-ltd']) {
    const login = ['login', '--realm', realm, '--device', '--api-url', fake.url]
    const { code, stderr } = await runCli(login, { cwd, env: { SVC_CONFIG_DIR } })
    t.equal(code, 0, stderr)
  }
  const console = openConsole(t, {
    url: '',
    cwd,
    env: { SVC_CONFIG_DIR },
    words: ['--screen', 'payments', '--interval', '1s'],
  })
  await console.until(/There are no payments yet/)
  await console.until(/acme-ltd/)

  isOut = true
  await console.until(/Signed out: svc login/)
  await console.until(/signed out/)
  console.shot('signed-out-80x24')
  fake.deviceAnswers.push('authorization_pending', 'access_denied')
  console.press('L')
  await console.until(/Error: svc login .*ended with 4/)
  t.match(console.raw(), /confirm the code WDJB-MJHT/, "the terminal was the login's own")
  for (const key of ['esc', 'ctrl-c']) {
    const before = console.raw().length
    fake.deviceAnswers.push(...Array.from({ length: 50 }, () => 'authorization_pending'))
    console.press('L')
    await console.until(() => /gives it up[^]*confirm the code/.test(console.raw().slice(before)))
    console.press(key)
    await console.until(/login cancelled/)
    // The console is whole again.
    await console.until(/acme-ltd[^]*There are no payments yet/)
    t.notMatch(console.raw().slice(before), /\^\[|\^C/, 'no key is echoed')
  }
  fake.deviceAnswers.length = 0
  isOut = false
  console.press('L')
  await console.until((text) => /Done: signed in/.test(text) && !/Signed out/.test(text))
  // The picture is back.
  await console.until(/There are no payments yet/)

  console.type(':profile nobody\r')
  await console.until(/Error: .*nobody/)
  await console.until(/acme-ltd/)
  console.type(':profile other-ltd\r')
  await console.until(/Done: now as profile other-ltd/)
  await console.until(/^ (svc  )?other-ltd/m)
  console.type(':profile\r')
  await console.until(/which profile\? :profile <name>/)
  console.press('q')
  t.match(await console.ended(), { code: 0, isPlain: true, isCursorShown: true, pastesPlain: true, isCooked: true })
})
