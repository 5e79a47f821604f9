import t from 'tap'
import { discover } from '../../src/banks/discovery.ts'

const PROFILE = {
  issuer: 'https://auth.bank.co.uk',
  discovery: 'https://auth.bank.co.uk/.well-known/openid-configuration',
  payments: { base_url: 'https://api.bank.com/open-banking/v4.0/pisp', version: '4.0' as const },
  hosts: ['tokens.partner.example'],
}

const METADATA = {
  issuer: PROFILE.issuer,
  authorization_endpoint: 'https://auth.bank.co.uk/authorise',
  token_endpoint: 'https://auth.bank.co.uk/token',
  jwks_uri: 'https://auth.bank.co.uk/keys',
}

function discovered(changes: object, profile = PROFILE) {
  const body = JSON.stringify({ ...METADATA, ...changes })
  return discover({ send: async () => ({ status: 200, headers: {}, body }) }, profile)
}

for (const [title, changes] of [
  ['a neighbour of the issuer', { token_endpoint: 'https://mtls.bank.co.uk/token' }],
  ['a neighbour of the resources', { registration_endpoint: 'https://mtls.api.bank.com/register' }],
  ['a host that the profile lists', { token_endpoint: 'https://tokens.partner.example/token' }],
  ["the directory's keys", { jwks_uri: 'https://keystore.openbanking.org.uk/0015800000jfxrwAAA/0015.jwks' }],
] as const)
  t.test(`${title} may be named`, async (t) => {
    t.match(await discovered(changes), changes)
  })

for (const [member, url] of [
  ['token_endpoint', 'https://auth.other.co.uk/token'],
  ['token_endpoint', 'https://bank.co.uk.other.example/token'],
  ['token_endpoint', 'https://keystore.openbanking.org.uk/token'],
  ['authorization_endpoint', 'https://bankXco.uk/authorise'],
  ['jwks_uri', 'https://keys.other.example/'],
  ['jwks_uri', 'https://10.0.0.1/keys'],
  ['registration_endpoint', 'https://127.0.0.1:8443/register'],
  ['pushed_authorization_request_endpoint', 'https://partner.example/par'],
] as const)
  t.test(`${member} at ${new URL(url).host} is refused, with what to do`, async (t) => {
    const { hostname } = new URL(url)
    const message = `${PROFILE.discovery}: ${member} is at ${hostname}, a host that the profile does not name: list it under hosts if it is the bank's`
    await t.rejects(discovered({ [member]: url }), { name: 'BankAnswerError', message })
  })

t.test('so is one that is named for mutual TLS alone', (t) =>
  t.rejects(discovered({ mtls_endpoint_aliases: { token_endpoint: 'https://auth.other.co.uk/token' } }), {
    message: /token_endpoint is at auth.other.co.uk/,
  }),
)

t.test('a bank without a name is known by its address', async (t) => {
  const local = { ...PROFILE, issuer: 'https://127.0.0.1:9443', payments: { ...PROFILE.payments } }
  const own = { ...METADATA, issuer: local.issuer, token_endpoint: 'https://127.0.0.1:9444/token' }
  t.match(await discovered(own, local), { token_endpoint: own.token_endpoint })
  await t.rejects(discovered({ ...own, token_endpoint: 'https://127.0.0.2/token' }, local), /127\.0\.0\.2/)
})
