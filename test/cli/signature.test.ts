import { createHmac } from 'node:crypto'
import t from 'tap'
import { runCli } from './harness.ts'

const SECRET = '4c36827c029f54f91e97c702c28454ddc273981ec93ac64029157a79a6926444'
const BODY = '{"eventType":"payment.settled","name":"Zoë"}\n'
const SIGNATURE = createHmac('sha256', SECRET).update(BODY).digest('hex')

t.test("sign prints the header's value of the exact bytes of standard input", async (t) => {
  const env = { SVC_WEBHOOK_SECRET: SECRET }
  t.equal((await runCli(['webhooks', 'sign', '-o', 'id'], { env, stdin: BODY })).stdout, `${SIGNATURE}\n`)
  t.not((await runCli(['webhooks', 'sign', '-o', 'id'], { env, stdin: BODY.trimEnd() })).stdout, `${SIGNATURE}\n`)
})

t.test('verify accepts the right signature: secret from standard input, body from a file', async (t) => {
  const cwd = t.testdir({ 'body.json': BODY })
  const words = ['webhooks', 'verify', '--secret-stdin', '--signature', SIGNATURE, '--body-file', 'body.json']
  t.match(await runCli(words, { cwd, stdin: `${SECRET}\n` }), { code: 0, stdout: /valid/, stderr: '' })
  t.match(await runCli(words, { cwd, stdin: `${SECRET}\r\n` }), { code: 0 })
  t.same(JSON.parse((await runCli([...words, '--json'], { cwd, stdin: SECRET })).stdout), {
    valid: true,
    bytes: Buffer.byteLength(BODY),
  })
})

t.test('secret and body may both come from standard input: the first line, then the rest untouched', async (t) => {
  const words = ['webhooks', 'verify', '--secret-stdin', '--signature', SIGNATURE]
  t.equal((await runCli(words, { stdin: `${SECRET}\n${BODY}` })).code, 0)
  t.equal((await runCli(words, { stdin: `${SECRET}\n\n${BODY}` })).code, 3)
})

t.test('a changed body, another secret and a damaged signature are exit code 3', async (t) => {
  const env = { SVC_WEBHOOK_SECRET: SECRET }
  const verify = (signature: string, stdin: string, given: NodeJS.ProcessEnv = env) =>
    runCli(['webhooks', 'verify', '--signature', signature], { env: given, stdin })
  t.equal((await verify(SIGNATURE, BODY)).code, 0)
  t.match(await verify(SIGNATURE, BODY.replace('settled', 'failed')), {
    code: 3,
    stdout: '',
    stderr: /^Error: the signature is not/,
  })
  t.equal((await verify(SIGNATURE, BODY, { SVC_WEBHOOK_SECRET: SECRET.replace('4', '5') })).code, 3)
  for (const signature of ['', 'nonsense', SIGNATURE.slice(1), SIGNATURE.toUpperCase()])
    t.match(await verify(signature, BODY), { code: 3, stderr: /is not a signature of 64/ }, signature)
  t.match(await verify(`v1,${SIGNATURE}`, BODY), { code: 3, stderr: /that of webhook-signature is another/ })
})

t.test(
  "without a secret, or with a body that can't be read, it is a usage error; the secret is never repeated",
  async (t) => {
    t.equal((await runCli(['webhooks', 'sign'], { stdin: BODY })).code, 2)
    t.equal((await runCli(['webhooks', 'verify', '--signature', SIGNATURE, '--secret-stdin'], { stdin: '\n' })).code, 2)
    const missing = await runCli(['webhooks', 'sign', '--body-file', 'none.json'], {
      env: { SVC_WEBHOOK_SECRET: SECRET },
    })
    t.equal(missing.code, 2)
    t.notMatch(missing.stderr, SECRET)
  },
)
