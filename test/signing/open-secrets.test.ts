import t from 'tap'
import { generateMasterKey, makeSealer } from '../../src/lib/seal.ts'
import { makeOpenSecrets } from '../../src/signing/open-secrets.ts'
import { generateWebhookSecret, previousSecretContext, webhookSecretContext } from '../../src/signing/secret.ts'
import { capturedLog } from '../support/captured-log.ts'

const merchantId = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
const newest = generateWebhookSecret()
const before = generateWebhookSecret()
const sealer = makeSealer(generateMasterKey())
const sealedNewest = sealer.seal(newest, webhookSecretContext(merchantId))
const sealedBefore = sealer.seal(before, previousSecretContext(merchantId))

function sealedOf(more: { webhook_signing_secret?: string; webhook_secret_previous?: string | null } = {}) {
  return {
    merchant_id: merchantId,
    webhook_signing_secret: sealedNewest,
    webhook_secret_previous: sealedBefore,
    ...more,
  }
}

t.test('each secret opens under its own column', async (t) => {
  const { log } = capturedLog()
  const open = makeOpenSecrets({ sealer, log })
  t.strictSame(open(sealedOf()), { secret: newest, previousSecret: before })
  t.strictSame(open(sealedOf()), { secret: newest, previousSecret: before }, 'also when it is known already')
  t.strictSame(open(sealedOf({ webhook_secret_previous: null })), { secret: newest, previousSecret: null })
})

t.test('a secret that was copied into the other column does not open', async (t) => {
  const { log } = capturedLog()
  const open = makeOpenSecrets({ sealer, log })
  t.throws(() => open(sealedOf({ webhook_signing_secret: sealedBefore })))
  t.strictSame(open(sealedOf({ webhook_secret_previous: sealedNewest })), { secret: newest, previousSecret: null })
})

t.test('a previous secret that does not open leaves the newest one signing, and is logged once', async (t) => {
  const { log, lines } = capturedLog()
  const open = makeOpenSecrets({ sealer, log })
  const foreign = makeSealer(generateMasterKey()).seal(before, previousSecretContext(merchantId))
  for (let i = 0; i < 3; i += 1) {
    t.strictSame(open(sealedOf({ webhook_secret_previous: foreign })), { secret: newest, previousSecret: null })
  }
  t.equal(lines().length, 1)
  t.match(JSON.parse(lines()[0] ?? ''), { level: 'error', merchant_id: merchantId })
})

t.test('a merchant opens nothing of another one', async (t) => {
  const { log } = capturedLog()
  const open = makeOpenSecrets({ sealer, log })
  open(sealedOf())
  t.throws(() => open({ ...sealedOf(), merchant_id: '01a1fd03-f879-7eb7-872f-000000000000' }))
})
