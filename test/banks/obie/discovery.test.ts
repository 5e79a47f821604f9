import { exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { makeDiscovery } from '../../../src/banks/obie/discovery.ts'
import type { BankProfile } from '../../../src/banks/profiles.ts'
import { moveClocks } from '../../support/clocks.ts'

const ISSUER = 'https://auth.bank.example'
const PROFILE = {
  issuer: ISSUER,
  discovery: `${ISSUER}/.well-known/openid-configuration`,
  payments: { base_url: `${ISSUER}/pisp`, version: '4.0' },
  hosts: [],
} as unknown as BankProfile
const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorise`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/keys`,
}
const SIGNAL = new AbortController().signal

t.test('a new key of the bank is found within seconds, also after the clock was set back', async (t) => {
  const { publicKey } = await generateKeyPair('PS256')
  const jwk = await exportJWK(publicKey)
  let kids = ['old']
  const answerOf = (url: string): object =>
    url === PROFILE.discovery ? METADATA : { keys: kids.map((kid) => ({ ...jwk, kid, alg: 'PS256' })) }
  const { keys } = makeDiscovery(PROFILE, {
    send: async ({ url }) => ({ status: 200, headers: {}, body: JSON.stringify(answerOf(url)) }),
    close: async () => undefined,
  })
  const find = (kid: string) => keys(SIGNAL)({ kid, alg: 'PS256' })
  await t.resolves(find('old'))
  kids = ['new']
  await t.rejects(find('new'), { code: 'ERR_JWKS_NO_MATCHING_KEY' }, 'not for each forged message')
  const clocks = moveClocks(t)
  clocks.setBack(7_200_000)
  clocks.pass(31_000)
  await t.resolves(find('new'))
})
