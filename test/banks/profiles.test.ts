import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readBankProfiles } from '../../src/banks/profiles.ts'
import { QUIRKS, QUIRK_NAMES } from '../../src/banks/quirks.ts'
import { SHIPPED_PROFILES } from '../../src/banks/shipped-profiles.ts'
import { packageRoot } from '../../src/lib/package-root.ts'

const MODEL = {
  id: 'model',
  name: 'Model Bank',
  issuer: 'https://127.0.0.1:9443',
  client: { registration: 'dynamic', token_auth: 'private_key_jwt' },
  payments: { base_url: 'https://127.0.0.1:9443/open-banking/v4.0/pisp', version: '4.0' },
}

function yaml(members: string): string {
  return `banks:
  - id: model
    name: Model Bank
    issuer: https://127.0.0.1:9443
    client: { registration: dynamic, token_auth: private_key_jwt }
    payments:
      base_url: https://127.0.0.1:9443/open-banking/v4.0/pisp
      version: "4.0"
${members}`
}

/** As drawing programs write it. */
const LOGO = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Drawn <b>by hand</b> -->
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg viewBox="0 0 8 8" xmlns:xlink='http://www.w3.org/1999/xlink'
  xmlns="http://www.w3.org/2000/svg"><path style="fill:#00395d" d="M0 0h8v8z"/></svg>
`

t.test('profiles are read from YAML and from JSON, with what was left out filled in', async (t) => {
  const folder = t.testdir({
    'profiles.yaml': yaml('    ca: ca.pem\n    logo: logos/model.svg\n'),
    logos: { 'model.svg': LOGO },
    'profiles.json': JSON.stringify({ banks: [MODEL] }),
    'ca.pem': '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  })
  const expected = {
    ...MODEL,
    client: { ...MODEL.client, audience: 'token_endpoint' },
    discovery: 'https://127.0.0.1:9443/.well-known/openid-configuration',
    hosts: [],
    sort_codes: [],
    quirks: [],
  }
  t.match(await readBankProfiles(join(folder, 'profiles.yaml')), [
    { ...expected, ca: /^-----BEGIN CERTIFICATE/, logo: LOGO },
  ])
  t.same(await readBankProfiles(join(folder, 'profiles.json')), [{ ...expected, ca: undefined, logo: undefined }])
})

t.test('an entry with the id of a shipped profile says only what differs', async (t) => {
  const folder = t.testdir({
    'profiles.yaml': `banks:
  - id: barclays-personal
    client: { client_id: abc123 }
  - id: hsbc-personal
    quirks: []
`,
  })
  const [barclays, hsbc] = await readBankProfiles(join(folder, 'profiles.yaml'))
  t.match(barclays, {
    name: 'Barclays Personal',
    client: { registration: 'manual', client_id: 'abc123', token_auth: 'private_key_jwt' },
    payments: { version: '4.0' },
  })
  t.match(hsbc, { name: 'HSBC UK Personal', quirks: [] })
})

t.test('every shipped profile is valid as soon as a client id is typed in where one is needed', async (t) => {
  const banks = SHIPPED_PROFILES.map(({ id, client }) =>
    client.registration === 'manual' ? { id, client: { client_id: 'x' } } : { id },
  )
  const folder = t.testdir({ 'all.json': JSON.stringify({ banks }) })
  const profiles = await readBankProfiles(join(folder, 'all.json'))
  t.equal(profiles.length, SHIPPED_PROFILES.length)
  t.equal(new Set(SHIPPED_PROFILES.map(({ id }) => id)).size, SHIPPED_PROFILES.length)
  t.ok(QUIRK_NAMES.length > 0)
})

const REFUSED: readonly [why: string, text: string, message: RegExp][] = [
  ['what is not YAML', 'banks: [', /bad\.yaml:1: not valid YAML/],
  ['a member twice', yaml('    name: Other\n'), /bad\.yaml:9: not valid YAML: Map keys must be unique/],
  ['no banks', 'banks: []', /bad\.yaml:1: banks: /],
  ['an unknown member', yaml('    issuers: x\n'), /bad\.yaml:9: banks\.0\.issuers: is not a member of a bank profile/],
  [
    'an unknown member further in',
    yaml('    vrp:\n      base_url: https://127.0.0.1/pisp\n      version: "4.0"\n      versions: 1\n'),
    /bad\.yaml:12: banks\.0\.vrp\.versions: is not a member/,
  ],
  [
    'an unknown quirk',
    yaml('    quirks:\n      - b64_header\n      - late\n'),
    /bad\.yaml:11: banks\.0\.quirks\.1: must be one of b64_header,/,
  ],
  [
    'a version that is a number',
    yaml('').replace('"4.0"', '4.0'),
    /bad\.yaml:8: banks\.0\.payments\.version: must be "3\.1" or "4\.0"/,
  ],
  [
    'addresses without TLS',
    yaml('').replace('issuer: https', 'issuer: http'),
    /bad\.yaml:4: banks\.0\.issuer: must be an https/,
  ],
  [
    'addresses with a password',
    yaml('').replace('//127', '//a:b@127'),
    /bad\.yaml:4: .*must have no user, query or fragment/,
  ],
  [
    'a bank of the sandbox',
    yaml('').replace('id: model', 'id: mock-albion'),
    /bad\.yaml:2: .*must not begin with mock/,
  ],
  [
    'a manual registration without a client id',
    yaml('').replace('dynamic', 'manual'),
    /bad\.yaml:5: banks\.0\.client\.client_id: is required where registration is manual/,
  ],
  [
    'a client id that a registration would replace',
    yaml('').replace('dynamic,', 'dynamic, client_id: x,'),
    /bad\.yaml:5: .*is for manual registrations only/,
  ],
  ['a bank twice', yaml('  - id: monzo\n  - id: monzo\n'), /bad\.yaml:10: banks\.2\.id: monzo is listed twice/],
  [
    'certificates that are not there',
    yaml('    ca: none.pem\n'),
    /the certificates of model: cannot read .*none\.pem \(ENOENT\)/,
  ],
  ['a logo that is not there', yaml('    logo: none.svg\n'), /the logo of model: cannot read .*none\.svg \(ENOENT\)/],
  ...['bad.yaml', 'no-namespace.svg', 'page.svg', 'attribute.svg'].map((name): [string, string, RegExp] => [
    `a logo that is none: ${name}`,
    yaml(`    logo: ${name}\n`),
    /: is not an SVG image: its root element must be svg with xmlns="http:\/\/www\.w3\.org\/2000\/svg"$/,
  ]),
  [
    'a logo that is too large',
    yaml('    logo: large.svg\n'),
    /large\.svg: has 40005 characters, and a logo at most 32768/,
  ],
  ['certificates that are none', yaml('    ca: bad.yaml\n'), /has no certificate in PEM form/],
]
for (const [why, text, message] of REFUSED) {
  t.test(`refused with the line: ${why}`, async (t) => {
    const folder = t.testdir({
      'bad.yaml': text,
      'large.svg': `<svg>${' '.repeat(40_000)}`,
      'no-namespace.svg': '<svg viewBox="0 0 8 8"><path d="M0 0h8v8z"/></svg>',
      'page.svg': `<!doctype html><p>${LOGO}</p>`,
      'attribute.svg': `<svg id='xmlns="http://www.w3.org/2000/svg"'></svg>`,
    })
    await t.rejects(readBankProfiles(join(folder, 'bad.yaml')), { name: 'BankProfilesError', message })
  })
}

t.test(
  'the guide lists every shipped bank by its way of registration, and every deviation with its meaning',
  async (t) => {
    const guide = readFileSync(join(packageRoot(), 'docs', 'operators', 'going-live-uk.md'), 'utf8')
    for (const [name, text] of Object.entries(QUIRKS)) t.ok(guide.includes(`| \`${name}\` | ${text} |`), name)
    for (const [way, words] of [
      ['manual', 'by hand'],
      ['dynamic', 'by request'],
    ] as const) {
      const ids = SHIPPED_PROFILES.filter(({ client }) => client.registration === way).map(({ id }) => `\`${id}\``)
      t.ok(guide.includes(`| ${ids.join(', ')} | ${words} |`), `${words}: ${ids.join(', ')}`)
    }
  },
)

t.test('a file that is not there is named', async (t) => {
  await t.rejects(readBankProfiles('/nowhere/profiles.yaml'), {
    message: /cannot read \/nowhere\/profiles\.yaml \(ENOENT\)/,
  })
})
